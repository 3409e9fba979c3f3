//! What a stream's caps say, and what they say wrongly.

use gstreamer as gst;
use gstreamer::prelude::MulDiv;

/// Whether pictures carry others within (their alpha), which have timestamps of their own.
pub(super) fn carries_alpha(caps: &gst::CapsRef) -> bool {
    caps.structure(0)
        .is_some_and(|structure| structure.get("codec-alpha") == Ok(true))
}

/// The caps without what the container said of the colours, where that cannot be trusted: before 1.24 `qtdemux` takes
/// every MP4 video for one of limited range (it does not read the flag of the `colr` box), and the parser behind it leaves
/// that as it is. The decoder then takes the coded stream's word (H.264, annex E).
pub(super) fn trusted(caps: &gst::CapsRef) -> Option<gst::Caps> {
    let structure = caps.structure(0)?;
    let coded_says_it = matches!(structure.name().as_str(), "video/x-h264" | "video/x-h265");
    if gst::version() >= (1, 24, 0, 0) || !coded_says_it || !structure.has_field("colorimetry") {
        return None;
    }
    let mut caps = caps.to_owned();
    for structure in caps.make_mut().iter_mut() {
        structure.remove_field("colorimetry");
    }
    Some(caps)
}

/// The time between two pictures, where the caps name a constant rate.
pub(super) fn period(caps: &gst::CapsRef) -> Option<gst::ClockTime> {
    let rate = caps.structure(0)?.get::<gst::Fraction>("framerate").ok()?;
    let (frames, seconds) = (
        u64::try_from(rate.numer()).ok()?,
        u64::try_from(rate.denom()).ok()?,
    );
    gst::ClockTime::SECOND.mul_div_round(seconds, frames)
}
