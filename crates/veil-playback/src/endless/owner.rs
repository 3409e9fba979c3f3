//! What the owner asks of the element, from outside the streaming thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;

use super::Listener;
use super::imp::Endless;
use super::state::State;
use crate::assembly::lock;
use crate::counters::Counters;
use crate::manner::Manner;

impl Endless {
    pub(super) fn set_counters(&self, counters: Arc<Counters>) {
        let _ = self.counters.set(counters);
    }

    pub(super) fn set_manner(&self, manner: Manner) {
        self.state().manner = manner;
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().over
    }

    pub(super) fn set_listener(&self, listener: Listener) {
        let _ = self.listener.set(listener);
    }

    pub(super) fn sink_pad(&self) -> gst::Pad {
        self.sink_pad.clone()
    }

    pub(super) fn media_position(&self, shown: gst::ClockTime) -> Option<gst::ClockTime> {
        self.state().timeline.media_position(shown)
    }

    pub(super) fn add_loop(&self) {
        self.state().timeline.add_loop();
    }

    pub(super) fn loops(&self, shown: gst::ClockTime) -> Option<u64> {
        self.state().timeline.loops(shown)
    }

    pub(super) fn seek_upstream(&self, position: gst::ClockTime, through: bool) -> bool {
        // Without the second flag a transport stream goes to a guess from its mean rate.
        let flags = gst::SeekFlags::FLUSH | gst::SeekFlags::ACCURATE;
        let none = gst::ClockTime::NONE;
        let seek = gst::event::Seek::new(
            1.0,
            flags,
            gst::SeekType::Set,
            position,
            gst::SeekType::None,
            none,
        );
        self.state().from_start = position.is_zero();
        self.flush_through.store(through, Ordering::Release);
        let done = self.sink_pad.push_event(seek);
        self.flush_through.store(false, Ordering::Release);
        done
    }

    pub(super) fn waits_after(&self, pass: u64) -> bool {
        let state = self.state();
        state.between && state.timeline.pass() == pass + 1
    }

    pub(super) fn expect_new_stream(&self) {
        let mut state = self.state();
        state.between = false;
        state.from_start = true;
    }

    pub(super) fn comes_within(&self, limit: Duration) -> bool {
        let still_to_come = |state: &mut State| state.timeline.at_start() && !state.between;
        let (state, waited) = self
            .begun
            .wait_timeout_while(self.state(), limit, still_to_come)
            .unwrap_or_else(PoisonError::into_inner);
        drop(state);
        !waited.timed_out()
    }

    pub(super) fn began_at_start(&self) -> bool {
        self.state().from_start
    }

    pub(super) fn end_flushes(&self) {
        *lock(&self.flushes_over) = true;
    }

    pub(super) fn flushes_decoder_alone(&self) -> bool {
        self.flush_decoder.load(Ordering::Acquire)
    }
}
