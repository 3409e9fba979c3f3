//! Which decoder decodes a stream.
//!
//! The candidates are what the registry holds for the stream's caps, best rank first, so `GST_PLUGIN_FEATURE_RANK` has
//! its way: rank NONE is never taken. A decoder must be able to give something that the sink takes, for nothing
//! converts in between. A decoder that needs the stream packed otherwise (byte-stream for AVC) gets a parser before it.

use std::thread::available_parallelism;

use gstreamer as gst;
use gstreamer::prelude::*;

/// The decoder that plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoderInfo {
    /// The name of the element's factory: "avdec_h264".
    pub element: String,
    /// Whether it decodes in hardware.
    pub hardware: bool,
}

impl std::fmt::Display for DecoderInfo {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.hardware { "hardware" } else { "software" };
        write!(formatter, "{} ({kind})", self.element)
    }
}

/// A decoder for a stream, and what has to stand before it.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) decoder: gst::ElementFactory,
    /// Repacks the stream for the decoder.
    pub(crate) parser: Option<gst::ElementFactory>,
}

impl Candidate {
    pub(crate) fn info(&self) -> DecoderInfo {
        info(&self.decoder)
    }
}

/// What is told of a decoder.
pub(crate) fn info(factory: &gst::ElementFactory) -> DecoderInfo {
    let class = factory.metadata(gst::ELEMENT_METADATA_KLASS).unwrap_or_default();
    DecoderInfo {
        element: factory.name().into(),
        hardware: class.split('/').any(|part| part == "Hardware"),
    }
}

/// The decoders for `stream` whose pictures `sink` takes, best first, without those of the names `excluded`.
pub(crate) fn candidates(stream: &gst::CapsRef, sink: &gst::CapsRef, excluded: &[String]) -> Vec<Candidate> {
    if stream.structure(0).is_some_and(|s| s.name() == "video/x-raw") {
        // Nothing to decode.
        let through = gst::ElementFactory::find("identity").filter(|_| stream.can_intersect(sink));
        return through
            .map(|decoder| Candidate {
                decoder,
                parser: None,
            })
            .into_iter()
            .collect();
    }
    let kinds = gst::ElementFactoryType::DECODER
        | gst::ElementFactoryType::MEDIA_VIDEO
        | gst::ElementFactoryType::MEDIA_IMAGE;
    let mut factories: Vec<_> = gst::ElementFactory::factories_with_type(kinds, gst::Rank::MARGINAL)
        .into_iter()
        .filter(|factory| !excluded.iter().any(|name| factory.name() == *name))
        .filter(|factory| gives(factory, sink) && !is_for_alpha(factory))
        .collect();
    // By name among equals, so that the choice is the same at each start.
    factories.sort_by(|a, b| b.rank().cmp(&a.rank()).then_with(|| a.name().cmp(&b.name())));
    let repacked = without_packing(stream);
    factories
        .into_iter()
        .filter_map(|decoder| {
            // All that the stream is: a decoder for streams with alpha, say, could take one that does not speak of it.
            if decoder.can_sink_all_caps(stream) {
                return Some(Candidate {
                    decoder,
                    parser: None,
                });
            }
            let parser = takes_repacked(&decoder, &repacked)
                .then(|| parser(stream, &decoder))
                .flatten()?;
            Some(Candidate {
                decoder,
                parser: Some(parser),
            })
        })
        .collect()
}

/// Sets a new decoder up for what a wallpaper needs.
pub(crate) fn tune(decoder: &gst::Element, stream: &gst::CapsRef) {
    // libav takes a thread for each core. Each adds a picture of delay and a picture of memory, and before the first
    // one is shown all have theirs to decode: a few are fast enough.
    if decoder
        .find_property("max-threads")
        .is_some_and(|property| property.value_type() == i32::static_type())
    {
        let structure = stream.structure(0);
        let side = |name| structure.and_then(|s| s.get::<i32>(name).ok()).unwrap_or(0);
        let large = i64::from(side("width")) * i64::from(side("height")) > 1920 * 1088;
        let cores = available_parallelism().map_or(1, |cores| i32::try_from(cores.get()).unwrap_or(1));
        decoder.set_property("max-threads", cores.min(if large { 8 } else { 4 }));
    }
}

/// Whether a decoder is for streams with an alpha layer only. parsebin offers a pad before its parser knows, and says of
/// each VP9 stream then that it has one; and these bins do not bear what a loop or a seek asks of them: the element that
/// puts the layers together (`alphacombine` of GStreamer 1.22) ends the process when a flush comes at a bad moment. The
/// decoders within them are decoders of their own, and leave the layer out.
pub(crate) fn is_for_alpha(factory: &gst::ElementFactory) -> bool {
    let templates = factory.static_pad_templates();
    let mut sinks = templates
        .iter()
        .filter(|template| template.direction() == gst::PadDirection::Sink);
    sinks.any(|template| {
        template
            .caps()
            .iter()
            .all(|s| s.get::<bool>("codec-alpha") == Ok(true))
    })
}

/// Whether a decoder can give something that the sink takes.
fn gives(factory: &gst::ElementFactory, sink: &gst::CapsRef) -> bool {
    let sources = factory.static_pad_templates();
    sources
        .iter()
        .any(|template| template.direction() == gst::PadDirection::Src && template.caps().can_intersect(sink))
}

/// The same stream, in whatever packing.
fn without_packing(stream: &gst::CapsRef) -> gst::Caps {
    let mut caps = stream.to_owned();
    for structure in caps.make_mut().iter_mut() {
        structure.remove_fields(["stream-format", "alignment", "codec_data", "parsed", "framed"]);
    }
    caps
}

/// Whether a decoder takes all of a stream, its packing aside.
fn takes_repacked(decoder: &gst::ElementFactory, repacked: &gst::CapsRef) -> bool {
    let templates = decoder.static_pad_templates();
    let sinks = templates
        .iter()
        .filter(|template| template.direction() == gst::PadDirection::Sink);
    sinks
        .into_iter()
        .any(|template| repacked.is_subset(&without_packing(&template.caps())))
}

/// What turns this stream into something that the decoder takes.
fn parser(stream: &gst::CapsRef, decoder: &gst::ElementFactory) -> Option<gst::ElementFactory> {
    let parsers =
        gst::ElementFactory::factories_with_type(gst::ElementFactoryType::PARSER, gst::Rank::MARGINAL);
    let templates = decoder.static_pad_templates();
    let wanted = templates
        .iter()
        .find(|template| template.direction() == gst::PadDirection::Sink)?
        .caps();
    parsers
        .into_iter()
        .find(|parser| parser.can_sink_any_caps(stream) && parser.can_src_any_caps(&wanted))
}
