//! Words for what GStreamer calls by media types, and the packages that bring what is missing.

use std::fmt;

use gstreamer as gst;

/// Where distributions keep a set of GStreamer plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
}

impl fmt::Display for Package {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { debian, fedora, arch } = self;
        write!(
            formatter,
            "{debian} (Debian, Ubuntu), {fedora} (Fedora), {arch} (Arch)"
        )
    }
}

const fn package(debian: &'static str, fedora: &'static str, arch: &'static str) -> Package {
    Package { debian, fedora, arch }
}

const BASE: Package = package(
    "gstreamer1.0-plugins-base",
    "gstreamer1-plugins-base",
    "gst-plugins-base",
);
const GOOD: Package = package(
    "gstreamer1.0-plugins-good",
    "gstreamer1-plugins-good",
    "gst-plugins-good",
);
const BAD: Package = package(
    "gstreamer1.0-plugins-bad",
    "gstreamer1-plugins-bad-free",
    "gst-plugins-bad",
);
const UGLY: Package = package(
    "gstreamer1.0-plugins-ugly",
    "gstreamer1-plugins-ugly-free",
    "gst-plugins-ugly",
);
const LIBAV: Package = package("gstreamer1.0-libav", "gstreamer1-plugin-libav", "gst-libav");

/// What a media type is, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// The kind of the thing.
    pub(crate) kind: Kind,
    /// Its name, as in "no decoder for NAME" or "NAME pictures are not supported".
    pub(crate) name: &'static str,
    /// What brings a decoder or demuxer for it.
    pub(crate) package: Package,
}

/// What a media type can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A codec of moving pictures.
    Codec,
    /// A file format that holds streams.
    Container,
    /// A format of still or animated pictures.
    Picture,
}

/// What is known of the media type of these caps.
pub(crate) fn known(structure: &gst::StructureRef) -> Option<Known> {
    let (kind, name, package) = match structure.name().as_str() {
        "video/x-h264" => (Kind::Codec, "H.264", LIBAV),
        "video/x-h265" => (Kind::Codec, "H.265 (HEVC)", LIBAV),
        "video/x-h266" => (Kind::Codec, "H.266 (VVC)", LIBAV),
        "video/x-av1" => (Kind::Codec, "AV1", BAD),
        "video/x-vp8" => (Kind::Codec, "VP8", GOOD),
        "video/x-vp9" => (Kind::Codec, "VP9", GOOD),
        "video/x-theora" => (Kind::Codec, "Theora", BASE),
        "video/x-h263" => (Kind::Codec, "H.263", LIBAV),
        "video/x-prores" => (Kind::Codec, "ProRes", LIBAV),
        "video/x-dnxhd" => (Kind::Codec, "DNxHD", LIBAV),
        "video/x-ffv" => (Kind::Codec, "FFV1", LIBAV),
        "video/x-wmv" => (Kind::Codec, "Windows Media Video", LIBAV),
        "video/x-divx" | "video/x-xvid" => (Kind::Codec, "DivX", LIBAV),
        "video/x-dv" => (Kind::Codec, "DV", GOOD),
        "video/x-cinepak" => (Kind::Codec, "Cinepak", LIBAV),
        "video/x-flash-video" => (Kind::Codec, "Flash video", LIBAV),
        "video/x-raw" => (Kind::Codec, "uncompressed video of this format", BASE),
        "image/jpeg" => (Kind::Codec, "JPEG", GOOD),
        "video/mpeg" if structure.get::<bool>("systemstream") == Ok(true) => {
            (Kind::Container, "MPEG program streams", BAD)
        }
        "video/mpeg" => match structure.get::<i32>("mpegversion") {
            Ok(4) => (Kind::Codec, "MPEG-4", LIBAV),
            Ok(2) => (Kind::Codec, "MPEG-2", LIBAV),
            _ => (Kind::Codec, "MPEG-1", LIBAV),
        },
        "video/quicktime" => (Kind::Container, "MP4 and QuickTime files", GOOD),
        "video/x-matroska" | "video/webm" => (Kind::Container, "Matroska and WebM files", GOOD),
        "video/x-msvideo" => (Kind::Container, "AVI files", GOOD),
        "video/x-flv" => (Kind::Container, "Flash video files", GOOD),
        "video/mpegts" => (Kind::Container, "MPEG transport streams", BAD),
        "application/ogg" => (Kind::Container, "Ogg files", BASE),
        "video/x-ms-asf" => (Kind::Container, "ASF (WMV) files", UGLY),
        "image/heif" | "image/heic" => (Kind::Picture, "HEIF", BAD),
        "image/avif" => (Kind::Picture, "AVIF", BAD),
        "image/jxl" => (Kind::Picture, "JPEG XL", BAD),
        "image/webp" => (Kind::Picture, "WebP", BAD),
        "image/gif" => (Kind::Picture, "GIF", LIBAV),
        _ => return None,
    };
    Some(Known { kind, name, package })
}

/// A name for people, which is the media type itself where nothing better is known.
pub(crate) fn name(caps: &gst::CapsRef) -> String {
    let Some(structure) = caps.structure(0) else {
        return String::from("an unknown codec");
    };
    known(structure).map_or_else(|| structure.name().to_string(), |known| known.name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_have_names() {
        gst::init().unwrap();
        let name_of = |caps: &str| name(&caps.parse::<gst::Caps>().unwrap());
        assert_eq!(name_of("video/x-h264, stream-format=avc"), "H.264");
        assert_eq!(
            name_of("video/mpeg, mpegversion=(int)2, systemstream=(boolean)false"),
            "MPEG-2"
        );
        assert_eq!(
            name_of("video/mpeg, mpegversion=(int)2, systemstream=(boolean)true"),
            "MPEG program streams"
        );
        assert_eq!(name_of("video/x-unheard-of"), "video/x-unheard-of");
    }

    #[test]
    fn packages_are_named_for_three_distributions() {
        assert_eq!(
            LIBAV.to_string(),
            "gstreamer1.0-libav (Debian, Ubuntu), gstreamer1-plugin-libav (Fedora), gst-libav (Arch)"
        );
    }
}
