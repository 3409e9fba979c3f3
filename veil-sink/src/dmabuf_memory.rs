//! Memory of GStreamer's that is a dmabuf. One of the places where `unsafe` is allowed: the bindings give and take bare
//! numbers of descriptors.

#![allow(unsafe_code)]

use gstreamer as gst;
use gstreamer_allocators as gst_allocators;

use gst_allocators::{FdMemoryFlags, prelude::*};
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use veil_dmabuf::{Access, MappingError, end_access};
use veil_frame::{BorrowedDmabuf, BorrowedPlane};

/// The plane that begins at this byte of a buffer, if its memory is a dmabuf.
pub(crate) fn plane(buffer: &gst::BufferRef, offset: usize, stride: u32) -> Option<BorrowedPlane<'_>> {
    let (memories, skip) = buffer.find_memory(offset..offset.checked_add(1)?)?;
    let memory = buffer.peek_memory(memories.start);
    let dmabuf = memory.downcast_memory_ref::<gst_allocators::DmaBufMemory>()?;
    let number = dmabuf.fd();
    if number < 0 {
        return None;
    }
    // SAFETY: the memory owns the descriptor and closes it when it is freed; the buffer holds the memory for as long as
    // the result lives.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    Some(BorrowedPlane {
        fd,
        offset: u32::try_from(memory.offset() + skip).ok()?,
        stride,
    })
}

/// The CPU has written these dmabufs, and devices will read them.
pub(crate) fn written(dmabuf: &BorrowedDmabuf<'_>) -> Result<(), MappingError> {
    let mut before = None;
    for plane in dmabuf.planes() {
        // Planes mostly lie in one dmabuf.
        let this = Some(plane.fd.as_raw_fd());
        if this != before {
            end_access(plane.fd, Access::Write)?;
        }
        before = this;
    }
    Ok(())
}

/// Wraps a dmabuf of at least `size` bytes as memory of GStreamer's, which stays mapped once it was.
pub(crate) fn wrap(
    allocator: &gst_allocators::DmaBufAllocator,
    fd: OwnedFd,
    size: usize,
) -> Result<gst::Memory, gst::glib::BoolError> {
    // SAFETY: the number is of an open descriptor that nobody else owns from here on: the memory closes it, also where it
    // cannot be made, since it is made before anything can fail but allocation, which aborts.
    unsafe { allocator.alloc_dmabuf_with_flags(fd.into_raw_fd(), size, FdMemoryFlags::KEEP_MAPPED) }
}
