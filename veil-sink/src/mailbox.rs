//! One place for one picture, between a streaming thread and the loop that shows it: the newest wins.

use std::sync::{Mutex, PoisonError};
use veil_frame::Presentable;

/// What became of a picture that was handed over, and of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Submitted {
    /// The place was empty. Whoever takes from it must be woken.
    Queued,
    /// An older picture lay there and will never be shown. Whoever takes from the place was woken for that one already.
    Replaced {
        /// The older picture's number in its stream.
        sequence: u64,
    },
}

/// Holds at most one picture. Neither putting nor taking allocates.
#[derive(Debug, Default)]
pub struct Mailbox(Mutex<Option<Presentable>>);

impl Mailbox {
    /// An empty one.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Puts a picture in the place of whatever lies there, which lets go of its target.
    pub fn put(&self, presentable: Presentable) -> Submitted {
        let older = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(presentable);
        // The older one's target is let go here, outside of the lock.
        older.map_or(Submitted::Queued, |older| Submitted::Replaced {
            sequence: older.sequence,
        })
    }

    /// Takes what lies there.
    pub fn take(&self) -> Option<Presentable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::fd::OwnedFd, sync::Arc};
    use veil_frame::{Backing, Picture, Size, Target, TargetPlan, presentable::Released};

    #[test]
    fn the_newest_wins_and_the_older_is_let_go() {
        let target = |released: &Arc<Released>| {
            let fd = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
            let xrgb = drm_fourcc::DrmFourcc::Xrgb8888;
            Target::new(
                Backing::Shm { fd, len: 0 },
                Size::new(4, 4),
                16,
                xrgb,
                Arc::clone(released),
            )
        };
        let released = Arc::new(Released::default());
        let (a, b) = (target(&released), target(&released));
        let plan = TargetPlan::whole(Picture::plain(Size::new(4, 4)));
        let picture = |t: &Arc<Target>, sequence| Presentable {
            target: t.try_take().unwrap(),
            plan,
            sequence,
            labels: None,
        };
        let mailbox = Mailbox::new();
        assert_eq!(mailbox.put(picture(&a, 7)), Submitted::Queued);
        assert_eq!(mailbox.put(picture(&b, 8)), Submitted::Replaced { sequence: 7 });
        assert!(!a.is_used() && b.is_used());
        assert_eq!(mailbox.take().map(|p| p.sequence), Some(8));
        assert!(mailbox.take().is_none() && !b.is_used());
    }
}
