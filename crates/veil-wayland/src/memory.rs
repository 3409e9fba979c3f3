//! Shared memory for `wl_shm`: the one place where veil maps a file for writing.
//!
//! `wl_shm.create_pool` hands the file to the compositor, which maps it too. Shrinking it under the compositor's feet
//! would be a fault there, so it is sealed against that, and a compositor that sees the seal can spare its guard
//! against SIGBUS.

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// The memory could not be had.
#[derive(Debug, thiserror::Error)]
#[error("cannot get {len} bytes of shared memory: {source}")]
pub struct MemoryError {
    /// Bytes that were asked for.
    pub len: usize,
    /// Why not.
    pub source: io::Error,
}

/// Shared memory, mapped for writing in this process.
#[derive(Debug)]
pub struct SharedMemory {
    fd: OwnedFd,
    map: MmapMut,
}

impl SharedMemory {
    /// `len` bytes of zeros; `len` must not be 0.
    ///
    /// # Errors
    /// [`MemoryError`] when memory or descriptors have run out, or for a length of 0.
    #[allow(unsafe_code)]
    pub fn new(len: usize) -> Result<Self, MemoryError> {
        let error = |source: io::Error| MemoryError { len, source };
        if len == 0 {
            return Err(error(io::ErrorKind::InvalidInput.into()));
        }
        let fd = memfd_create(c"veil", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
            .map_err(|e| error(e.into()))?;
        ftruncate(&fd, len as u64).map_err(|e| error(e.into()))?;
        // Memory files have been sealable since Linux 3.17; without the seal everything works, only less guarded.
        let _ = fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::SEAL);
        // SAFETY: the file was made here, is `len` bytes long and sealed against shrinking, so the map stays valid. The
        // compositor maps the same file, but reads only, by the protocol; a reader elsewhere may see a torn picture,
        // never can this process see its own bytes change.
        let map = unsafe { MmapOptions::new().len(len).map_mut(&fd) }.map_err(error)?;
        Ok(Self { fd, map })
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are none; never so.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Another descriptor of the file, to hand out.
    ///
    /// # Errors
    /// When descriptors have run out.
    pub fn share(&self) -> io::Result<OwnedFd> {
        self.fd.try_clone()
    }
}

impl AsFd for SharedMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::File, os::unix::fs::FileExt};

    #[test]
    fn what_is_written_is_in_the_file_and_it_cannot_shrink() {
        let mut memory = SharedMemory::new(4096).unwrap();
        memory.bytes_mut()[4095] = 7;
        let file = File::from(memory.share().unwrap());
        let mut byte = [0];
        file.read_exact_at(&mut byte, 4095).unwrap();
        assert_eq!(byte, [7]);
        assert!(file.set_len(1).is_err());
        assert!(SharedMemory::new(0).is_err());
    }
}
