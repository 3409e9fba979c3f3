//! Fewer pictures than the decoder gives: those beyond a rate are dropped behind it, before anybody works on them.
//!
//! Time is divided into slots of that rate, and of the pictures in one slot the first goes on. So what goes on is spread
//! evenly (every second picture of 60 for 30 a second, four of five for 48), over the loops too: their times go on.

use std::sync::atomic::{AtomicI64, Ordering};

use gstreamer as gst;
use gstreamer::prelude::*;

/// A part of a slot by which a picture may come too early for it: containers round times, to milliseconds at worst.
const ROUNDING: f64 = 0.08;

/// No picture went on yet.
const NONE: i64 = i64::MIN;

/// Lets at most `most` pictures a second leave through this pad.
pub(crate) fn thin(pad: &gst::Pad, most: f64) {
    let last = AtomicI64::new(NONE);
    let interest = gst::PadProbeType::BUFFER | gst::PadProbeType::EVENT_FLUSH;
    pad.add_probe(interest, move |pad, info| {
        match &info.data {
            Some(gst::PadProbeData::Buffer(buffer)) => {
                // What has no time cannot be told to be too much.
                let Some(time) = running_time(pad, buffer) else {
                    return gst::PadProbeReturn::Ok;
                };
                let slot = slot(time, most);
                if last.swap(slot, Ordering::Relaxed) == slot {
                    return gst::PadProbeReturn::Drop;
                }
            }
            // Time begins anew.
            Some(gst::PadProbeData::Event(event)) => {
                if matches!(event.view(), gst::EventView::FlushStop(stop) if stop.resets_time()) {
                    last.store(NONE, Ordering::Relaxed);
                }
            }
            _ => {}
        }
        gst::PadProbeReturn::Ok
    });
}

/// The slot that a picture of this time lies in.
fn slot(time: gst::ClockTime, rate: f64) -> i64 {
    // Exact up to years, at the rates of screens.
    (time.nseconds() as f64 / 1e9 * rate + ROUNDING).floor() as i64
}

/// When a picture is due on the clock, from the beginning.
fn running_time(pad: &gst::Pad, buffer: &gst::BufferRef) -> Option<gst::ClockTime> {
    let event = pad.sticky_event::<gst::event::Segment>(0)?;
    let segment = event.segment().downcast_ref::<gst::ClockTime>()?;
    segment.to_running_time(buffer.pts())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of `count` pictures of this rate go on, with times rounded to milliseconds or not.
    fn kept(rate: f64, most: f64, count: u32, rounded: bool) -> Vec<u32> {
        let mut last = NONE;
        let keeps = |number: &u32| {
            let seconds = f64::from(*number) / rate;
            let seconds = if rounded {
                (seconds * 1e3).round() / 1e3
            } else {
                seconds
            };
            let slot = slot(gst::ClockTime::from_seconds_f64(seconds), most);
            std::mem::replace(&mut last, slot) != slot
        };
        (0..count).filter(keeps).collect()
    }

    #[test]
    fn what_goes_on_is_spread_evenly() {
        for rounded in [false, true] {
            assert_eq!(kept(60.0, 30.0, 8, rounded), [0, 2, 4, 6]);
            assert_eq!(kept(30.0, 10.0, 8, rounded), [0, 3, 6]);
            let two_of_three = kept(90.0, 60.0, 300, rounded);
            assert_eq!(two_of_three.len(), 200);
            assert!(two_of_three.windows(2).all(|pair| pair[1] - pair[0] <= 2));
            // As many as there are, or fewer than allowed: all go on.
            for (rate, most) in [(30.0, 30.0), (24.0, 30.0), (29.97, 30.0), (60.0, 60.0)] {
                assert_eq!(kept(rate, most, 500, rounded).len(), 500, "{rate} of {most}");
            }
        }
    }
}
