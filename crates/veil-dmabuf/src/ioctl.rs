//! The kernel's requests, by `linux/udmabuf.h`, `linux/dma-heap.h`, `linux/dma-buf.h` and `linux/sync_file.h`.
//!
//! One function a request, each of which takes and gives owned or borrowed descriptors, so that nothing outside sees a
//! number.

use rustix::{
    io,
    ioctl::{Ioctl, IoctlOutput, Opcode, Setter, Updater, ioctl, opcode},
};
use std::{
    ffi::c_void,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

#[repr(C)]
struct UdmabufCreate {
    memfd: u32,
    flags: u32,
    offset: u64,
    size: u64,
}

/// `UDMABUF_FLAGS_CLOEXEC`.
const UDMABUF_CLOEXEC: u32 = 1;

// SAFETY: the opcode is that of the structure, which the kernel only reads, and the result is a new descriptor or an
// error.
unsafe impl Ioctl for UdmabufCreate {
    type Output = OwnedFd;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        opcode::write::<Self>(b'u', 0x42)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> io::Result<OwnedFd> {
        // SAFETY: the kernel has made this descriptor for the caller just now.
        Ok(unsafe { OwnedFd::from_raw_fd(out) })
    }
}

/// Makes a dmabuf of a memory file, which must be sealed against shrinking, and of whole pages.
pub(crate) fn udmabuf_create(
    device: BorrowedFd<'_>,
    memory: BorrowedFd<'_>,
    size: u64,
) -> io::Result<OwnedFd> {
    let request = UdmabufCreate {
        memfd: memory.as_raw_fd().cast_unsigned(),
        flags: UDMABUF_CLOEXEC,
        offset: 0,
        size,
    };
    // SAFETY: see the implementation; both descriptors are open.
    unsafe { ioctl(device, request) }
}

#[repr(C)]
struct HeapAllocation {
    len: u64,
    fd: u32,
    fd_flags: u32,
    heap_flags: u64,
}

/// Has a heap make a dmabuf.
pub(crate) fn heap_allocate(heap: BorrowedFd<'_>, len: u64) -> io::Result<OwnedFd> {
    let mut request = HeapAllocation {
        len,
        fd: 0,
        fd_flags: rustix::fs::OFlags::RDWR.bits() | rustix::fs::OFlags::CLOEXEC.bits(),
        heap_flags: 0,
    };
    // SAFETY: the opcode is that of the structure, which the kernel reads and writes.
    unsafe {
        let request = Updater::<{ opcode::read_write::<HeapAllocation>(b'H', 0) }, _>::new(&mut request);
        ioctl(heap, request)?;
    }
    // SAFETY: the kernel has made this descriptor for the caller just now.
    Ok(unsafe { OwnedFd::from_raw_fd(request.fd.cast_signed()) })
}

/// Begins or ends the CPU's access to a dmabuf, by `DMA_BUF_SYNC_*`.
pub(crate) fn sync(dmabuf: BorrowedFd<'_>, flags: u64) -> io::Result<()> {
    loop {
        // SAFETY: the opcode is that of the structure, a number, which the kernel only reads.
        let done = unsafe {
            let request = Setter::<{ opcode::write::<u64>(b'b', 0) }, u64>::new(flags);
            ioctl(dmabuf, request)
        };
        match done {
            // The kernel waits for fences here, which a signal may end.
            Err(io::Errno::INTR | io::Errno::AGAIN) => {}
            other => return other,
        }
    }
}

#[repr(C)]
struct SyncFile {
    flags: u32,
    fd: i32,
}

/// The fences of a dmabuf as a sync file, by `DMA_BUF_SYNC_*`.
pub(crate) fn export_sync_file(dmabuf: BorrowedFd<'_>, flags: u32) -> io::Result<OwnedFd> {
    let mut request = SyncFile { flags, fd: -1 };
    // SAFETY: the opcode is that of the structure, which the kernel reads and writes.
    unsafe {
        let request = Updater::<{ opcode::read_write::<SyncFile>(b'b', 2) }, _>::new(&mut request);
        ioctl(dmabuf, request)?;
    }
    // SAFETY: the kernel has made this descriptor for the caller just now.
    Ok(unsafe { OwnedFd::from_raw_fd(request.fd) })
}

/// Puts the fence of a sync file into a dmabuf, by `DMA_BUF_SYNC_*`.
pub(crate) fn import_sync_file(dmabuf: BorrowedFd<'_>, flags: u32, fence: BorrowedFd<'_>) -> io::Result<()> {
    let request = SyncFile {
        flags,
        fd: fence.as_raw_fd(),
    };
    // SAFETY: the opcode is that of the structure, which the kernel only reads.
    unsafe {
        let request = Setter::<{ opcode::write::<SyncFile>(b'b', 3) }, SyncFile>::new(request);
        ioctl(dmabuf, request)
    }
}

#[repr(C)]
struct Merge {
    name: [u8; 32],
    fd2: i32,
    fence: i32,
    flags: u32,
    pad: u32,
}

/// A sync file that signals when both do.
pub(crate) fn merge(first: BorrowedFd<'_>, second: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut request = Merge {
        name: [0; 32],
        fd2: second.as_raw_fd(),
        fence: -1,
        flags: 0,
        pad: 0,
    };
    request.name[..4].copy_from_slice(b"veil");
    // SAFETY: the opcode is that of the structure, which the kernel reads and writes.
    unsafe {
        let request = Updater::<{ opcode::read_write::<Merge>(b'>', 3) }, _>::new(&mut request);
        ioctl(first.as_fd(), request)?;
    }
    // SAFETY: the kernel has made this descriptor for the caller just now.
    Ok(unsafe { OwnedFd::from_raw_fd(request.fence) })
}
