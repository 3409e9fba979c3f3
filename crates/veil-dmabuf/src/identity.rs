//! Which dmabuf this is.
//!
//! A decoder has some buffers that come round again and again, and what was made for one (an image, a `wl_buffer`) should be found
//! again. The number of a descriptor does not tell: it is used again for another file as soon as it is closed, and
//! one dmabuf may have many. The inode does: the kernel counts them up for dmabufs, so that each has its own for as long as the
//! system runs; and what is cached holds the dmabuf besides.

use rustix::fs::fstat;
use std::io;
use veil_frame::{BorrowedDmabuf, Size, dmabuf::MOST_PLANES};

/// Tells a picture in dmabufs from all others: memory, layout, format and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    format: u32,
    modifier: u64,
    size: Size,
    planes: [Plane; MOST_PLANES],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Plane {
    device: u64,
    inode: u64,
    offset: u32,
    stride: u32,
}

impl Identity {
    /// Asks the kernel; needs no heap.
    ///
    /// # Errors
    /// When a descriptor is none.
    pub fn of(dmabuf: &BorrowedDmabuf<'_>) -> io::Result<Self> {
        let mut planes = [Plane::default(); MOST_PLANES];
        for (to, plane) in planes.iter_mut().zip(dmabuf.planes()) {
            let stat = fstat(plane.fd)?;
            *to = Plane {
                device: stat.st_dev,
                inode: stat.st_ino,
                offset: plane.offset,
                stride: plane.stride,
            };
        }
        Ok(Self {
            format: dmabuf.format.code as u32,
            modifier: dmabuf.format.modifier.into(),
            size: dmabuf.size,
            planes,
        })
    }

    /// Whether two planes, by their indices, lie in one dmabuf.
    pub fn same_memory(&self, a: usize, b: usize) -> bool {
        let of = |plane: usize| (self.planes[plane].device, self.planes[plane].inode);
        of(a) == of(b)
    }

    /// Whether all planes lie in one dmabuf.
    pub fn is_one(&self) -> bool {
        let used = self.planes.iter().filter(|plane| plane.inode != 0);
        let first = (self.planes[0].device, self.planes[0].inode);
        used.into_iter().all(|plane| (plane.device, plane.inode) == first)
    }
}
