//! Pictures row after row (`DRM_FORMAT_MOD_LINEAR`) in dmabufs that are made here.

use crate::allocator::{AllocateError, Allocator};
use std::os::fd::OwnedFd;
use veil_frame::{Dmabuf, PixelFormat, Size, dmabuf::DmabufPlane};

/// Bytes that rows and planes begin at a multiple of: what AMD's GPUs ask of rows (`PITCH`), the most of all.
pub(crate) const ALIGNMENT: usize = 256;

/// There is no such picture.
#[derive(Debug, thiserror::Error)]
pub enum LinearError {
    /// The format has no name among DRM's.
    #[error("{} has no DRM format, so nobody could be told what is in the dmabuf", .0.info().name)]
    Format(PixelFormat),
    /// The numbers overflow.
    #[error("a picture of {0} is too large for a dmabuf")]
    TooLarge(Size),
    /// No memory.
    #[error(transparent)]
    Allocate(#[from] AllocateError),
    /// No descriptor.
    #[error("no descriptor for a plane: {0}")]
    Share(#[from] std::io::Error),
}

/// Where the planes of a picture lie, row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    format: PixelFormat,
    size: Size,
    /// First bytes of the planes.
    pub offset: [usize; 4],
    /// Bytes from a row of a plane to the next.
    pub stride: [usize; 4],
    /// Bytes of all planes.
    pub len: usize,
}

impl Linear {
    /// Of this format and size; aligned for every GPU.
    ///
    /// # Errors
    /// [`LinearError`] for a format without DRM's name, or of a size that overflows.
    pub fn new(format: PixelFormat, size: Size) -> Result<Self, LinearError> {
        let info = format.info();
        if info.fourcc.is_none() {
            return Err(LinearError::Format(format));
        }
        let (mut offset, mut stride, mut len) = ([0; 4], [0; 4], 0usize);
        let too_large = || LinearError::TooLarge(size);
        for plane in 0..usize::from(info.planes) {
            offset[plane] = len;
            stride[plane] = info
                .plane_row_bytes(plane, size.w)
                .checked_next_multiple_of(ALIGNMENT)
                .ok_or_else(too_large)?;
            let bytes = stride[plane].checked_mul(info.plane_rows(plane, size.h) as usize);
            len = bytes
                .and_then(|bytes| bytes.checked_add(len))
                .filter(|len| u32::try_from(*len).is_ok())
                .ok_or_else(too_large)?;
        }
        Ok(Self {
            format,
            size,
            offset,
            stride,
            len,
        })
    }

    /// Describes memory that has this layout.
    ///
    /// # Errors
    /// When descriptors have run out.
    pub fn describe(&self, memory: &OwnedFd) -> Result<Dmabuf, LinearError> {
        let code = self
            .format
            .info()
            .fourcc
            .ok_or(LinearError::Format(self.format))?;
        let planes = (0..usize::from(self.format.info().planes)).map(|plane| {
            Ok(DmabufPlane {
                fd: memory.try_clone()?,
                // `new` has seen that all fits.
                offset: self.offset[plane] as u32,
                stride: self.stride[plane] as u32,
            })
        });
        Ok(Dmabuf {
            size: self.size,
            format: drm_fourcc::DrmFormat {
                code,
                modifier: drm_fourcc::DrmModifier::Linear,
            },
            planes: planes.collect::<Result<_, std::io::Error>>()?,
        })
    }

    /// Memory for it.
    ///
    /// # Errors
    /// When there is none.
    pub fn allocate(&self, allocator: &Allocator) -> Result<OwnedFd, LinearError> {
        Ok(allocator.allocate(self.len)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_follow_each_other_aligned() {
        let nv12 = Linear::new(PixelFormat::Nv12, Size::new(1367, 769)).unwrap();
        assert_eq!(nv12.stride[..2], [1536, 1536]);
        assert_eq!(nv12.offset[..2], [0, 1536 * 769]);
        assert_eq!(nv12.len, 1536 * (769 + 385));
        let wide = Linear::new(PixelFormat::I42010, Size::new(64, 64));
        assert!(matches!(wide, Err(LinearError::Format(_))));
        let huge = Linear::new(PixelFormat::Nv12, Size::new(u32::MAX, 2));
        assert!(matches!(huge, Err(LinearError::TooLarge(_))));
    }
}
