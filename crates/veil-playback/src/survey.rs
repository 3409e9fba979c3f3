//! What this machine's GStreamer can play, without a file.

use crate::codec_names::{Package, known};
use crate::decoder::{DecoderInfo, info, is_for_alpha};
use gstreamer as gst;
use gstreamer::prelude::*;

/// Media types that wallpapers come in, by what is asked of the registry for them.
const CODECS: [&str; 9] = [
    "video/x-h264",
    "video/x-h265",
    "video/x-av1",
    "video/x-vp9",
    "video/x-vp8",
    "video/mpeg, mpegversion=(int)4, systemstream=(boolean)false",
    "video/mpeg, mpegversion=(int)2, systemstream=(boolean)false",
    "video/x-theora",
    "image/jpeg",
];
const CONTAINERS: [&str; 5] = [
    "video/quicktime",
    "video/x-matroska",
    "video/x-msvideo",
    "video/mpegts",
    "application/ogg",
];

/// Something that videos are made of, and what reads it here.
#[derive(Debug, Clone)]
pub struct Ability {
    /// Its name for people.
    pub name: &'static str,
    /// What decodes or reads it, best first.
    pub elements: Vec<DecoderInfo>,
    /// What would, but has a rank that forbids it (`GST_PLUGIN_FEATURE_RANK`, or its maker).
    pub barred: Vec<String>,
    /// What brings something that does.
    pub package: Package,
}

/// GStreamer's name and version.
pub fn gstreamer_version() -> String {
    gst::version_string().into()
}

/// The codecs. GStreamer must be initialised.
pub fn codecs() -> Vec<Ability> {
    let kinds = gst::ElementFactoryType::DECODER
        | gst::ElementFactoryType::MEDIA_VIDEO
        | gst::ElementFactoryType::MEDIA_IMAGE;
    abilities(&CODECS, kinds)
}

/// The formats of files. GStreamer must be initialised.
pub fn containers() -> Vec<Ability> {
    abilities(&CONTAINERS, gst::ElementFactoryType::DEMUXER)
}

fn abilities(types: &[&str], kinds: gst::ElementFactoryType) -> Vec<Ability> {
    let all = gst::ElementFactory::factories_with_type(kinds, gst::Rank::NONE);
    types
        .iter()
        .filter_map(|text| {
            let caps: gst::Caps = text.parse().ok()?;
            let known = known(caps.structure(0)?)?;
            let mut factories: Vec<_> = all
                .iter()
                .filter(|factory| factory.can_sink_any_caps(&caps) && !is_for_alpha(factory))
                .collect();
            factories.sort_by(|a, b| b.rank().cmp(&a.rank()).then_with(|| a.name().cmp(&b.name())));
            let (usable, barred): (Vec<_>, Vec<_>) = factories
                .into_iter()
                .partition(|factory| factory.rank() >= gst::Rank::MARGINAL);
            Some(Ability {
                name: known.name,
                elements: usable.into_iter().map(info).collect(),
                barred: barred.into_iter().map(|factory| factory.name().into()).collect(),
                package: known.package,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_known_by_name() {
        gst::init().unwrap();
        assert_eq!(codecs().len(), CODECS.len());
        assert_eq!(containers().len(), CONTAINERS.len());
        let h264 = &codecs()[0];
        assert_eq!(h264.name, "H.264");
        // The tests of this package play H.264.
        assert!(!h264.elements.is_empty());
    }
}
