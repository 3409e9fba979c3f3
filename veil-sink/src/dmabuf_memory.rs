//! Memory of GStreamer's that is a dmabuf. One of the places where `unsafe` is allowed: the bindings give a bare number.

#![allow(unsafe_code)]

use gstreamer as gst;
use gstreamer_allocators as gst_allocators;

use std::os::fd::BorrowedFd;
use veil_frame::BorrowedPlane;

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
