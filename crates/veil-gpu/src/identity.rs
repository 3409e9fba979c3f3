//! Telling dmabufs apart: descriptors are copied and their numbers used again, inodes are not as long as somebody holds
//! the dmabuf.

use drm_fourcc::DrmModifier;
use std::{io, os::fd::AsFd};
use veil_frame::{BorrowedDmabuf, PixelFormat, Size};

/// A picture's place in memory. Two that are equal are the same, as long as the dmabufs are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    format: PixelFormat,
    modifier: DrmModifier,
    size: Size,
    planes: [Option<Plane>; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plane {
    device: u64,
    inode: u64,
    offset: u32,
    stride: u32,
}

impl Identity {
    /// Two system calls for a picture of two planes; no heap.
    pub(crate) fn of(dmabuf: &BorrowedDmabuf<'_>, format: PixelFormat) -> io::Result<Self> {
        let mut planes = [None; 4];
        for (to, plane) in planes.iter_mut().zip(dmabuf.planes()) {
            let file = rustix::fs::fstat(plane.fd.as_fd())?;
            *to = Some(Plane {
                device: file.st_dev,
                inode: file.st_ino,
                offset: plane.offset,
                stride: plane.stride,
            });
        }
        Ok(Self {
            format,
            modifier: dmabuf.format.modifier,
            size: dmabuf.size,
            planes,
        })
    }

    /// Tells the dmabuf of a plane from others.
    pub(crate) fn inode(&self, plane: usize) -> u64 {
        self.planes[plane].map_or(0, |plane| plane.inode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drm_fourcc::{DrmFormat, DrmFourcc};
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::os::fd::BorrowedFd;
    use veil_frame::BorrowedPlane;

    fn identity(fd: BorrowedFd<'_>, offset: u32) -> Identity {
        let plane = BorrowedPlane {
            fd,
            offset,
            stride: 64,
        };
        let dmabuf = BorrowedDmabuf {
            size: Size::new(64, 2),
            format: DrmFormat {
                code: DrmFourcc::R8,
                modifier: DrmModifier::Linear,
            },
            planes: [Some(plane), None, None, None],
        };
        Identity::of(&dmabuf, PixelFormat::Gray8).unwrap()
    }

    #[test]
    fn a_copied_descriptor_is_the_same_memory() {
        let fd = memfd_create("one", MemfdFlags::empty()).unwrap();
        let copy = fd.try_clone().unwrap();
        assert_eq!(identity(fd.as_fd(), 0), identity(copy.as_fd(), 0));
        assert_ne!(identity(fd.as_fd(), 0), identity(fd.as_fd(), 64));
        let other = memfd_create("one", MemfdFlags::empty()).unwrap();
        assert_ne!(identity(fd.as_fd(), 0), identity(other.as_fd(), 0));
    }
}
