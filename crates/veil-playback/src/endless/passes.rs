//! The end of a pass: what the decoder needs to hear of it, and whether there is another.

use std::sync::atomic::Ordering;

use gstreamer as gst;
use gstreamer::prelude::*;

use super::PassEnd;
use super::imp::Endless;
use crate::assembly::lock;
use crate::timeline::Pass;

/// A shorter pass is no video: looping it would be a busy loop.
const SHORTEST_PASS: gst::ClockTime = gst::ClockTime::from_mseconds(10);

/// After so many passes from which nothing came out of the decoder, or that took no time, nothing better will come.
const BARREN_PASSES: u32 = 3;

impl Endless {
    /// The file's end (`whole`), or the end of what can be read of it. In the streaming thread, or with that one
    /// stopped.
    pub(super) fn pass_ended(&self, whole: bool) {
        let mut state = self.state();
        if std::mem::replace(&mut state.between, true) {
            return;
        }
        self.begun.notify_all();
        let pass = state.timeline.end_pass();
        let clean = state.entry_point.is_clean() && !pass.lead_in;
        let single = pass.frames == 1 || pass.frames > 0 && pass.length < SHORTEST_PASS;
        let still = whole && state.from_start && single && !state.moves;
        state.moves |= pass.frames > 1;
        state.hide_discontinuity = true;
        let over = state.manner.once && !still && pass.frames > 0;
        state.over = over;
        drop(state);

        if still {
            self.finish(PassEnd::Still);
            return;
        }
        if over && self.decoded() > 0 {
            self.finish(PassEnd::Over);
            return;
        }
        if !clean || self.decoded() == 0 {
            self.restart_decoder();
        }
        if self.is_barren(&pass) {
            self.finish(PassEnd::Barren);
        } else {
            self.tell(PassEnd::Again(pass));
        }
    }

    /// Has all that is in the decoder come out, and the decoder begin afresh. It must forget its last timestamp, too:
    /// a picture before that, as those before a start are, it would give that time and show. Only a flush does this.
    fn restart_decoder(&self) {
        self.src_pad
            .push_event(gst::event::SegmentDone::new(gst::ClockTime::NONE));
        let flushes_over = lock(&self.flushes_over);
        if *flushes_over {
            return;
        }
        self.flush_decoder.store(true, Ordering::Release);
        self.src_pad.push_event(gst::event::FlushStart::new());
        self.src_pad.push_event(gst::event::FlushStop::new(false));
        self.flush_decoder.store(false, Ordering::Release);
        drop(flushes_over);
        self.state().segment_sent = false;
    }

    /// Whether nothing comes any more, and the loop would only be work.
    fn is_barren(&self, pass: &Pass) -> bool {
        // What the decoder leaves out for lateness, on a machine that is too slow, could have come.
        let decoded = self
            .counters
            .get()
            .map_or(0, |counters| counters.snapshot().due());
        let mut state = self.state();
        let came = decoded.wrapping_sub(state.decoded_before);
        state.decoded_before = decoded;
        let no_gain = came == 0 || pass.length < SHORTEST_PASS;
        state.barren = if no_gain { state.barren + 1 } else { 0 };
        let drained = !state.by_segment;
        decoded == 0 && pass.frames > 0 && drained || state.barren >= BARREN_PASSES
    }

    fn finish(&self, end: PassEnd) {
        self.tell(end);
        self.src_pad.push_event(gst::event::Eos::new());
    }

    pub(super) fn tell(&self, end: PassEnd) {
        if let Some(listener) = self.listener.get() {
            listener(end);
        }
    }
}
