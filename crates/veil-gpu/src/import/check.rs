//! What can be known of a picture before a driver sees it.

use super::ImportError;
use crate::{
    convert::{self, PlaneLayout},
    device::Device,
};
use drm_fourcc::DrmModifier;
use veil_frame::{BorrowedDmabuf, BorrowedPlane, PixelFormat, Size};

/// Checks the number of planes, their sizes and, where rows lie one after the other, that they are inside.
pub(super) fn check(
    device: &Device,
    dmabuf: &BorrowedDmabuf<'_>,
    format: PixelFormat,
) -> Result<(), ImportError> {
    let modifier = dmabuf.format.modifier;
    let (given, needed) = (dmabuf.planes().count(), usize::from(format.info().planes));
    if given != needed {
        return Err(ImportError::Planes {
            format,
            given,
            needed,
        });
    }
    let most = device.largest_image();
    // Larger ones would overflow, and no device has them.
    let size = dmabuf.size;
    if size.is_empty() || size.w > most || size.h > most {
        return Err(ImportError::Size {
            plane: size,
            largest: Size::new(most, most),
        });
    }
    let layouts =
        convert::planes(format, size.w, size.h).ok_or(ImportError::Unsupported { format, modifier })?;
    for (index, (layout, plane)) in layouts.zip(dmabuf.planes()).enumerate() {
        let unsupported = ImportError::Unsupported { format, modifier };
        let largest = device
            .formats()
            .largest(layout.format, modifier)
            .ok_or(unsupported)?;
        if layout.width > largest.w || layout.height > largest.h {
            return Err(ImportError::Size {
                plane: Size::new(layout.width, layout.height),
                largest,
            });
        }
        if modifier == DrmModifier::Linear {
            rows(index, &layout, plane, veil_dmabuf::size(plane.fd)?)?;
        }
    }
    Ok(())
}

fn rows(
    index: usize,
    layout: &PlaneLayout,
    plane: &BorrowedPlane<'_>,
    bytes: u64,
) -> Result<(), ImportError> {
    let row = u64::from(layout.width) * u64::from(layout.texel);
    let (stride, offset) = (plane.stride, plane.offset);
    let whole = stride % layout.texel == 0 && offset % layout.texel == 0;
    if u64::from(stride) < row || !whole {
        return Err(ImportError::Stride {
            plane: index,
            stride,
            offset,
            row,
        });
    }
    let end = u64::from(offset) + u64::from(stride) * u64::from(layout.height - 1) + row;
    if end > bytes {
        return Err(ImportError::Short {
            plane: index,
            end,
            size: bytes,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::File, os::fd::AsFd};

    fn check(stride: u32, offset: u32, bytes: u64) -> Result<(), ImportError> {
        let file = File::open("/dev/null").unwrap();
        // The plane of CbCr of 30 by 4 pixels: 30 bytes by 2 rows.
        let layout = convert::planes(PixelFormat::Nv12, 30, 4).unwrap().nth(1).unwrap();
        let plane = BorrowedPlane {
            fd: file.as_fd(),
            offset,
            stride,
        };
        rows(1, &layout, &plane, bytes)
    }

    #[test]
    fn rows_must_be_inside() {
        check(32, 100, 162).unwrap();
        let short = check(32, 100, 161);
        assert!(matches!(
            short,
            Err(ImportError::Short {
                end: 162,
                size: 161,
                ..
            })
        ));
        assert!(matches!(
            check(u32::MAX - 1, u32::MAX - 1, 1 << 20),
            Err(ImportError::Short { .. })
        ));
    }

    #[test]
    fn rows_must_be_whole_pixels() {
        for (stride, offset) in [(28, 100), (33, 100), (32, 101)] {
            assert!(matches!(
                check(stride, offset, 1 << 20),
                Err(ImportError::Stride { row: 30, .. })
            ));
        }
    }
}
