//! Fences as files: sync files, and those that a dmabuf carries with it (implicit synchronisation).
//!
//! A dmabuf carries fences of those who read it and of those who write it. Whoever is to read must wait for the writers; whoever
//! is to write, for all. Since Linux 6.0 they can be taken out as a sync file and put in. A sync file's descriptor becomes
//! readable when it signals. A fence of `None` has signalled: Vulkan calls that -1, which is no descriptor.

use crate::ioctl;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

/// What is to be done with a dmabuf, or what a fence is the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Reading: waits for writers.
    Read,
    /// Writing: waits for everybody.
    Write,
}

impl Use {
    /// `DMA_BUF_SYNC_READ` and `DMA_BUF_SYNC_WRITE`.
    const fn flags(self) -> u32 {
        match self {
            Self::Read => 1,
            Self::Write => 2,
        }
    }
}

/// The fences that must signal before a dmabuf may be used so, as one sync file. `None` where the file carries no fences (it
/// is no dmabuf) or the kernel cannot tell (before 6.0): then [`wait_until_usable`] is the way.
///
/// # Errors
/// When descriptors have run out.
pub fn export(dmabuf: impl AsFd, before: Use) -> io::Result<Option<OwnedFd>> {
    match ioctl::export_sync_file(dmabuf.as_fd(), before.flags()) {
        Ok(fence) => Ok(Some(fence)),
        Err(Errno::NOTTY | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Lets others who use a dmabuf wait for this fence, which is the end of such a use. False where the kernel cannot do that
/// (before 6.0): then it must be waited for before they are told of the dmabuf.
///
/// # Errors
/// When the fence is none.
pub fn import(dmabuf: impl AsFd, of: Use, fence: impl AsFd) -> io::Result<bool> {
    match ioctl::import_sync_file(dmabuf.as_fd(), of.flags(), fence.as_fd()) {
        Ok(()) => Ok(true),
        Err(Errno::NOTTY) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A sync file that signals when both do.
///
/// # Errors
/// When either is none, or descriptors have run out.
pub fn merge(first: impl AsFd, second: impl AsFd) -> io::Result<OwnedFd> {
    Ok(ioctl::merge(first.as_fd(), second.as_fd())?)
}

/// Whether a sync file has signalled.
///
/// # Errors
/// When it cannot be asked.
pub fn has_signalled(fence: impl AsFd) -> io::Result<bool> {
    wait(fence, Duration::ZERO)
}

/// Waits for a sync file, at most so long. Whether it has signalled.
///
/// # Errors
/// When it cannot be waited for.
pub fn wait(fence: impl AsFd, limit: Duration) -> io::Result<bool> {
    ready(fence.as_fd(), PollFlags::IN, limit)
}

/// Waits until a dmabuf may be used so, at most so long. Whether it may. Works with every kernel.
///
/// # Errors
/// When it cannot be waited for.
pub fn wait_until_usable(dmabuf: impl AsFd, for_what: Use, limit: Duration) -> io::Result<bool> {
    // A dmabuf is readable when its writers are done, and writable when all are.
    let flags = match for_what {
        Use::Read => PollFlags::IN,
        Use::Write => PollFlags::OUT,
    };
    ready(dmabuf.as_fd(), flags, limit)
}

fn ready(fd: BorrowedFd<'_>, flags: PollFlags, limit: Duration) -> io::Result<bool> {
    let end = std::time::Instant::now().checked_add(limit);
    loop {
        let left = end.map(|end| end.saturating_duration_since(std::time::Instant::now()));
        let timeout = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        let mut polled = [PollFd::from_borrowed_fd(fd, flags)];
        match poll(&mut polled, timeout.as_ref()) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
