//! What the element knows of the stream and of the pass.

use gstreamer as gst;

use crate::entry_point::EntryPoint;
use crate::manner::Manner;
use crate::timeline::Timeline;

pub(super) struct State {
    pub(super) manner: Manner,
    pub(super) timeline: Timeline,
    pub(super) stream_started: bool,
    pub(super) segment_sent: bool,
    /// Buffers keep their timestamps, and a segment for each pass says what they mean.
    pub(super) by_segment: bool,
    pub(super) caps: Option<gst::Caps>,
    pub(super) entry_point: EntryPoint,
    /// The pass is over, and the next has not begun: what still comes is not part of either.
    pub(super) between: bool,
    /// The first buffer of a later pass: a discontinuity to the demuxer only.
    pub(super) hide_discontinuity: bool,
    /// The pass began at the file's beginning.
    pub(super) from_start: bool,
    /// The file is known to hold more than one picture.
    pub(super) moves: bool,
    /// How many pictures had come out of the decoder when this pass began.
    pub(super) decoded_before: u64,
    pub(super) barren: u32,
    /// The file was to be played once, and was.
    pub(super) over: bool,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            manner: Manner::default(),
            timeline: Timeline::new(),
            stream_started: false,
            segment_sent: false,
            by_segment: false,
            caps: None,
            entry_point: EntryPoint::Unknown,
            between: false,
            hide_discontinuity: false,
            from_start: true,
            moves: false,
            decoded_before: 0,
            barren: 0,
            over: false,
        }
    }
}
