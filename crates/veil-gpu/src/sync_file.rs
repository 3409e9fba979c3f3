//! The fences in dmabufs, as sync files (Linux 6.0).
//!
//! Devices and drivers that know nothing of each other leave their fences in the buffer that they share: readers wait
//! for those who write, writers for all. Vulkan does neither by itself; so the fences are taken out before a frame and
//! put in after it. Older kernels cannot give fences away; there, waiting with `poll` is possible.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    ioctl::{Setter, Updater, ioctl, opcode},
};
use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    time::{Duration, Instant},
};

/// What somebody does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads: waits for those who write.
    Read,
    /// Writes: waits for all.
    Write,
}

/// `struct dma_buf_export_sync_file` and `struct dma_buf_import_sync_file`, which are the same.
#[repr(C)]
struct SyncFile {
    flags: u32,
    fd: i32,
}

const EXPORT: rustix::ioctl::Opcode = opcode::read_write::<SyncFile>(b'b', 2);
const IMPORT: rustix::ioctl::Opcode = opcode::write::<SyncFile>(b'b', 3);

impl Access {
    fn flags(self) -> u32 {
        match self {
            Self::Read => 1,
            Self::Write => 2,
        }
    }

    /// What `poll` waits for before this.
    pub(crate) fn poll_flags(self) -> PollFlags {
        match self {
            Self::Read => PollFlags::IN,
            Self::Write => PollFlags::OUT,
        }
    }
}

/// Whether an error says that the kernel, or the file, has no such thing.
fn unknown(error: Errno) -> bool {
    matches!(
        error,
        Errno::NOTTY | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP
    )
}

/// A sync file that signals when this access may begin; `None` where the kernel cannot tell.
pub(crate) fn export(dmabuf: BorrowedFd<'_>, access: Access) -> io::Result<Option<OwnedFd>> {
    let mut argument = SyncFile {
        flags: access.flags(),
        fd: -1,
    };
    // SAFETY: the opcode reads and writes this structure.
    match unsafe { ioctl(dmabuf, Updater::<EXPORT, SyncFile>::new(&mut argument)) } {
        // SAFETY: the kernel made it for us.
        Ok(()) => Ok(Some(unsafe { OwnedFd::from_raw_fd(argument.fd) })),
        Err(error) if unknown(error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Lets others wait for this sync file before they touch the dmabuf, as this access wants it; false where the kernel
/// cannot.
pub(crate) fn attach(dmabuf: BorrowedFd<'_>, fence: BorrowedFd<'_>, access: Access) -> io::Result<bool> {
    let argument = SyncFile {
        flags: access.flags(),
        fd: fence.as_raw_fd(),
    };
    // SAFETY: the opcode reads this structure.
    match unsafe { ioctl(dmabuf, Setter::<IMPORT, SyncFile>::new(argument)) } {
        Ok(()) => Ok(true),
        Err(error) if unknown(error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Waits until a sync file signals, or a dmabuf may be accessed; false if `limit` is over before.
pub(crate) fn wait(file: impl AsFd, flags: PollFlags, limit: Duration) -> io::Result<bool> {
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&file, flags)], left.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::{
        fs::{MemfdFlags, memfd_create},
        pipe::pipe,
    };

    #[test]
    fn what_is_no_dmabuf_has_no_fences() {
        let file = memfd_create("plain", MemfdFlags::empty()).unwrap();
        assert!(export(file.as_fd(), Access::Read).unwrap().is_none());
        assert!(!attach(file.as_fd(), file.as_fd(), Access::Write).unwrap());
    }

    #[test]
    fn a_wait_ends_by_the_event_or_the_limit() {
        let (reader, writer) = pipe().unwrap();
        assert!(!wait(&reader, PollFlags::IN, Duration::ZERO).unwrap());
        rustix::io::write(&writer, b"x").unwrap();
        assert!(wait(&reader, PollFlags::IN, Duration::from_secs(600)).unwrap());
    }
}
