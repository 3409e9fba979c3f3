//! DRM formats as GStreamer writes them: four characters, and for all but LINEAR the modifier, as in
//! `NV12:0x0100000000000002` (GStreamer's design document "DMA buffers", section "DRM format"). Caps are compared as text,
//! so LINEAR must not be written.

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use std::fmt::Write;

/// The value of `format` in caps of dmabufs.
pub(crate) const FORMAT: &str = "DMA_DRM";

/// A format in GStreamer's words.
pub(crate) fn name(format: DrmFormat) -> String {
    let mut text: String = (format.code as u32)
        .to_le_bytes()
        .map(char::from)
        .iter()
        .collect();
    if format.modifier != DrmModifier::Linear {
        // Writing to a string does not fail.
        let _ = write!(text, ":0x{:016x}", u64::from(format.modifier));
    }
    text
}

/// A format by GStreamer's words; `None` where they are none, or of a format that is unheard of.
pub(crate) fn parse(text: &str) -> Option<DrmFormat> {
    let (code, modifier) = match text.split_once(':') {
        None => (text, 0),
        Some((code, modifier)) => {
            let digits = modifier
                .strip_prefix("0x")
                .or_else(|| modifier.strip_prefix("0X"))?;
            (code, u64::from_str_radix(digits, 16).ok()?)
        }
    };
    // The characters may end in blanks ("R8  ").
    let code: [u8; 4] = code.as_bytes().try_into().ok()?;
    Some(DrmFormat {
        code: DrmFourcc::try_from(u32::from_le_bytes(code)).ok()?,
        modifier: DrmModifier::from(modifier),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_frame::PixelFormat;

    #[test]
    fn formats_there_and_back() {
        for (text, code, modifier) in [
            ("NV12", DrmFourcc::Nv12, 0),
            ("P010:0x0100000000000002", DrmFourcc::P010, 0x0100_0000_0000_0002),
            ("R8  ", DrmFourcc::R8, 0),
        ] {
            let format = parse(text).unwrap();
            assert_eq!((format.code, u64::from(format.modifier)), (code, modifier));
            assert_eq!(name(format), text);
        }
        for text in [
            "",
            "NV1",
            "NV12:",
            "NV12:7",
            "NV12:0x",
            "NV12:0x1z",
            "\u{fc}\u{fc}\u{fc}",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn every_format_with_a_twin_is_found_again() {
        let mut found = 0;
        for &format in PixelFormat::ALL {
            if let Some(code) = format.info().fourcc {
                assert_eq!(PixelFormat::from_fourcc(code), Some(format));
                found += 1;
            }
        }
        assert!(found > 30, "{found}");
    }
}
