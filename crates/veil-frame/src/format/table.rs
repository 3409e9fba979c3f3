//! The formats, with where each component's bits are.
//!
//! GStreamer's `video-format.c` defines what its names mean; a test of the sink compares every row here with what
//! GStreamer itself reads.

use super::{FormatInfo, Model, layout::*};
use drm_fourcc::DrmFourcc;

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $fourcc:expr, $model:ident, $planes:literal, ($sw:literal, $sh:literal), $components:expr;)+) => {
        /// A way to store a picture. The names are GStreamer's, in Rust's spelling; words are little-endian where the
        /// name does not end in `Be`.
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
                            components: &$components, sub_w: $sw, sub_h: $sh,
                        };
                        &INFO
                    })+
                }
            }
        }
    };
}

formats! {
    // The usual ones, cheapest first.
    /// 8-bit 4:2:0, CbCr interleaved.
    Nv12 = "NV12", Some(DrmFourcc::Nv12), Yuv, 2, (1, 1), [c(0, 0, 1), c(1, 0, 2), c(1, 1, 2)];
    /// 8-bit 4:2:0, three planes.
    I420 = "I420", Some(DrmFourcc::Yuv420), Yuv, 3, (1, 1), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit 4:2:0, three planes, Cr before Cb.
    Yv12 = "YV12", Some(DrmFourcc::Yvu420), Yuv, 3, (1, 1), [c(0, 0, 1), c(2, 0, 1), c(1, 0, 1)];
    /// 8-bit 4:2:0, CrCb interleaved.
    Nv21 = "NV21", Some(DrmFourcc::Nv21), Yuv, 2, (1, 1), [c(0, 0, 1), c(1, 1, 2), c(1, 0, 2)];
    /// 10-bit 4:2:0 in the high bits of 16, CbCr interleaved.
    P010 = "P010_10LE", Some(DrmFourcc::P010), Yuv, 2, (1, 1), semi(6, 10);
    /// 10-bit 4:2:0 in the low bits of 16, three planes.
    I42010 = "I420_10LE", None, Yuv, 3, (1, 1), planar(10);
    /// 8-bit 4:2:2, three planes.
    Y42b = "Y42B", Some(DrmFourcc::Yuv422), Yuv, 3, (1, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit 4:2:2, CbCr interleaved.
    Nv16 = "NV16", Some(DrmFourcc::Nv16), Yuv, 2, (1, 0), [c(0, 0, 1), c(1, 0, 2), c(1, 1, 2)];
    /// 8-bit 4:2:2, CrCb interleaved.
    Nv61 = "NV61", Some(DrmFourcc::Nv61), Yuv, 2, (1, 0), [c(0, 0, 1), c(1, 1, 2), c(1, 0, 2)];
    /// 8-bit 4:4:4, three planes.
    Y444 = "Y444", Some(DrmFourcc::Yuv444), Yuv, 3, (0, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit 4:4:4, CbCr interleaved.
    Nv24 = "NV24", Some(DrmFourcc::Nv24), Yuv, 2, (0, 0), [c(0, 0, 1), c(1, 0, 2), c(1, 1, 2)];
    /// 12-bit 4:2:0 in the high bits of 16, CbCr interleaved.
    P012 = "P012_LE", Some(DrmFourcc::P012), Yuv, 2, (1, 1), semi(4, 12);
    /// 16-bit 4:2:0, CbCr interleaved.
    P016 = "P016_LE", Some(DrmFourcc::P016), Yuv, 2, (1, 1), semi(0, 16);
    /// 12-bit 4:2:0 in the low bits of 16, three planes.
    I42012 = "I420_12LE", None, Yuv, 3, (1, 1), planar(12);
    /// 10-bit 4:2:2 in the low bits of 16, three planes.
    I42210 = "I422_10LE", None, Yuv, 3, (1, 0), planar(10);
    /// 12-bit 4:2:2 in the low bits of 16, three planes.
    I42212 = "I422_12LE", None, Yuv, 3, (1, 0), planar(12);
    /// 10-bit 4:4:4 in the low bits of 16, three planes.
    Y44410 = "Y444_10LE", None, Yuv, 3, (0, 0), planar(10);
    /// 12-bit 4:4:4 in the low bits of 16, three planes.
    Y44412 = "Y444_12LE", None, Yuv, 3, (0, 0), planar(12);
    /// 16-bit 4:4:4, three planes.
    Y44416 = "Y444_16LE", None, Yuv, 3, (0, 0), planar(16);
    /// 8-bit 4:2:2 packed, Y first, then Cb.
    Yuy2 = "YUY2", Some(DrmFourcc::Yuyv), Yuv, 1, (1, 0), [c(0, 0, 2), c(0, 1, 4), c(0, 3, 4)];
    /// 8-bit 4:2:2 packed, Cb first.
    Uyvy = "UYVY", Some(DrmFourcc::Uyvy), Yuv, 1, (1, 0), [c(0, 1, 2), c(0, 0, 4), c(0, 2, 4)];
    /// 8-bit 4:2:2 packed, Y first, then Cr.
    Yvyu = "YVYU", Some(DrmFourcc::Yvyu), Yuv, 1, (1, 0), [c(0, 0, 2), c(0, 3, 4), c(0, 1, 4)];
    /// 8-bit 4:2:2 packed, Cr first.
    Vyuy = "VYUY", Some(DrmFourcc::Vyuy), Yuv, 1, (1, 0), [c(0, 1, 2), c(0, 2, 4), c(0, 0, 4)];
    /// 8-bit 4:1:1, three planes.
    Y41b = "Y41B", Some(DrmFourcc::Yuv411), Yuv, 3, (2, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit, a chroma sample for 4 by 4 pixels, three planes.
    Yuv9 = "YUV9", Some(DrmFourcc::Yuv410), Yuv, 3, (2, 2), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit, a chroma sample for 4 by 4 pixels, three planes, Cr before Cb.
    Yvu9 = "YVU9", Some(DrmFourcc::Yvu410), Yuv, 3, (2, 2), [c(0, 0, 1), c(2, 0, 1), c(1, 0, 1)];
    /// Bytes Y, Cb, Cr.
    V308 = "v308", None, Yuv, 1, (0, 0), [c(0, 0, 3), c(0, 1, 3), c(0, 2, 3)];
    /// Bytes Cb, Y, Cr.
    Iyu2 = "IYU2", None, Yuv, 1, (0, 0), [c(0, 1, 3), c(0, 0, 3), c(0, 2, 3)];
    /// 10-bit 4:2:2 packed in the high bits of 16, Y first, then Cb.
    Y210 = "Y210", Some(DrmFourcc::Y210), Yuv, 1, (1, 0), yuyv(6, 10);
    /// 12-bit 4:2:2 packed in the high bits of 16, Y first, then Cb.
    Y212 = "Y212_LE", Some(DrmFourcc::Y212), Yuv, 1, (1, 0), yuyv(4, 12);
    /// 16-bit 4:2:2 packed, Y first, then Cb.
    Y216 = "Y216_LE", Some(DrmFourcc::Y216), Yuv, 1, (1, 0), yuyv(0, 16);
    /// 16-bit 4:2:2 packed, Cb first.
    V216 = "v216", None, Yuv, 1, (1, 0), [w(0, 2, 4, 0, 16), w(0, 0, 8, 0, 16), w(0, 4, 8, 0, 16)];

    // Grey.
    /// 8-bit luma.
    Gray8 = "GRAY8", Some(DrmFourcc::R8), Gray, 1, (0, 0), [c(0, 0, 1)];
    /// 10-bit luma in the low bits of 16.
    Gray10 = "GRAY10_LE16", None, Gray, 1, (0, 0), [w(0, 0, 2, 0, 10)];
    /// 16-bit luma.
    Gray16Le = "GRAY16_LE", None, Gray, 1, (0, 0), [w(0, 0, 2, 0, 16)];

    // RGB.
    /// Bytes B, G, R, unused.
    Bgrx = "BGRx", Some(DrmFourcc::Xrgb8888), Rgb, 1, (0, 0), [c(0, 2, 4), c(0, 1, 4), c(0, 0, 4)];
    /// Bytes R, G, B, unused.
    Rgbx = "RGBx", Some(DrmFourcc::Xbgr8888), Rgb, 1, (0, 0), [c(0, 0, 4), c(0, 1, 4), c(0, 2, 4)];
    /// Bytes unused, R, G, B.
    Xrgb = "xRGB", Some(DrmFourcc::Bgrx8888), Rgb, 1, (0, 0), [c(0, 1, 4), c(0, 2, 4), c(0, 3, 4)];
    /// Bytes unused, B, G, R.
    Xbgr = "xBGR", Some(DrmFourcc::Rgbx8888), Rgb, 1, (0, 0), [c(0, 3, 4), c(0, 2, 4), c(0, 1, 4)];
    /// Bytes R, G, B.
    Rgb = "RGB", Some(DrmFourcc::Bgr888), Rgb, 1, (0, 0), [c(0, 0, 3), c(0, 1, 3), c(0, 2, 3)];
    /// Bytes B, G, R.
    Bgr = "BGR", Some(DrmFourcc::Rgb888), Rgb, 1, (0, 0), [c(0, 2, 3), c(0, 1, 3), c(0, 0, 3)];
    /// 5-6-5 bits, red in the high ones.
    Rgb16 = "RGB16", Some(DrmFourcc::Rgb565), Rgb, 1, (0, 0), [w(0, 0, 2, 11, 5), w(0, 0, 2, 5, 6), w(0, 0, 2, 0, 5)];
    /// 5-6-5 bits, blue in the high ones.
    Bgr16 = "BGR16", Some(DrmFourcc::Bgr565), Rgb, 1, (0, 0), [w(0, 0, 2, 0, 5), w(0, 0, 2, 5, 6), w(0, 0, 2, 11, 5)];
    /// 5-5-5 bits, red in the high ones, the topmost unused.
    Rgb15 = "RGB15", Some(DrmFourcc::Xrgb1555), Rgb, 1, (0, 0), [w(0, 0, 2, 10, 5), w(0, 0, 2, 5, 5), w(0, 0, 2, 0, 5)];
    /// 5-5-5 bits, blue in the high ones, the topmost unused.
    Bgr15 = "BGR15", Some(DrmFourcc::Xbgr1555), Rgb, 1, (0, 0), [w(0, 0, 2, 0, 5), w(0, 0, 2, 5, 5), w(0, 0, 2, 10, 5)];
    /// 8-bit planes G, B, R.
    Gbr = "GBR", None, Rgb, 3, (0, 0), [c(2, 0, 1), c(0, 0, 1), c(1, 0, 1)];
    /// 8-bit planes R, G, B.
    Rgbp = "RGBP", None, Rgb, 3, (0, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1)];
    /// 8-bit planes B, G, R.
    Bgrp = "BGRP", None, Rgb, 3, (0, 0), [c(2, 0, 1), c(1, 0, 1), c(0, 0, 1)];
    /// 10-bit planes G, B, R in the low bits of 16.
    Gbr10 = "GBR_10LE", None, Rgb, 3, (0, 0), gbr(10);
    /// 12-bit planes G, B, R in the low bits of 16.
    Gbr12 = "GBR_12LE", None, Rgb, 3, (0, 0), gbr(12);
    /// 16-bit planes G, B, R.
    Gbr16 = "GBR_16LE", None, Rgb, 3, (0, 0), gbr(16);
    /// 10 bits a colour in 32, red in the low ones, the topmost two unused.
    Rgb10x2 = "RGB10x2_LE", Some(DrmFourcc::Xbgr2101010), Rgb, 1, (0, 0), [d(0, 10), d(10, 10), d(20, 10)];
    /// 10 bits a colour in 32, blue in the low ones, the topmost two unused.
    Bgr10x2 = "BGR10x2_LE", Some(DrmFourcc::Xrgb2101010), Rgb, 1, (0, 0), [d(20, 10), d(10, 10), d(0, 10)];
    /// 10 bits a colour in 32, big-endian, blue in the low ones, the topmost two unused.
    R210 = "r210", None, Rgb, 1, (0, 0), be([d(20, 10), d(10, 10), d(0, 10)]);

    // With alpha, which is never premultiplied.
    /// 8-bit 4:2:0 with an alpha plane.
    A420 = "A420", None, Yuv, 4, (1, 1), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1), c(3, 0, 1)];
    /// 8-bit 4:2:0, CbCr interleaved, with an alpha plane.
    Av12 = "AV12", None, Yuv, 3, (1, 1), [c(0, 0, 1), c(1, 0, 2), c(1, 1, 2), c(2, 0, 1)];
    /// 8-bit 4:2:2 with an alpha plane.
    A422 = "A422", None, Yuv, 4, (1, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1), c(3, 0, 1)];
    /// 8-bit 4:4:4 with an alpha plane.
    A444 = "A444", None, Yuv, 4, (0, 0), [c(0, 0, 1), c(1, 0, 1), c(2, 0, 1), c(3, 0, 1)];
    /// 10-bit 4:2:0 with an alpha plane, in the low bits of 16.
    A42010 = "A420_10LE", None, Yuv, 4, (1, 1), planar_alpha(10);
    /// 10-bit 4:2:2 with an alpha plane, in the low bits of 16.
    A42210 = "A422_10LE", None, Yuv, 4, (1, 0), planar_alpha(10);
    /// 10-bit 4:4:4 with an alpha plane, in the low bits of 16.
    A44410 = "A444_10LE", None, Yuv, 4, (0, 0), planar_alpha(10);
    /// 12-bit 4:2:0 with an alpha plane, in the low bits of 16.
    A42012 = "A420_12LE", None, Yuv, 4, (1, 1), planar_alpha(12);
    /// 12-bit 4:2:2 with an alpha plane, in the low bits of 16.
    A42212 = "A422_12LE", None, Yuv, 4, (1, 0), planar_alpha(12);
    /// 12-bit 4:4:4 with an alpha plane, in the low bits of 16.
    A44412 = "A444_12LE", None, Yuv, 4, (0, 0), planar_alpha(12);
    /// 16-bit 4:2:0 with an alpha plane.
    A42016 = "A420_16LE", None, Yuv, 4, (1, 1), planar_alpha(16);
    /// 16-bit 4:2:2 with an alpha plane.
    A42216 = "A422_16LE", None, Yuv, 4, (1, 0), planar_alpha(16);
    /// 16-bit 4:4:4 with an alpha plane.
    A44416 = "A444_16LE", None, Yuv, 4, (0, 0), planar_alpha(16);
    /// Bytes alpha, Y, Cb, Cr.
    Ayuv = "AYUV", None, Yuv, 1, (0, 0), [c(0, 1, 4), c(0, 2, 4), c(0, 3, 4), c(0, 0, 4)];
    /// Bytes Cr, Cb, Y, alpha.
    Vuya = "VUYA", Some(DrmFourcc::Ayuv), Yuv, 1, (0, 0), [c(0, 2, 4), c(0, 1, 4), c(0, 0, 4), c(0, 3, 4)];
    /// 10-bit 4:4:4 in 32 bits, Cb in the low ones, then Y, Cr and two bits of alpha.
    Y410 = "Y410", Some(DrmFourcc::Y410), Yuv, 1, (0, 0), [d(10, 10), d(0, 10), d(20, 10), d(30, 2)];
    /// 12 bits in the high ones of 16, Cb, Y, Cr, alpha.
    Y412 = "Y412_LE", Some(DrmFourcc::Y412), Yuv, 1, (0, 0), uyva(4, 12);
    /// 16 bits each, Cb, Y, Cr, alpha.
    Y416 = "Y416_LE", Some(DrmFourcc::Y416), Yuv, 1, (0, 0), uyva(0, 16);
    /// 16 bits each, alpha, Y, Cb, Cr, in the machine's order of bytes.
    Ayuv64 = "AYUV64", None, Yuv, 1, (0, 0), native(four([1, 2, 3, 0]));
    /// Bytes B, G, R, alpha.
    Bgra = "BGRA", Some(DrmFourcc::Argb8888), Rgb, 1, (0, 0), [c(0, 2, 4), c(0, 1, 4), c(0, 0, 4), c(0, 3, 4)];
    /// Bytes R, G, B, alpha.
    Rgba = "RGBA", Some(DrmFourcc::Abgr8888), Rgb, 1, (0, 0), [c(0, 0, 4), c(0, 1, 4), c(0, 2, 4), c(0, 3, 4)];
    /// Bytes alpha, R, G, B.
    Argb = "ARGB", Some(DrmFourcc::Bgra8888), Rgb, 1, (0, 0), [c(0, 1, 4), c(0, 2, 4), c(0, 3, 4), c(0, 0, 4)];
    /// Bytes alpha, B, G, R.
    Abgr = "ABGR", Some(DrmFourcc::Rgba8888), Rgb, 1, (0, 0), [c(0, 3, 4), c(0, 2, 4), c(0, 1, 4), c(0, 0, 4)];
    /// Bytes R, B, G, alpha.
    Rbga = "RBGA", None, Rgb, 1, (0, 0), [c(0, 0, 4), c(0, 2, 4), c(0, 1, 4), c(0, 3, 4)];
    /// 8-bit planes G, B, R, alpha.
    Gbra = "GBRA", None, Rgb, 4, (0, 0), [c(2, 0, 1), c(0, 0, 1), c(1, 0, 1), c(3, 0, 1)];
    /// 10-bit planes G, B, R, alpha in the low bits of 16.
    Gbra10 = "GBRA_10LE", None, Rgb, 4, (0, 0), gbr_alpha(10);
    /// 12-bit planes G, B, R, alpha in the low bits of 16.
    Gbra12 = "GBRA_12LE", None, Rgb, 4, (0, 0), gbr_alpha(12);
    /// 10 bits a colour in 32, red in the low ones, and two bits of alpha.
    Rgb10a2 = "RGB10A2_LE", Some(DrmFourcc::Abgr2101010), Rgb, 1, (0, 0), [d(0, 10), d(10, 10), d(20, 10), d(30, 2)];
    /// 10 bits a colour in 32, blue in the low ones, and two bits of alpha.
    Bgr10a2 = "BGR10A2_LE", Some(DrmFourcc::Argb2101010), Rgb, 1, (0, 0), [d(20, 10), d(10, 10), d(0, 10), d(30, 2)];
    /// 16 bits each, alpha, R, G, B, in the machine's order of bytes.
    Argb64 = "ARGB64", None, Rgb, 1, (0, 0), native(four([1, 2, 3, 0]));
    /// 16 bits each, alpha, R, G, B.
    Argb64Le = "ARGB64_LE", None, Rgb, 1, (0, 0), four([1, 2, 3, 0]);
    /// 16 bits each, R, G, B, alpha.
    Rgba64Le = "RGBA64_LE", None, Rgb, 1, (0, 0), four([0, 1, 2, 3]);
    /// 16 bits each, B, G, R, alpha.
    Bgra64Le = "BGRA64_LE", None, Rgb, 1, (0, 0), four([2, 1, 0, 3]);
    /// 16 bits each, alpha, B, G, R.
    Abgr64Le = "ABGR64_LE", None, Rgb, 1, (0, 0), four([3, 2, 1, 0]);

    // Big-endian words, which take one more step.
    /// As [`Self::P010`].
    P010Be = "P010_10BE", None, Yuv, 2, (1, 1), be(semi(6, 10));
    /// As [`Self::I42010`].
    I42010Be = "I420_10BE", None, Yuv, 3, (1, 1), be(planar(10));
    /// As [`Self::P012`].
    P012Be = "P012_BE", None, Yuv, 2, (1, 1), be(semi(4, 12));
    /// As [`Self::P016`].
    P016Be = "P016_BE", None, Yuv, 2, (1, 1), be(semi(0, 16));
    /// As [`Self::I42012`].
    I42012Be = "I420_12BE", None, Yuv, 3, (1, 1), be(planar(12));
    /// As [`Self::I42210`].
    I42210Be = "I422_10BE", None, Yuv, 3, (1, 0), be(planar(10));
    /// As [`Self::I42212`].
    I42212Be = "I422_12BE", None, Yuv, 3, (1, 0), be(planar(12));
    /// As [`Self::Y44410`].
    Y44410Be = "Y444_10BE", None, Yuv, 3, (0, 0), be(planar(10));
    /// As [`Self::Y44412`].
    Y44412Be = "Y444_12BE", None, Yuv, 3, (0, 0), be(planar(12));
    /// As [`Self::Y44416`].
    Y44416Be = "Y444_16BE", None, Yuv, 3, (0, 0), be(planar(16));
    /// As [`Self::Y212`].
    Y212Be = "Y212_BE", None, Yuv, 1, (1, 0), be(yuyv(4, 12));
    /// As [`Self::Y216`].
    Y216Be = "Y216_BE", None, Yuv, 1, (1, 0), be(yuyv(0, 16));
    /// As [`Self::Gray16Le`].
    Gray16Be = "GRAY16_BE", None, Gray, 1, (0, 0), be([w(0, 0, 2, 0, 16)]);
    /// As [`Self::Gbr10`].
    Gbr10Be = "GBR_10BE", None, Rgb, 3, (0, 0), be(gbr(10));
    /// As [`Self::Gbr12`].
    Gbr12Be = "GBR_12BE", None, Rgb, 3, (0, 0), be(gbr(12));
    /// As [`Self::Gbr16`].
    Gbr16Be = "GBR_16BE", None, Rgb, 3, (0, 0), be(gbr(16));
    /// As [`Self::A42010`].
    A42010Be = "A420_10BE", None, Yuv, 4, (1, 1), be(planar_alpha(10));
    /// As [`Self::A42210`].
    A42210Be = "A422_10BE", None, Yuv, 4, (1, 0), be(planar_alpha(10));
    /// As [`Self::A44410`].
    A44410Be = "A444_10BE", None, Yuv, 4, (0, 0), be(planar_alpha(10));
    /// As [`Self::A42012`].
    A42012Be = "A420_12BE", None, Yuv, 4, (1, 1), be(planar_alpha(12));
    /// As [`Self::A42212`].
    A42212Be = "A422_12BE", None, Yuv, 4, (1, 0), be(planar_alpha(12));
    /// As [`Self::A44412`].
    A44412Be = "A444_12BE", None, Yuv, 4, (0, 0), be(planar_alpha(12));
    /// As [`Self::A42016`].
    A42016Be = "A420_16BE", None, Yuv, 4, (1, 1), be(planar_alpha(16));
    /// As [`Self::A42216`].
    A42216Be = "A422_16BE", None, Yuv, 4, (1, 0), be(planar_alpha(16));
    /// As [`Self::A44416`].
    A44416Be = "A444_16BE", None, Yuv, 4, (0, 0), be(planar_alpha(16));
    /// As [`Self::Y412`].
    Y412Be = "Y412_BE", None, Yuv, 1, (0, 0), be(uyva(4, 12));
    /// As [`Self::Y416`].
    Y416Be = "Y416_BE", None, Yuv, 1, (0, 0), be(uyva(0, 16));
    /// As [`Self::Gbra10`].
    Gbra10Be = "GBRA_10BE", None, Rgb, 4, (0, 0), be(gbr_alpha(10));
    /// As [`Self::Gbra12`].
    Gbra12Be = "GBRA_12BE", None, Rgb, 4, (0, 0), be(gbr_alpha(12));
    /// As [`Self::Argb64Le`].
    Argb64Be = "ARGB64_BE", None, Rgb, 1, (0, 0), be(four([1, 2, 3, 0]));
    /// As [`Self::Rgba64Le`].
    Rgba64Be = "RGBA64_BE", None, Rgb, 1, (0, 0), be(four([0, 1, 2, 3]));
    /// As [`Self::Bgra64Le`].
    Bgra64Be = "BGRA64_BE", None, Rgb, 1, (0, 0), be(four([2, 1, 0, 3]));
    /// As [`Self::Abgr64Le`].
    Abgr64Be = "ABGR64_BE", None, Rgb, 1, (0, 0), be(four([3, 2, 1, 0]));
}
