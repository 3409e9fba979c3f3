//! The element's implementation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, OnceLock};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;
use gstreamer::subclass::prelude::*;

use super::caps::{carries_alpha, period, trusted};
use super::state::State;
use super::{Listener, PassEnd};
use crate::assembly::lock;
use crate::counters::Counters;
use crate::entry_point::EntryPoint;
use crate::timeline::ORIGIN;

pub(crate) struct Endless {
    pub(super) sink_pad: gst::Pad,
    pub(super) src_pad: gst::Pad,
    pub(super) state: Mutex<State>,
    /// The first picture of a pass came, or its end.
    pub(super) begun: Condvar,
    /// Flushes go on to the decoder and the sink.
    pub(super) flush_through: AtomicBool,
    /// A flush that is under way is for the decoder alone.
    pub(super) flush_decoder: AtomicBool,
    /// Held while the decoder is flushed; true when it is not to be flushed any more.
    pub(super) flushes_over: Mutex<bool>,
    pub(super) counters: OnceLock<Arc<Counters>>,
    pub(super) listener: OnceLock<Listener>,
}

#[glib::object_subclass]
impl ObjectSubclass for Endless {
    const NAME: &'static str = "VeilEndless";
    type Type = super::Endless;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> Self {
        let template = |name| {
            class
                .pad_template(name)
                .unwrap_or_else(|| unreachable!("both templates are below"))
        };
        let sink_pad = gst::Pad::builder_from_template(&template("sink"))
            .flags(gst::PadFlags::PROXY_CAPS | gst::PadFlags::PROXY_ALLOCATION)
            .chain_function(|_, parent, buffer| {
                Self::catch_panic_pad_function(
                    parent,
                    || Err(gst::FlowError::Error),
                    |this| this.chain(buffer),
                )
            })
            .event_function(|pad, parent, event| {
                Self::catch_panic_pad_function(parent, || false, |this| this.sink_event(pad, event))
            })
            .build();
        let src_pad = gst::Pad::builder_from_template(&template("src"))
            .flags(gst::PadFlags::PROXY_CAPS | gst::PadFlags::PROXY_ALLOCATION)
            .event_function(|pad, parent, event| {
                Self::catch_panic_pad_function(parent, || false, |this| this.src_event(pad, event))
            })
            .build();
        Self {
            sink_pad,
            src_pad,
            state: Mutex::new(State::new()),
            begun: Condvar::new(),
            flush_through: AtomicBool::new(false),
            flush_decoder: AtomicBool::new(false),
            flushes_over: Mutex::new(false),
            counters: OnceLock::new(),
            listener: OnceLock::new(),
        }
    }
}

impl ObjectImpl for Endless {
    fn constructed(&self) {
        self.parent_constructed();
        let element = self.obj();
        for pad in [&self.sink_pad, &self.src_pad] {
            if let Err(error) = element.add_pad(pad) {
                tracing::error!("the looping element lacks a pad: {error}");
            }
        }
    }
}

impl GstObjectImpl for Endless {}

impl ElementImpl for Endless {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Endless stream",
                "Generic",
                "Makes passes over a file one stream",
                "The veil developers",
            )
        });
        Some(&METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            let caps = gst::Caps::new_any();
            [("sink", gst::PadDirection::Sink), ("src", gst::PadDirection::Src)]
                .into_iter()
                .filter_map(|(name, direction)| {
                    gst::PadTemplate::new(name, direction, gst::PadPresence::Always, &caps).ok()
                })
                .collect()
        });
        &TEMPLATES
    }
}

impl Endless {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn decoded(&self) -> u64 {
        self.counters.get().map_or(0, |counters| counters.decoded())
    }

    fn chain(&self, mut buffer: gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let mut state = self.state();
        if state.between {
            return Ok(gst::FlowSuccess::Ok);
        }
        if state.timeline.at_start() && state.entry_point == EntryPoint::Unknown {
            state.entry_point = EntryPoint::of(state.caps.as_deref(), &buffer);
        }
        if state.timeline.at_start() {
            self.begun.notify_all();
        }
        let stamps = state
            .timeline
            .stamp(buffer.pts(), buffer.dts(), buffer.duration());
        let hide_discontinuity = std::mem::take(&mut state.hide_discontinuity);
        let by_segment = state.by_segment;
        let announce = by_segment && !std::mem::replace(&mut state.segment_sent, true);
        let segment = announce.then(|| state.timeline.segment(state.manner.speed));
        drop(state);
        if let Some(segment) = segment {
            self.src_pad.push_event(gst::event::Segment::new(&segment));
        }
        if let Some(counters) = self.counters.get() {
            counters.add_fed();
        }
        let writable = buffer.make_mut();
        if !by_segment {
            writable.set_pts(stamps.pts);
            writable.set_dts(stamps.dts);
        }
        if stamps.decode_only {
            writable.set_flags(gst::BufferFlags::DECODE_ONLY);
        }
        if hide_discontinuity {
            writable.unset_flags(gst::BufferFlags::DISCONT);
        }
        self.src_pad.push(buffer)
    }

    fn sink_event(&self, pad: &gst::Pad, event: gst::Event) -> bool {
        use gst::EventView;
        let through = self.flush_through.load(Ordering::Acquire);
        match event.view() {
            EventView::FlushStart(_) => !through || self.src_pad.push_event(event),
            EventView::FlushStop(_) => {
                let mut state = self.state();
                state.between = false;
                state.over = false;
                if !through {
                    return true;
                }
                state.timeline.restart();
                state.segment_sent = false;
                drop(state);
                self.src_pad.push_event(event)
            }
            EventView::StreamStart(_) => {
                let first = !std::mem::replace(&mut self.state().stream_started, true);
                !first || self.src_pad.push_event(event)
            }
            EventView::Caps(caps) => {
                let (caps, event) = match trusted(caps.caps()) {
                    Some(caps) => (caps.clone(), gst::event::Caps::new(&caps)),
                    None => (caps.caps_owned(), event),
                };
                let mut state = self.state();
                if state.caps.as_ref() == Some(&caps) {
                    return true;
                }
                state.timeline.set_period(period(&caps));
                state.by_segment = carries_alpha(&caps);
                state.caps = Some(caps);
                drop(state);
                self.src_pad.push_event(event)
            }
            EventView::Segment(segment) => self.segment(segment.segment()),
            EventView::Eos(_) | EventView::SegmentDone(_) => {
                self.pass_ended(true);
                true
            }
            // A decoder drains at a gap, and none of the others says anything in a stream without an end.
            EventView::Gap(_) | EventView::StreamGroupDone(_) | EventView::StreamCollection(_) => true,
            _ => gst::Pad::event_default(pad, Some(&*self.obj()), event),
        }
    }

    /// Segments stay here: downstream has one, from the origin without an end, or one of its own for each pass.
    fn segment(&self, segment: &gst::Segment) -> bool {
        let mut state = self.state();
        let Some(segment) = segment.downcast_ref::<gst::ClockTime>() else {
            // Bytes that nobody parsed.
            drop(state);
            self.tell(PassEnd::Timeless);
            return false;
        };
        state.timeline.set_segment(segment);
        if state.by_segment {
            // With the next buffer.
            state.segment_sent = false;
            return true;
        }
        if std::mem::replace(&mut state.segment_sent, true) {
            return true;
        }
        let speed = state.manner.speed;
        drop(state);
        let mut endless = gst::FormattedSegment::<gst::ClockTime>::new();
        endless.set_start(ORIGIN);
        endless.set_position(ORIGIN);
        // Timestamps are the video's; how fast they go by is said here alone, so positions are the video's, too.
        endless.set_rate(speed);
        self.src_pad.push_event(gst::event::Segment::new(&endless))
    }

    fn src_event(&self, pad: &gst::Pad, event: gst::Event) -> bool {
        match event.view() {
            // Its times mean nothing before this element.
            gst::EventView::Qos(_) => true,
            gst::EventView::Seek(_) => false,
            _ => gst::Pad::event_default(pad, Some(&*self.obj()), event),
        }
    }
}
