//! GStreamer's words for colours, in veil's.
//!
//! Caps carry `colorimetry` (`bt709`, or `range:matrix:transfer:primaries` in GStreamer's own numbers) and
//! `chroma-site`. Either may be missing or hold unknown parts. GStreamer's parser of caps then fills in defaults of its
//! own, which differ between its versions; so the fields are read as they are, and what they leave open is assumed.

use gstreamer as gst;
use gstreamer_video as gst_video;

use gst::glib::translate::IntoGlib;
use gst_video::{VideoChromaSite, VideoColorMatrix, VideoColorRange, VideoColorimetry};
use veil_frame::{ChromaSite, Colorimetry, Matrix, Model, Primaries, Range, Siting, Transfer};

/// Numbers of `GstVideoTransferFunction` and `GstVideoColorPrimaries` that have been there since 1.16 and 1.18; the
/// bindings name them only when they are built for such a version.
mod number {
    pub(super) const SMPTE2084: i32 = 14;
    pub(super) const ARIB_STD_B67: i32 = 15;
    pub(super) const SMPTERP431: i32 = 10;
    pub(super) const SMPTEEG432: i32 = 11;
    pub(super) const BT2020: i32 = 7;
}

/// What the numbers of a picture of this kind and height mean, by the `colorimetry` field of its caps.
pub(crate) fn colorimetry(field: Option<&str>, model: Model, height: u32) -> Colorimetry {
    let assumed = match model {
        Model::Rgb => Colorimetry::SRGB,
        Model::Yuv | Model::Gray => Colorimetry::assumed(height),
    };
    let Some(told) = field.and_then(|text| text.parse::<VideoColorimetry>().ok()) else {
        return assumed;
    };
    let matrix = match (model, told.matrix()) {
        (Model::Rgb, _) => Matrix::Rgb,
        (_, VideoColorMatrix::Bt709) => Matrix::Bt709,
        (_, VideoColorMatrix::Bt601) => Matrix::Bt601,
        (_, VideoColorMatrix::Bt2020) => Matrix::Bt2020,
        (_, VideoColorMatrix::Smpte240m) => Matrix::Smpte240m,
        (_, VideoColorMatrix::Fcc) => Matrix::Fcc,
        // Also what is said to be RGB, of a format that cannot be.
        _ => assumed.matrix,
    };
    let range = match told.range() {
        VideoColorRange::Range0_255 => Range::Full,
        VideoColorRange::Range16_235 => Range::Limited,
        _ => assumed.range,
    };
    let primaries = match told.primaries().into_glib() {
        number::BT2020 => Primaries::Bt2020,
        number::SMPTERP431 | number::SMPTEEG432 => Primaries::DisplayP3,
        // All other primaries of television count as the same; the rest (film, Adobe RGB, XYZ) is near enough to be
        // recognised, and unheard of in videos.
        _ => Primaries::Bt709,
    };
    let transfer = match told.transfer().into_glib() {
        number::SMPTE2084 => Transfer::Pq,
        number::ARIB_STD_B67 => Transfer::Hlg,
        _ => Transfer::Sdr,
    };
    Colorimetry {
        matrix,
        range,
        primaries,
        transfer,
    }
}

/// Where chroma samples sit, by the `chroma-site` field of the caps; where the field says nothing, on the left, as H.264
/// and HEVC have it.
pub(crate) fn chroma_site(field: Option<&str>) -> ChromaSite {
    let Some(told) = field.and_then(|text| text.parse::<VideoChromaSite>().ok()) else {
        return ChromaSite::LEFT;
    };
    let siting = |flag| {
        if told.contains(flag) {
            Siting::Cosited
        } else {
            Siting::Centered
        }
    };
    // “dv” is “cosited” with Cb and Cr on alternate lines: read as cosited, which is half a line off for one of them.
    ChromaSite {
        horizontal: siting(VideoChromaSite::H_COSITED),
        vertical: siting(VideoChromaSite::V_COSITED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yuv(field: &str) -> Colorimetry {
        colorimetry(Some(field), Model::Yuv, 1080)
    }

    #[test]
    fn names_and_numbers() {
        gst::init().unwrap();
        let hd = Colorimetry::assumed(1080);
        assert_eq!(yuv("bt709"), hd);
        assert_eq!(
            yuv("bt601"),
            Colorimetry {
                matrix: Matrix::Bt601,
                ..hd
            }
        );
        assert_eq!(
            yuv("smpte240m"),
            Colorimetry {
                matrix: Matrix::Smpte240m,
                ..hd
            }
        );
        let uhd = Colorimetry {
            matrix: Matrix::Bt2020,
            primaries: Primaries::Bt2020,
            ..hd
        };
        assert_eq!(yuv("bt2020"), uhd);
        assert_eq!(yuv("bt2020-10"), uhd);
        assert_eq!(
            yuv("bt2100-pq"),
            Colorimetry {
                transfer: Transfer::Pq,
                ..uhd
            }
        );
        assert_eq!(
            yuv("bt2100-hlg"),
            Colorimetry {
                transfer: Transfer::Hlg,
                ..uhd
            }
        );
        // Full range, BT.601, BT.709's transfer, P3 primaries.
        let p3 = Colorimetry {
            range: Range::Full,
            matrix: Matrix::Bt601,
            primaries: Primaries::DisplayP3,
            ..hd
        };
        assert_eq!(yuv("1:4:5:11"), p3);
        assert_eq!(yuv("1:4:5:10"), p3);
    }

    #[test]
    fn what_is_open_is_assumed() {
        gst::init().unwrap();
        for field in [None, Some("nonsense"), Some("0:0:0:0"), Some("0:1:0:0")] {
            assert_eq!(
                colorimetry(field, Model::Yuv, 576),
                Colorimetry::assumed(576),
                "{field:?}"
            );
            assert_eq!(
                colorimetry(field, Model::Yuv, 577),
                Colorimetry::assumed(577),
                "{field:?}"
            );
            assert_eq!(
                colorimetry(field, Model::Rgb, 577),
                Colorimetry::SRGB,
                "{field:?}"
            );
        }
        // A known part is kept beside an unknown one.
        assert_eq!(
            yuv("1:0:0:0"),
            Colorimetry {
                range: Range::Full,
                ..Colorimetry::assumed(1080)
            }
        );
        // RGB has no other matrix, whatever is said.
        assert_eq!(colorimetry(Some("bt709"), Model::Rgb, 720).matrix, Matrix::Rgb);
    }

    #[test]
    fn sites() {
        gst::init().unwrap();
        for (name, site) in [
            ("jpeg", ChromaSite::CENTER),
            ("none", ChromaSite::CENTER),
            ("mpeg2", ChromaSite::LEFT),
            ("cosited", ChromaSite::TOP_LEFT),
            ("dv", ChromaSite::TOP_LEFT),
            (
                "v-cosited",
                ChromaSite {
                    horizontal: Siting::Centered,
                    vertical: Siting::Cosited,
                },
            ),
            ("nonsense", ChromaSite::LEFT),
        ] {
            assert_eq!(chroma_site(Some(name)), site, "{name}");
        }
        assert_eq!(chroma_site(None), ChromaSite::LEFT);
    }
}
