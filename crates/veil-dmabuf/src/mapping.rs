//! A dmabuf as bytes.
//!
//! Devices that do not look into the CPU's caches need to be told of its reads and writes, before and after
//! (`DMA_BUF_IOCTL_SYNC`, `linux/dma-buf.h`); beginning also waits for the fences of others.

use crate::ioctl;
use memmap2::{MmapMut, MmapOptions};
use rustix::{
    fs::{SeekFrom, seek},
    io::Errno,
};
use std::{
    io,
    ops::{Deref, DerefMut},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// What the CPU does with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes, and may read.
    Write,
}

/// `DMA_BUF_SYNC_READ`, `_WRITE` and `_END`.
const READ: u64 = 1;
const WRITE: u64 = 2;
const END: u64 = 4;

/// The CPU cannot get at the bytes.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// They cannot be mapped.
    #[error("cannot map {len} bytes of a dmabuf: {source}")]
    Map {
        /// Bytes asked for.
        len: usize,
        /// Why not.
        source: io::Error,
    },
    /// The access cannot begin, or end.
    #[error("the CPU may not use a dmabuf: {0}")]
    Begin(#[from] Errno),
}

/// How many bytes a dmabuf has.
///
/// # Errors
/// When the descriptor is none of a dmabuf.
pub fn size(dmabuf: BorrowedFd<'_>) -> io::Result<u64> {
    // To the end and to the beginning is all that a dmabuf allows. The position is put back, since others may share it.
    let bytes = seek(dmabuf, SeekFrom::End(0))?;
    seek(dmabuf, SeekFrom::Start(0))?;
    Ok(bytes)
}

/// The bytes of a dmabuf.
#[derive(Debug)]
pub struct Mapping {
    fd: OwnedFd,
    map: MmapMut,
}

impl Mapping {
    /// Maps the first `len` bytes.
    ///
    /// # Errors
    /// [`MappingError::Map`] if there are fewer, or the exporter does not allow it.
    pub fn new(dmabuf: impl AsFd, len: usize) -> Result<Self, MappingError> {
        let error = |source| MappingError::Map { len, source };
        let fd = dmabuf.as_fd().try_clone_to_owned().map_err(error)?;
        // SAFETY: a dmabuf never shrinks, so the map stays valid. Devices and other programs may write what is read here:
        // the bytes may be a mixture then, as they may be of any shared memory; nothing relies on what they are.
        let map = unsafe { MmapOptions::new().len(len).map_mut(&fd) }.map_err(error)?;
        Ok(Self { fd, map })
    }

    /// Begins to use the bytes; ends when the result is dropped. Waits for others who use the dmabuf.
    ///
    /// # Errors
    /// [`MappingError::Begin`] when the exporter refuses.
    pub fn access(&mut self, access: Access) -> Result<Accessed<'_>, MappingError> {
        begin_access(&self.fd, access)?;
        Ok(Accessed {
            mapping: self,
            access,
        })
    }
}

impl Access {
    const fn flags(self) -> u64 {
        match self {
            Self::Read => READ,
            Self::Write => READ | WRITE,
        }
    }
}

/// The CPU begins to use a dmabuf that somebody else has mapped. Waits for others who use it, without a limit.
///
/// # Errors
/// [`MappingError::Begin`] when the exporter refuses.
pub fn begin_access(dmabuf: impl AsFd, access: Access) -> Result<(), MappingError> {
    Ok(sync(dmabuf.as_fd(), access.flags())?)
}

/// The CPU has done to a dmabuf what it [began](begin_access) to do: devices see it now. Where nothing began, nothing is done.
///
/// # Errors
/// [`MappingError::Begin`] when the exporter refuses.
pub fn end_access(dmabuf: impl AsFd, access: Access) -> Result<(), MappingError> {
    match sync(dmabuf.as_fd(), access.flags() | END) {
        // So udmabuf answers where nothing had begun: whoever wrote did not say so, and there is nothing to end.
        Err(Errno::INVAL) => Ok(()),
        other => Ok(other?),
    }
}

/// Memory files know of no such thing, and need it not.
fn sync(fd: BorrowedFd<'_>, flags: u64) -> Result<(), Errno> {
    match ioctl::sync(fd, flags) {
        Err(Errno::NOTTY) => Ok(()),
        other => other,
    }
}

/// The bytes while they may be used.
#[derive(Debug)]
pub struct Accessed<'a> {
    mapping: &'a mut Mapping,
    access: Access,
}

impl Deref for Accessed<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.mapping.map
    }
}

impl DerefMut for Accessed<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.mapping.map
    }
}

impl Drop for Accessed<'_> {
    fn drop(&mut self) {
        // Nothing to be done about a failure: the bytes are written.
        let _ = end_access(&self.mapping.fd, self.access);
    }
}
