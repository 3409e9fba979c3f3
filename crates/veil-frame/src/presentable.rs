//! Buffers that can be shown, and who still needs them.
//!
//! A target is memory that a conversion writes and a compositor reads. It may be written again only when nobody uses
//! it: not the mailbox, not any surface that shows it (`wl_buffer.release`), and no pending work of the GPU. Each of
//! these holds a [`TargetUse`]; when the last one goes, whoever waits for a free target is woken.

use crate::{ChromaSite, Colorimetry, dmabuf::Dmabuf, geometry::Size, plan::TargetPlan};
use drm_fourcc::DrmFourcc;
use std::{
    fmt, io,
    os::fd::OwnedFd,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What a target's pixels are stored in.
#[derive(Debug)]
pub enum Backing {
    /// Plain shared memory, for `wl_shm`. The file has at least `len` bytes and is sealed against shrinking.
    Shm {
        /// The memory file.
        fd: OwnedFd,
        /// Its bytes.
        len: usize,
    },
    /// Memory of a device.
    Dmabuf(Dmabuf),
}

/// Told when nobody uses a target any more, by whoever lets go last and on its thread: it must return at once.
pub trait OnFree: fmt::Debug + Send + Sync {
    /// Nobody used the target when this was about to be called. Somebody may use it again by now:
    /// [`Target::is_used`] says so.
    fn freed(&self, target: &Target);
}

/// Wakes whoever waits for a target to become free.
#[derive(Debug, Default)]
pub struct Released {
    state: Mutex<ReleasedState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ReleasedState {
    count: u64,
    interrupted: bool,
}

impl Released {
    /// How many times a target became free so far. Read it before looking for one, then [`Self::wait_beyond`] it.
    pub fn count(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).count
    }

    /// Waits until a target became free after `seen` was read, the wait was interrupted, or `limit` is over; true in
    /// the first case.
    pub fn wait_beyond(&self, seen: u64, limit: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = |s: &mut ReleasedState| s.count == seen && !s.interrupted;
        let (state, _) = self
            .changed
            .wait_timeout_while(state, limit, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        state.count != seen
    }

    /// Ends waits now and until it is called with `false`.
    pub fn interrupt(&self, interrupted: bool) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .interrupted = interrupted;
        self.changed.notify_all();
    }

    fn notify(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).count += 1;
        self.changed.notify_all();
    }
}

/// Memory to draw in and to show.
#[derive(Debug)]
pub struct Target {
    /// Unique in this process, so that buffers made for it are found again.
    pub id: u64,
    /// The memory.
    pub backing: Backing,
    /// Columns and rows.
    pub size: Size,
    /// Bytes from a row to the next.
    pub stride: u32,
    /// Layout of a pixel.
    pub fourcc: DrmFourcc,
    users: AtomicUsize,
    released: Arc<Released>,
    on_free: Option<Box<dyn OnFree>>,
    acquire: Mutex<Option<OwnedFd>>,
}

impl Target {
    /// Describes memory as a target; `released` is told whenever its last user is gone.
    pub fn new(
        backing: Backing,
        size: Size,
        stride: u32,
        fourcc: DrmFourcc,
        released: Arc<Released>,
    ) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            id,
            backing,
            size,
            stride,
            fourcc,
            users: AtomicUsize::new(0),
            released,
            on_free: None,
            acquire: Mutex::new(None),
        })
    }

    /// Describes a dmabuf as a target. `on_free` is told, before `released`, whenever its last user is gone: for those
    /// whose memory belongs to somebody else, who waits for it.
    pub fn of_dmabuf(dmabuf: Dmabuf, released: Arc<Released>, on_free: Option<Box<dyn OnFree>>) -> Arc<Self> {
        let (size, fourcc) = (dmabuf.size, dmabuf.format.code);
        let stride = dmabuf.planes.first().map_or(0, |plane| plane.stride);
        let mut target = Self::new(Backing::Dmabuf(dmabuf), size, stride, fourcc, released);
        if let Some(target) = Arc::get_mut(&mut target) {
            target.on_free = on_free;
        }
        target
    }

    /// Says when what was drawn last will be there: a sync file that signals then, or `None` for now. Replaces the one
    /// before.
    pub fn set_acquire(&self, fence: Option<OwnedFd>) {
        *self.acquire.lock().unwrap_or_else(PoisonError::into_inner) = fence;
    }

    /// Another descriptor of the sync file that signals when what was drawn last is there; `None` if it is.
    ///
    /// # Errors
    /// When descriptors have run out.
    pub fn acquire(&self) -> io::Result<Option<OwnedFd>> {
        let fence = self.acquire.lock().unwrap_or_else(PoisonError::into_inner);
        fence.as_ref().map(OwnedFd::try_clone).transpose()
    }

    /// Takes the target for drawing if nobody uses it.
    pub fn try_take(self: &Arc<Self>) -> Option<TargetUse> {
        self.users
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .ok()
            .map(|_| TargetUse(Arc::clone(self)))
    }

    /// Adds a user, whether there are others or not: for memory that is only shown, never drawn in.
    pub fn share(self: &Arc<Self>) -> TargetUse {
        self.users.fetch_add(1, Ordering::Acquire);
        TargetUse(Arc::clone(self))
    }

    /// Whether somebody uses it.
    pub fn is_used(&self) -> bool {
        self.users.load(Ordering::Acquire) != 0
    }
}

/// One user's hold on a target. Cloning adds a user, dropping removes one; neither allocates.
#[derive(Debug)]
pub struct TargetUse(Arc<Target>);

impl TargetUse {
    /// The target.
    pub fn target(&self) -> &Arc<Target> {
        &self.0
    }
}

impl Clone for TargetUse {
    fn clone(&self) -> Self {
        self.0.users.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

impl Drop for TargetUse {
    fn drop(&mut self) {
        if self.0.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            if let Some(on_free) = &self.0.on_free {
                on_free.freed(&self.0);
            }
            self.0.released.notify();
        }
    }
}

/// A picture in a target, ready to be attached.
#[derive(Clone, Debug)]
pub struct Presentable {
    /// Where its pixels are; held until every surface has let go.
    pub target: TargetUse,
    /// Which picture lies in the target, and how.
    pub plan: TargetPlan,
    /// Counts the frames of one stream, from 0.
    pub sequence: u64,
    /// What the numbers in the target mean, where they are YCbCr; the compositor is told.
    pub labels: Option<Labels>,
}

/// What a compositor must know to show a YCbCr buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Matrix, range, primaries, transfer.
    pub colorimetry: Colorimetry,
    /// Where chroma samples sit.
    pub site: ChromaSite,
}

/// What became of one presentable on one surface, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It was on the screen at this time of the presentation clock.
    At(Duration),
    /// The compositor had drawn it at this time of the frame callbacks' clock, which may be another: times of the two are
    /// never to be compared.
    Drawn(Duration),
    /// It never was: newer content replaced it, or the output shows nothing.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Picture;

    fn target(released: &Arc<Released>) -> Arc<Target> {
        let fd = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        let backing = Backing::Shm { fd, len: 0 };
        Target::new(
            backing,
            Size::new(4, 4),
            16,
            DrmFourcc::Xrgb8888,
            Arc::clone(released),
        )
    }

    #[test]
    fn free_only_when_the_last_user_is_gone() {
        let released = Arc::new(Released::default());
        let target = target(&released);
        let mine = target.try_take().unwrap();
        assert!(target.try_take().is_none());
        let plan = TargetPlan::whole(Picture::plain(Size::new(4, 4)));
        let shown = Presentable {
            target: mine.clone(),
            plan,
            sequence: 0,
            labels: None,
        };
        drop(mine);
        assert_eq!(released.count(), 0);
        drop(shown);
        assert_eq!(released.count(), 1);
        assert!(!target.is_used());
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let released = Arc::new(Released::default());
        let waiter = {
            let released = Arc::clone(&released);
            std::thread::spawn(move || released.wait_beyond(0, Duration::from_secs(600)))
        };
        released.interrupt(true);
        assert!(!waiter.join().unwrap());
    }
}
