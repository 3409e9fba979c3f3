//! dmabufs that no device has made: of the program's own memory (`/dev/udmabuf`), or of the kernel's
//! (`/dev/dma_heap/system`).
//!
//! Both give memory that the CPU reads and writes as fast as any, and that GPUs and compositors can import. Which of them a
//! user may open is the system's choice: udmabuf is usually for the group `kvm` or whoever sits at the machine, heaps for
//! root alone.

use crate::ioctl;
use rustix::{
    fs::{MemfdFlags, Mode, OFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create, open},
    param::page_size,
};
use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

const UDMABUF: &str = "/dev/udmabuf";
const HEAP: &str = "/dev/dma_heap/system";

/// No dmabufs can be made here.
#[derive(Debug, thiserror::Error)]
#[error(
    "no dmabufs can be made: {UDMABUF}: {udmabuf}; {HEAP}: {heap} (a udev rule for the first, with TAG+=\"uaccess\", lets who sits at the machine use it)"
)]
pub struct OpenError {
    /// Why not by udmabuf.
    pub udmabuf: io::Error,
    /// Why not by the system's heap.
    pub heap: io::Error,
}

/// A dmabuf could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a dmabuf of {len} bytes: {source}")]
pub struct AllocateError {
    /// Bytes that were asked for.
    pub len: usize,
    /// Why not.
    pub source: io::Error,
}

/// Makes dmabufs.
#[derive(Debug)]
pub struct Allocator {
    device: OwnedFd,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Udmabuf,
    Heap,
}

impl Allocator {
    /// Opens udmabuf; else the system's heap.
    ///
    /// # Errors
    /// [`OpenError`] says why neither can be used.
    pub fn open() -> Result<Self, OpenError> {
        let udmabuf = match Self::open_one(Kind::Udmabuf) {
            Ok(allocator) => return Ok(allocator),
            Err(error) => error,
        };
        Self::open_one(Kind::Heap).map_err(|heap| OpenError { udmabuf, heap })
    }

    /// Opens the system's heap only: for tests of both.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open_heap() -> io::Result<Self> {
        Self::open_one(Kind::Heap)
    }

    fn open_one(kind: Kind) -> io::Result<Self> {
        let path = match kind {
            Kind::Udmabuf => UDMABUF,
            Kind::Heap => HEAP,
        };
        let device = open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { device, kind })
    }

    /// The device that it takes them from.
    pub fn device(&self) -> &'static str {
        match self.kind {
            Kind::Udmabuf => UDMABUF,
            Kind::Heap => HEAP,
        }
    }

    /// Makes a dmabuf of at least `len` bytes: whole pages, of zeros.
    ///
    /// # Errors
    /// [`AllocateError`] when memory or descriptors have run out, for a length of 0, or for one above what the system
    /// allows (udmabuf: 64 MiB unless its parameter `size_limit_mb` says otherwise).
    pub fn allocate(&self, len: usize) -> Result<OwnedFd, AllocateError> {
        let fail = |source: io::Error| AllocateError { len, source };
        let size = len
            .checked_next_multiple_of(page_size())
            .filter(|size| *size > 0)
            .ok_or_else(|| fail(io::ErrorKind::InvalidInput.into()))? as u64;
        let made = match self.kind {
            Kind::Heap => ioctl::heap_allocate(self.device.as_fd(), size),
            Kind::Udmabuf => {
                memfd_create(c"veil", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).and_then(|memory| {
                    ftruncate(&memory, size)?;
                    // Without it the kernel refuses: pages must not go away under a device.
                    fcntl_add_seals(&memory, SealFlags::SHRINK)?;
                    ioctl::udmabuf_create(self.device.as_fd(), memory.as_fd(), size)
                })
            }
        };
        made.map_err(|error| fail(error.into()))
    }
}
