//! Why an output stands still: each reason by itself, so that the end of one never lifts another.

use veil_ipc::protocol::Hold;

/// A set of reasons to stand still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holds(u16);

impl Holds {
    /// Adds a reason, or takes it away; whether that changed anything.
    pub(crate) fn put(&mut self, hold: Hold, held: bool) -> bool {
        let before = *self;
        let bit = 1 << hold as u16;
        if held {
            self.0 |= bit;
        } else {
            self.0 &= !bit;
        }
        *self != before
    }

    /// Whether this is among the reasons.
    pub(crate) fn contains(self, hold: Hold) -> bool {
        self.0 & (1 << hold as u16) != 0
    }

    /// Whether there is any.
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    /// The reasons, in the protocol's order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Hold> {
        Hold::ALL.iter().copied().filter(move |hold| self.contains(*hold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_put_and_lifted_by_itself_however_often() {
        let mut holds = Holds::default();
        for &hold in Hold::ALL {
            assert!(holds.put(hold, true) && !holds.put(hold, true));
        }
        assert!(holds.iter().eq(Hold::ALL.iter().copied()));
        for &hold in Hold::ALL {
            assert!(holds.any() && holds.contains(hold));
            assert!(holds.put(hold, false) && !holds.put(hold, false));
            assert!(!holds.contains(hold));
        }
        assert!(!holds.any());
    }
}
