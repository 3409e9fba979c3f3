//! When in a refresh of the screen a stream's pictures come.
//!
//! A clip at the screen's own rate may come just when the compositor takes what it draws: then each picture waits for
//! the one before, which costs a second wake-up. Half a refresh later there is room. If that does not help, as where the
//! screen is slower than the clip, it is tried ever more rarely.

/// Pictures that are looked at before the first change.
const FIRST: u32 = 64;
/// The most pictures between two changes.
const MOST: u32 = 1 << 16;

/// Of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    pictures: u32,
    held: u32,
    patience: u32,
    late: bool,
}

impl Default for Phase {
    fn default() -> Self {
        Self {
            pictures: 0,
            held: 0,
            patience: FIRST,
            late: false,
        }
    }
}

impl Phase {
    /// Notes a picture, and whether it had to wait anywhere. Whether the next ones should come half a refresh later than
    /// their time, where that changes.
    pub(crate) fn note(&mut self, held: bool) -> Option<bool> {
        self.pictures += 1;
        self.held += u32::from(held);
        if self.pictures < self.patience {
            return None;
        }
        let mostly = self.held > self.pictures / 2;
        (self.pictures, self.held) = (0, 0);
        if !mostly {
            return None;
        }
        self.patience = (self.patience * 2).min(MOST);
        self.late = !self.late;
        Some(self.late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(pictures: u32, held: impl Fn(bool, u32) -> bool) -> Vec<u32> {
        let (mut phase, mut late) = (Phase::default(), false);
        (0..pictures)
            .filter(|&n| match phase.note(held(late, n)) {
                Some(now) => {
                    assert_ne!(now, late);
                    late = now;
                    true
                }
                None => false,
            })
            .collect()
    }

    #[test]
    fn one_change_where_it_helps_few_where_it_does_not() {
        assert_eq!(changes(100_000, |late, _| !late), [63]);
        assert_eq!(changes(1000, |_, _| true), [63, 191, 447, 959]);
        // A drift through the bad phase, now and then.
        assert!(changes(100_000, |_, n| n % 250 < 10).is_empty());
    }
}
