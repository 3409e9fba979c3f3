//! What memory a picture of one of GStreamer's formats has.

use gstreamer_video as gst_video;

use gst_video::{VideoFormat, VideoFormatFlags, VideoFormatInfo, VideoInfo, VideoTileMode};
use veil_frame::Size;

/// Entries of a palette, four bytes each.
const PALETTE: usize = 256;

/// Why a picture cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    /// GStreamer has no layout for this size.
    #[error("GStreamer has no layout for {0} pixels")]
    Size(Size),
    /// Rows, or tiles, are fewer than the picture has.
    #[error("plane {plane} has a stride of {stride}, which is too small")]
    Stride {
        /// Its number.
        plane: usize,
        /// As told; of tiled formats, GStreamer's number for columns and rows of tiles.
        stride: usize,
    },
    /// A plane is shorter than its rows, or larger than what GStreamer counts in.
    #[error("plane {plane} has {have} bytes of {need}")]
    Short {
        /// Its number.
        plane: usize,
        /// Bytes there are, or may be.
        have: usize,
        /// Bytes needed.
        need: usize,
    },
}

/// A plane of a picture of some format and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Rows of so many bytes, padding included that GStreamer gives them; each serves `1 << sub` rows of the picture.
    Rows {
        /// Bytes of a row.
        bytes: usize,
        /// How many there are.
        count: usize,
        /// See above.
        sub: u32,
    },
    /// Entries of a palette, not rows.
    Palette,
    /// Tiles.
    Tiles {
        /// How many there are at least in a row, and how many rows.
        least: (usize, usize),
        /// Bytes of one.
        bytes: usize,
        /// Whether they come in groups of two by two.
        pairs: bool,
    },
}

impl Shape {
    /// Plane `plane` of such a picture.
    pub(crate) fn new(format: VideoFormat, size: Size, plane: usize) -> Result<Self, ReadError> {
        let unknown = ReadError::Size(size);
        let usual = VideoInfo::builder(format, size.w, size.h)
            .build()
            .map_err(|_| unknown)?;
        let info = VideoFormatInfo::from_format(format);
        let stride = usual.stride().get(plane).copied().unwrap_or(0);
        let stride = usize::try_from(stride)
            .ok()
            .filter(|&stride| stride > 0)
            .ok_or(unknown)?;
        if info.is_tiled() {
            let start = usual.offset()[plane];
            let end = usual.offset().get(plane + 1).copied().unwrap_or(usual.size());
            let (columns, rows) = tiles(stride);
            let count = columns * rows;
            return match end.checked_sub(start) {
                Some(bytes) if count > 0 => Ok(Self::Tiles {
                    least: (columns, rows),
                    bytes: bytes.div_ceil(count),
                    pairs: info.tile_mode() == VideoTileMode::Zflipz2x2,
                }),
                _ => Err(unknown),
            };
        }
        if info.flags().contains(VideoFormatFlags::PALETTE) && plane == 1 {
            return Ok(Self::Palette);
        }
        let components = info.plane().iter().zip(info.h_sub());
        let of_plane = components.filter(|&(&at, _)| at as usize == plane);
        // A plane that no component is said to lie in is as large as any.
        let sub = of_plane.map(|(_, &sub)| sub).min().unwrap_or(0);
        Ok(Self::Rows {
            bytes: stride,
            count: size.h.div_ceil(1 << sub) as usize,
            sub,
        })
    }

    /// Bytes that it has, or must have at least, with such a stride. `plane` is for the error.
    pub(crate) fn bytes(self, stride: usize, plane: usize) -> Result<usize, ReadError> {
        let need = match self {
            Self::Rows { bytes, count, .. } => {
                if stride < bytes {
                    return Err(ReadError::Stride { plane, stride });
                }
                stride.saturating_mul(count - 1).saturating_add(bytes)
            }
            Self::Palette => 4 * PALETTE,
            Self::Tiles { least, bytes, pairs } => {
                let (columns, rows) = tiles(stride);
                if columns < least.0 || rows < least.1 || pairs && columns % 2 > 0 {
                    return Err(ReadError::Stride { plane, stride });
                }
                (columns * rows).saturating_mul(bytes)
            }
        };
        // GStreamer computes places in planes in this type.
        match i32::try_from(need) {
            Ok(_) => Ok(need),
            Err(_) => Err(ReadError::Short {
                plane,
                have: i32::MAX as usize,
                need,
            }),
        }
    }
}

/// Columns and rows of tiles by the stride of a tiled format, which says that instead of bytes.
fn tiles(stride: usize) -> (usize, usize) {
    (stride & 0xffff, (stride >> 16) & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gstreamer as gst;

    fn shape(name: &str, plane: usize) -> Shape {
        gst::init().unwrap();
        Shape::new(VideoFormat::from_string(name), Size::new(65, 35), plane).unwrap()
    }

    #[test]
    fn rows_tiles_and_palettes() {
        // 11 groups of 6 pixels in 16 bytes, and whole groups of 48 pixels.
        let v210 = shape("v210", 0);
        assert_eq!(
            v210,
            Shape::Rows {
                bytes: 256,
                count: 35,
                sub: 0
            }
        );
        assert_eq!(v210.bytes(256, 0), Ok(35 * 256));
        assert_eq!(v210.bytes(300, 0), Ok(34 * 300 + 256));
        assert_eq!(
            v210.bytes(255, 0),
            Err(ReadError::Stride {
                plane: 0,
                stride: 255
            })
        );
        assert!(matches!(v210.bytes(1 << 30, 0), Err(ReadError::Short { .. })));
        assert!(matches!(
            shape("NV12_10LE32", 1),
            Shape::Rows {
                count: 18,
                sub: 1,
                ..
            }
        ));
        assert_eq!(shape("RGB8P", 1).bytes(4, 1), Ok(1024));
        let tiled = shape("NV12_64Z32", 0);
        assert_eq!(
            tiled,
            Shape::Tiles {
                least: (2, 2),
                bytes: 2048,
                pairs: true
            }
        );
        assert_eq!(tiled.bytes(2 << 16 | 4, 0), Ok(8 * 2048));
        for few in [2 << 16 | 1, 1 << 16 | 2, 2 << 16 | 3, 65] {
            assert!(
                matches!(tiled.bytes(few, 0), Err(ReadError::Stride { .. })),
                "{few:x}"
            );
        }
    }
}
