//! Pixel formats, described by where each component's bits are.
//!
//! The description is complete: a reader that follows it can read any format here, and the fast paths are only faster.

mod layout;
mod table;

pub use table::PixelFormat;

use drm_fourcc::DrmFourcc;

/// What a format's first three components are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// Y, Cb, Cr.
    Yuv,
    /// R, G, B.
    Rgb,
    /// Y alone.
    Gray,
}

/// Where the samples of one component are: in a plane's row, sample `i` is in the word of `word` bytes at byte
/// `offset + i · step`; shifted right by `shift` its lowest `bits` bits are the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component {
    /// Index of the plane.
    pub plane: u8,
    /// Byte of the first sample's word in a row.
    pub offset: u8,
    /// Bytes from a sample's word to the next one's.
    pub step: u8,
    /// Bytes of the word: 1, 2 or 4.
    pub word: u8,
    /// Bits below the sample in the word.
    pub shift: u8,
    /// Bits of the sample: 5 to 16, of alpha 2 to 16.
    pub bits: u8,
    /// Whether the word's first byte is its most significant one.
    pub big_endian: bool,
}

/// What is known of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// GStreamer's name.
    pub name: &'static str,
    /// The same memory as a DRM format; `None` where DRM has none.
    pub fourcc: Option<DrmFourcc>,
    /// What the components are.
    pub model: Model,
    /// Number of planes, 1 to 4.
    pub planes: u8,
    /// Components in the order of `model`, then alpha where there is one.
    pub components: &'static [Component],
    /// Chroma columns are luma columns divided by `1 << sub_w`, rounded up.
    pub sub_w: u8,
    /// Chroma rows are luma rows divided by `1 << sub_h`, rounded up.
    pub sub_h: u8,
}

impl PixelFormat {
    /// The format with this GStreamer name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.info().name == name)
    }

    /// The format of pixels that a DRM format stands for.
    pub fn from_fourcc(code: DrmFourcc) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.info().fourcc == Some(code))
    }

    /// Whether it carries alpha.
    pub const fn has_alpha(self) -> bool {
        let info = self.info();
        let colors = if matches!(info.model, Model::Gray) { 1 } else { 3 };
        info.components.len() > colors
    }
}

impl FormatInfo {
    /// Columns and rows of the samples of component `index` in a picture of `width` by `height`.
    pub const fn component_size(&self, index: usize, width: u32, height: u32) -> (u32, u32) {
        if self.is_chroma(index) {
            (width.div_ceil(1 << self.sub_w), height.div_ceil(1 << self.sub_h))
        } else {
            (width, height)
        }
    }

    /// Whether component `index` is Cb or Cr.
    pub const fn is_chroma(&self, index: usize) -> bool {
        matches!(self.model, Model::Yuv) && (index == 1 || index == 2)
    }

    /// Rows of plane `plane` in a picture of `height` rows.
    pub fn plane_rows(&self, plane: usize, height: u32) -> u32 {
        (0..self.components.len())
            .filter(|&i| usize::from(self.components[i].plane) == plane)
            .map(|i| self.component_size(i, 0, height).1)
            .max()
            .unwrap_or(0)
    }

    /// Bytes that a row of plane `plane` needs at least in a picture of `width` columns.
    pub fn plane_row_bytes(&self, plane: usize, width: u32) -> usize {
        (0..self.components.len())
            .filter(|&i| usize::from(self.components[i].plane) == plane)
            .map(|i| {
                // Whole pixels, with bytes that no component uses.
                let columns = self.component_size(i, width, 0).0 as usize;
                columns * usize::from(self.components[i].step)
            })
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_sound() {
        for &format in PixelFormat::ALL {
            let info = format.info();
            assert_eq!(PixelFormat::from_name(info.name), Some(format));
            let colors = if info.model == Model::Gray { 1 } else { 3 };
            assert!(
                info.components.len() == colors || info.components.len() == colors + 1,
                "{format:?}"
            );
            for comp in info.components {
                assert!(
                    comp.plane < info.planes && comp.word * 8 >= comp.shift + comp.bits,
                    "{format:?}"
                );
            }
            let twins = |other: &&PixelFormat| info.fourcc.is_some() && other.info().fourcc == info.fourcc;
            assert_eq!(PixelFormat::ALL.iter().find(twins).unwrap_or(&format), &format);
            assert_eq!(
                info.fourcc.and_then(PixelFormat::from_fourcc),
                info.fourcc.map(|_| format)
            );
            for plane in 0..usize::from(info.planes) {
                assert!(
                    info.plane_row_bytes(plane, 1) > 0 && info.plane_rows(plane, 1) == 1,
                    "{format:?}"
                );
            }
        }
    }

    #[test]
    fn odd_sizes_round_chroma_up() {
        let nv12 = PixelFormat::Nv12.info();
        assert_eq!(nv12.component_size(1, 1367, 769), (684, 385));
        assert_eq!(nv12.plane_row_bytes(1, 1367), 1368);
        assert_eq!(nv12.plane_rows(1, 769), 385);
        assert_eq!(PixelFormat::Yuy2.info().plane_row_bytes(0, 3), 8);
        assert_eq!(PixelFormat::Rgb.info().plane_row_bytes(0, 3), 9);
        assert_eq!(PixelFormat::Bgrx.info().plane_row_bytes(0, 3), 12);
    }
}
