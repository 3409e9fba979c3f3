//! Whether a stream begins so that a decoder can go on to it from any other picture.
//!
//! Most streams begin with a picture that clears the decoder's memory (an IDR picture, a key frame). A file cut out of a
//! longer one may begin with an open group of pictures: pictures that refer to what was cut away follow its first one,
//! and only a decoder that has just started knows that it must leave them out.

use gstreamer as gst;

/// How a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryPoint {
    /// Not looked at yet.
    Unknown,
    /// With a picture that stands for itself, as all that follow it do without what was before.
    Clean,
    /// Otherwise, or nobody knows: the decoder has to start afresh.
    Open,
}

impl EntryPoint {
    /// Looks at the first coded picture of a stream.
    pub(crate) fn of(caps: Option<&gst::CapsRef>, picture: &gst::BufferRef) -> Self {
        let Some(structure) = caps.and_then(|caps| caps.structure(0)) else {
            return Self::Open;
        };
        let clean = match structure.name().as_str() {
            "video/x-h264" => has_unit(structure, picture, |header| header & 0x1f == 5),
            // IDR and broken-link pictures; a clean random access picture (21) may have open leading pictures.
            "video/x-h265" => has_unit(structure, picture, |header| {
                (16..=20).contains(&(header >> 1 & 0x3f))
            }),
            "video/x-vp8" | "video/x-vp9" | "video/x-av1" | "video/x-theora" => true,
            // Each picture stands for itself.
            "image/jpeg" | "image/png" | "video/x-prores" | "video/x-dnxhd" | "video/x-ffv"
            | "image/x-jpc" => true,
            _ => false,
        };
        if clean { Self::Clean } else { Self::Open }
    }

    pub(crate) fn is_clean(self) -> bool {
        self == Self::Clean
    }
}

/// Whether the picture has a NAL unit whose first byte is `wanted`.
fn has_unit(structure: &gst::StructureRef, picture: &gst::BufferRef, wanted: impl Fn(u8) -> bool) -> bool {
    let Ok(map) = picture.map_readable() else {
        return false;
    };
    match crate::nal::length_size(structure) {
        Some(size) => crate::nal::Units::new(&map, size)
            .flatten()
            .any(|unit| unit.first().is_some_and(|b| wanted(*b))),
        None => map
            .windows(4)
            .any(|bytes| bytes[..3] == [0, 0, 1] && wanted(bytes[3])),
    }
}
