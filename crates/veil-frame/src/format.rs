//! Pixel formats, described by where each component's bits are.
//!
//! The description is complete: a reader that follows it can read any format here, and the fast paths are only faster.

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

/// Where the samples of one component are: in a plane's row, sample `i` is in the little-endian word of `word` bytes at
/// byte `offset + i · step`; shifted right by `shift` its lowest `bits` bits are the sample.
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
    /// Bits of the sample, 5 to 16.
    pub bits: u8,
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

const fn c(plane: u8, offset: u8, step: u8) -> Component {
    Component {
        plane,
        offset,
        step,
        word: 1,
        shift: 0,
        bits: 8,
    }
}

const fn w(plane: u8, offset: u8, step: u8, shift: u8, bits: u8) -> Component {
    Component {
        plane,
        offset,
        step,
        word: 2,
        shift,
        bits,
    }
}

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $fourcc:expr, $model:ident, $planes:literal, ($sw:literal, $sh:literal), [$($comp:expr),+];)+) => {
        /// A way to store a picture. The names are GStreamer's, in Rust's spelling.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PixelFormat {
            $($(#[$doc])* $variant,)+
        }

        impl PixelFormat {
            /// Every format that veil reads, cheapest to convert first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What is known of it.
            pub const fn info(self) -> &'static FormatInfo {
                match self {
                    $(Self::$variant => {
                        const INFO: FormatInfo = FormatInfo {
                            name: $name, fourcc: $fourcc, model: Model::$model, planes: $planes,
                            components: &[$($comp),+], sub_w: $sw, sub_h: $sh,
                        };
                        &INFO
                    })+
                }
            }
        }
    };
}

formats! {
    /// 8-bit 4:2:0, CbCr interleaved.
    Nv12 = "NV12", Some(DrmFourcc::Nv12), Yuv, 2, (1, 1), [c(0, 0, 1), c(1, 0, 2), c(1, 1, 2)];
    /// 8-bit 4:2:0, three planes.
    I420 = "I420", Some(DrmFourcc::Yuv420), Yuv, 3, (1, 1), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit 4:2:0, three planes, Cr before Cb.
    Yv12 = "YV12", Some(DrmFourcc::Yvu420), Yuv, 3, (1, 1), [c(0, 0, 1), c(2, 0, 1), c(1, 0, 1)];
    /// 8-bit 4:2:0, CrCb interleaved.
    Nv21 = "NV21", Some(DrmFourcc::Nv21), Yuv, 2, (1, 1), [c(0, 0, 1), c(1, 1, 2), c(1, 0, 2)];
    /// 10-bit 4:2:0 in the high bits of 16, CbCr interleaved.
    P010 = "P010_10LE", Some(DrmFourcc::P010), Yuv, 2, (1, 1), [w(0, 0, 2, 6, 10), w(1, 0, 4, 6, 10), w(1, 2, 4, 6, 10)];
    /// 10-bit 4:2:0 in the low bits of 16, three planes.
    I42010 = "I420_10LE", None, Yuv, 3, (1, 1), [w(0, 0, 2, 0, 10), w(1, 0, 2, 0, 10), w(2, 0, 2, 0, 10)];
    /// 8-bit 4:2:2, three planes.
    Y42b = "Y42B", Some(DrmFourcc::Yuv422), Yuv, 3, (1, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit 4:4:4, three planes.
    Y444 = "Y444", Some(DrmFourcc::Yuv444), Yuv, 3, (0, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 12-bit 4:2:0 in the high bits of 16, CbCr interleaved.
    P012 = "P012_LE", Some(DrmFourcc::P012), Yuv, 2, (1, 1), [w(0, 0, 2, 4, 12), w(1, 0, 4, 4, 12), w(1, 2, 4, 4, 12)];
    /// 12-bit 4:2:0 in the low bits of 16, three planes.
    I42012 = "I420_12LE", None, Yuv, 3, (1, 1), [w(0, 0, 2, 0, 12), w(1, 0, 2, 0, 12), w(2, 0, 2, 0, 12)];
    /// 10-bit 4:2:2 in the low bits of 16, three planes.
    I42210 = "I422_10LE", None, Yuv, 3, (1, 0), [w(0, 0, 2, 0, 10), w(1, 0, 2, 0, 10), w(2, 0, 2, 0, 10)];
    /// 12-bit 4:2:2 in the low bits of 16, three planes.
    I42212 = "I422_12LE", None, Yuv, 3, (1, 0), [w(0, 0, 2, 0, 12), w(1, 0, 2, 0, 12), w(2, 0, 2, 0, 12)];
    /// 10-bit 4:4:4 in the low bits of 16, three planes.
    Y44410 = "Y444_10LE", None, Yuv, 3, (0, 0), [w(0, 0, 2, 0, 10), w(1, 0, 2, 0, 10), w(2, 0, 2, 0, 10)];
    /// 12-bit 4:4:4 in the low bits of 16, three planes.
    Y44412 = "Y444_12LE", None, Yuv, 3, (0, 0), [w(0, 0, 2, 0, 12), w(1, 0, 2, 0, 12), w(2, 0, 2, 0, 12)];
    /// 8-bit 4:2:2 packed, Y first.
    Yuy2 = "YUY2", Some(DrmFourcc::Yuyv), Yuv, 1, (1, 0), [c(0, 0, 2), c(0, 1, 4), c(0, 3, 4)];
    /// 8-bit 4:2:2 packed, Cb first.
    Uyvy = "UYVY", Some(DrmFourcc::Uyvy), Yuv, 1, (1, 0), [c(0, 1, 2), c(0, 0, 4), c(0, 2, 4)];
    /// 8-bit 4:2:0 with an alpha plane.
    A420 = "A420", None, Yuv, 4, (1, 1), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1), c(3, 0, 1)];
    /// 8-bit luma.
    Gray8 = "GRAY8", Some(DrmFourcc::R8), Gray, 1, (0, 0), [c(0, 0, 1)];
    /// 16-bit luma.
    Gray16Le = "GRAY16_LE", None, Gray, 1, (0, 0), [w(0, 0, 2, 0, 16)];
    /// Bytes B, G, R, unused.
    Bgrx = "BGRx", Some(DrmFourcc::Xrgb8888), Rgb, 1, (0, 0), [c(0, 2, 4), c(0, 1, 4), c(0, 0, 4)];
    /// Bytes R, G, B, unused.
    Rgbx = "RGBx", Some(DrmFourcc::Xbgr8888), Rgb, 1, (0, 0), [c(0, 0, 4), c(0, 1, 4), c(0, 2, 4)];
    /// Bytes unused, R, G, B.
    Xrgb = "xRGB", Some(DrmFourcc::Bgrx8888), Rgb, 1, (0, 0), [c(0, 1, 4), c(0, 2, 4), c(0, 3, 4)];
    /// Bytes unused, B, G, R.
    Xbgr = "xBGR", Some(DrmFourcc::Rgbx8888), Rgb, 1, (0, 0), [c(0, 3, 4), c(0, 2, 4), c(0, 1, 4)];
    /// Bytes B, G, R, alpha (not premultiplied).
    Bgra = "BGRA", Some(DrmFourcc::Argb8888), Rgb, 1, (0, 0), [c(0, 2, 4), c(0, 1, 4), c(0, 0, 4), c(0, 3, 4)];
    /// Bytes R, G, B, alpha (not premultiplied).
    Rgba = "RGBA", Some(DrmFourcc::Abgr8888), Rgb, 1, (0, 0), [c(0, 0, 4), c(0, 1, 4), c(0, 2, 4), c(0, 3, 4)];
    /// Bytes alpha (not premultiplied), R, G, B.
    Argb = "ARGB", Some(DrmFourcc::Bgra8888), Rgb, 1, (0, 0), [c(0, 1, 4), c(0, 2, 4), c(0, 3, 4), c(0, 0, 4)];
    /// Bytes alpha (not premultiplied), B, G, R.
    Abgr = "ABGR", Some(DrmFourcc::Rgba8888), Rgb, 1, (0, 0), [c(0, 3, 4), c(0, 2, 4), c(0, 1, 4), c(0, 0, 4)];
    /// Bytes R, G, B.
    Rgb = "RGB", Some(DrmFourcc::Bgr888), Rgb, 1, (0, 0), [c(0, 0, 3), c(0, 1, 3), c(0, 2, 3)];
    /// Bytes B, G, R.
    Bgr = "BGR", Some(DrmFourcc::Rgb888), Rgb, 1, (0, 0), [c(0, 2, 3), c(0, 1, 3), c(0, 0, 3)];
    /// 5-6-5 bits, red in the high ones.
    Rgb16 = "RGB16", Some(DrmFourcc::Rgb565), Rgb, 1, (0, 0), [w(0, 0, 2, 11, 5), w(0, 0, 2, 5, 6), w(0, 0, 2, 0, 5)];
    /// 5-6-5 bits, blue in the high ones.
    Bgr16 = "BGR16", Some(DrmFourcc::Bgr565), Rgb, 1, (0, 0), [w(0, 0, 2, 0, 5), w(0, 0, 2, 5, 6), w(0, 0, 2, 11, 5)];
    /// 8-bit planes G, B, R.
    Gbr = "GBR", None, Rgb, 3, (0, 0), [c(2, 0, 1), c(0, 0, 1), c(1, 0, 1)];
    /// 8-bit planes G, B, R, alpha (not premultiplied).
    Gbra = "GBRA", None, Rgb, 4, (0, 0), [c(2, 0, 1), c(0, 0, 1), c(1, 0, 1), c(3, 0, 1)];
    /// 10-bit planes G, B, R.
    Gbr10 = "GBR_10LE", None, Rgb, 3, (0, 0), [w(2, 0, 2, 0, 10), w(0, 0, 2, 0, 10), w(1, 0, 2, 0, 10)];
}

impl PixelFormat {
    /// The format with this GStreamer name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.info().name == name)
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
