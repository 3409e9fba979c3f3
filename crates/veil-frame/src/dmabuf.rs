//! Pictures in dmabufs: memory that devices and compositors hand to each other as descriptors.
//!
//! A dmabuf says nothing of what is in it. That is told beside it: a format, a modifier (how pixels are arranged in
//! memory; `DRM_FORMAT_MOD_LINEAR` is row after row), and for each plane of that modifier where it begins and how long
//! its rows are. All planes have one modifier.

use crate::{Matrix, Primaries, Range, Size, Transfer};
use drm_fourcc::DrmFormat;
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// Planes that a picture in dmabufs may have, those of compression included (`drm_fourcc.h` allows four).
pub const MOST_PLANES: usize = 4;

/// A plane of a picture in dmabufs, with its own descriptor; several planes may lie in one dmabuf.
#[derive(Debug)]
pub struct DmabufPlane {
    /// The dmabuf.
    pub fd: OwnedFd,
    /// The first byte of the plane in it.
    pub offset: u32,
    /// Bytes from a row to the next; what that means for a tiled modifier, the modifier says.
    pub stride: u32,
}

/// A picture in dmabufs, with descriptors of its own.
#[derive(Debug)]
pub struct Dmabuf {
    /// Columns and rows.
    pub size: Size,
    /// Format and modifier.
    pub format: DrmFormat,
    /// Planes in the order of the format, 1 to [`MOST_PLANES`].
    pub planes: Vec<DmabufPlane>,
}

impl Dmabuf {
    /// The same, without its own descriptors.
    pub fn borrow(&self) -> BorrowedDmabuf<'_> {
        let mut planes = [None; MOST_PLANES];
        for (to, plane) in planes.iter_mut().zip(&self.planes) {
            *to = Some(BorrowedPlane {
                fd: plane.fd.as_fd(),
                offset: plane.offset,
                stride: plane.stride,
            });
        }
        BorrowedDmabuf {
            size: self.size,
            format: self.format,
            planes,
        }
    }
}

/// A plane of a picture in somebody else's dmabufs.
#[derive(Clone, Copy, Debug)]
pub struct BorrowedPlane<'a> {
    /// The dmabuf.
    pub fd: BorrowedFd<'a>,
    /// The first byte of the plane in it.
    pub offset: u32,
    /// Bytes from a row to the next.
    pub stride: u32,
}

/// A picture in somebody else's dmabufs: what a decoder gives. Made for each frame, so it needs no heap.
#[derive(Clone, Copy, Debug)]
pub struct BorrowedDmabuf<'a> {
    /// Columns and rows.
    pub size: Size,
    /// Format and modifier.
    pub format: DrmFormat,
    /// Planes in the order of the format, from the first; `None` after the last.
    pub planes: [Option<BorrowedPlane<'a>>; MOST_PLANES],
}

impl BorrowedDmabuf<'_> {
    /// The planes.
    pub fn planes(&self) -> impl Iterator<Item = &BorrowedPlane<'_>> {
        self.planes.iter().map_while(Option::as_ref)
    }

    /// The same with descriptors of its own.
    ///
    /// # Errors
    /// When descriptors have run out.
    pub fn to_owned(&self) -> io::Result<Dmabuf> {
        let plane = |plane: &BorrowedPlane<'_>| {
            Ok(DmabufPlane {
                fd: plane.fd.try_clone_to_owned()?,
                offset: plane.offset,
                stride: plane.stride,
            })
        };
        Ok(Dmabuf {
            size: self.size,
            format: self.format,
            planes: self.planes().map(plane).collect::<io::Result<_>>()?,
        })
    }
}

/// What a surface takes in dmabufs, or what all surfaces that show one stream take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DmabufSupport {
    /// The device (`dev_t`) that must be able to read the memory: the main device of the surface's feedback, also where its
    /// best tranche is for scan-out by another. `None` where it does not say (linux-dmabuf before version 4).
    pub device: Option<u64>,
    /// What may be attached, best first, none twice. Never with `DRM_FORMAT_MOD_INVALID`, which is not LINEAR.
    pub formats: Vec<DrmFormat>,
    /// The codings of YCbCr that are shown with right colours when they are named (`wp_color_representation_v1`); empty
    /// where colours of YCbCr buffers are the compositor's guess.
    pub codings: Vec<(Matrix, Range)>,
    /// The primaries and transfer curves beyond those of SDR with BT.709's primaries that YCbCr buffers are shown right in
    /// when they are named (`wp_color_manager_v1`).
    pub colours: Vec<(Primaries, Transfer)>,
    /// Whether fences are handed over beside the buffer (`linux-drm-syncobj-v1`); else they are in the dmabuf.
    pub explicit_sync: bool,
}

impl DmabufSupport {
    /// What all of these surfaces take: `None` where one takes nothing, or there is none.
    pub fn all(surfaces: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let mut surfaces = surfaces.into_iter();
        let first = surfaces.next()??;
        surfaces.try_fold(first, |all, next| all.common(&next?))
    }

    /// What both take. `None` where they are of different devices: memory of one may be out of reach for the other.
    pub fn common(&self, other: &Self) -> Option<Self> {
        if self.device != other.device {
            return None;
        }
        let both = |format: &&DrmFormat| other.formats.contains(format);
        let coding = |coding: &&(Matrix, Range)| other.codings.contains(coding);
        let colours = |colours: &&(Primaries, Transfer)| other.colours.contains(colours);
        Some(Self {
            device: self.device,
            formats: self.formats.iter().filter(both).copied().collect(),
            codings: self.codings.iter().filter(coding).copied().collect(),
            colours: self.colours.iter().filter(colours).copied().collect(),
            explicit_sync: self.explicit_sync && other.explicit_sync,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drm_fourcc::{DrmFourcc, DrmModifier};

    fn pair(code: DrmFourcc, modifier: u64) -> DrmFormat {
        DrmFormat {
            code,
            modifier: DrmModifier::from(modifier),
        }
    }

    #[test]
    fn what_all_take_keeps_the_order_of_the_first() {
        let formats = [
            pair(DrmFourcc::Nv12, 7),
            pair(DrmFourcc::Xbgr8888, 0),
            pair(DrmFourcc::Nv12, 0),
        ];
        let first = DmabufSupport {
            device: Some(1),
            formats: formats.to_vec(),
            codings: vec![(Matrix::Bt601, Range::Full), (Matrix::Bt709, Range::Limited)],
            colours: vec![
                (Primaries::Bt2020, Transfer::Pq),
                (Primaries::Bt2020, Transfer::Sdr),
            ],
            explicit_sync: true,
        };
        let second = DmabufSupport {
            formats: vec![formats[2], formats[1]],
            codings: vec![(Matrix::Bt709, Range::Limited)],
            colours: vec![(Primaries::Bt2020, Transfer::Sdr)],
            explicit_sync: false,
            ..first.clone()
        };
        let both = first.common(&second).unwrap();
        assert_eq!(both.formats, formats[1..]);
        assert_eq!(
            (both.codings.as_slice(), both.explicit_sync),
            (second.codings.as_slice(), false)
        );
        assert_eq!(both.colours, second.colours);
        let elsewhere = DmabufSupport {
            device: Some(2),
            ..first.clone()
        };
        assert_eq!(first.common(&elsewhere), None);
    }

    #[test]
    fn owned_planes_are_those_that_were_borrowed() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let plane = |offset| {
            Some(BorrowedPlane {
                fd: file.as_fd(),
                offset,
                stride: 64,
            })
        };
        let borrowed = BorrowedDmabuf {
            size: Size::new(64, 2),
            format: pair(DrmFourcc::Nv12, 0),
            planes: [plane(0), plane(128), None, None],
        };
        let owned = borrowed.to_owned().unwrap();
        assert_eq!(owned.planes.len(), 2);
        assert_eq!(owned.borrow().planes().nth(1).map(|p| p.offset), Some(128));
    }
}
