//! The targets of one stream: as many as are needed, and never more than four.
//!
//! Four are enough: one on the screen, one that the compositor has taken for the next refresh, one in the mailbox, one
//! to draw in. All have one size and format; for another, another ring is made, and the targets of the old one live
//! until the last surface has let go of them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use veil_frame::{Target, TargetUse, presentable::Released};

/// The most targets that a ring has.
pub(crate) const MOST: usize = 4;

/// Targets, each with the memory `M` to draw in.
#[derive(Debug)]
pub(crate) struct Ring<M> {
    slots: Vec<(M, Arc<Target>)>,
}

/// A target that nobody uses, taken for drawing.
#[derive(Debug)]
pub(crate) struct Free {
    slot: usize,
    /// The hold on it.
    pub(crate) target: TargetUse,
}

impl<M> Ring<M> {
    /// One without targets.
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::with_capacity(MOST),
        }
    }

    /// Takes a free target, and makes one where there is none yet. The first ones come first, so that no more are made
    /// than are in use at once. `None` if all are in use and there are enough.
    ///
    /// # Errors
    /// What `make` says.
    pub(crate) fn take<E>(
        &mut self,
        make: impl FnOnce() -> Result<(M, Arc<Target>), E>,
    ) -> Result<Option<Free>, E> {
        for (slot, (_, target)) in self.slots.iter().enumerate() {
            if let Some(target) = target.try_take() {
                return Ok(Some(Free { slot, target }));
            }
        }
        if self.slots.len() == MOST {
            return Ok(None);
        }
        let slot = self.slots.len();
        let (memory, target) = make()?;
        let taken = target.try_take();
        self.slots.push((memory, target));
        Ok(taken.map(|target| Free { slot, target }))
    }

    /// The memory of a target that was taken from this ring.
    pub(crate) fn memory(&mut self, free: &Free) -> Option<&mut M> {
        self.slots
            .get_mut(free.slot)
            .filter(|(_, target)| target.id == free.target.target().id)
            .map(|(m, _)| m)
    }
}

/// Takes a free target, and waits for one at most `limit`; `None` if none became free, or the wait was interrupted.
pub(crate) fn wait<T, E>(
    released: &Released,
    limit: Duration,
    mut take: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let start = Instant::now();
    loop {
        let seen = released.count();
        if let Some(free) = take()? {
            return Ok(Some(free));
        }
        let Some(rest) = limit.checked_sub(start.elapsed()) else {
            return Ok(None);
        };
        if !released.wait_beyond(seen, rest) {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drm_fourcc::DrmFourcc;
    use std::{convert::Infallible, fs::File, os::fd::OwnedFd, thread};
    use veil_frame::{Backing, Size, Target};

    const FOREVER: Duration = Duration::from_secs(600);

    fn take(ring: &mut Ring<()>, released: &Arc<Released>) -> Result<Option<Free>, Infallible> {
        ring.take(|| {
            let fd = OwnedFd::from(File::open("/dev/null").unwrap());
            let backing = Backing::Shm { fd, len: 0 };
            Ok((
                (),
                Target::new(
                    backing,
                    Size::new(1, 1),
                    4,
                    DrmFourcc::Xrgb8888,
                    Arc::clone(released),
                ),
            ))
        })
    }

    #[test]
    fn a_wait_ends_by_a_release_by_an_interrupt_and_by_time() {
        let released = Arc::new(Released::default());
        let mut ring = Ring::new();
        let mut held: Vec<_> = (0..MOST)
            .map(|_| take(&mut ring, &released).unwrap().unwrap())
            .collect();
        assert!(take(&mut ring, &released).unwrap().is_none());
        let in_time = wait(&released, Duration::from_millis(1), || take(&mut ring, &released)).unwrap();
        assert!(in_time.is_none());

        let last = held.pop().unwrap();
        let id = last.target.target().id;
        let releaser = thread::spawn(move || drop(last));
        let free = wait(&released, FOREVER, || take(&mut ring, &released))
            .unwrap()
            .unwrap();
        assert_eq!(free.target.target().id, id);
        releaser.join().unwrap();

        let interrupter = {
            let released = Arc::clone(&released);
            thread::spawn(move || released.interrupt(true))
        };
        assert!(
            wait(&released, FOREVER, || take(&mut ring, &released))
                .unwrap()
                .is_none()
        );
        interrupter.join().unwrap();
    }
}
