//! The element between the parsed stream and the decoder that makes a file endless.
//!
//! Usually a loop is a SEGMENT seek: demuxer, decoder and sink go round together, and a decoder drains before it starts
//! again. A decoder with frame threads then needs several pictures of time at each loop, and the demuxer's idea of the
//! length (sound included) decides how long the last picture stays. Here only what lies *before* this element goes
//! round, by a flushing seek whose flush ends here, or, where there is no seeking, by a fresh demuxer. The decoder and
//! the sink get one stream that never ends: no flush, no new segment, no repeated caps; timestamps that go on (see
//! [`crate::timeline`]). A stream begins with a picture that needs no other, so the decoder goes on from the last to the
//! first as from any picture to the next, and its pipeline of threads stays full.
//!
//! What GStreamer demands of it: events are taken in the streaming thread, except flushes; nothing is pushed with the
//! state locked; a pad that saw EOS takes data again after a flush or a new stream only.

mod caps;
mod imp;
mod owner;
mod passes;
mod state;

use std::sync::Arc;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::subclass::prelude::*;

use crate::counters::Counters;
use crate::manner::Manner;
pub(crate) use crate::timeline::Pass;

/// What the end of a pass asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassEnd {
    /// The next pass: the file from its beginning, after this one.
    Again(Pass),
    /// Nothing: the file was to be played once. The end of the stream was sent on.
    Over,
    /// Nothing: the file is a single picture, which was sent on with the end of the stream.
    Still,
    /// Nothing: pass after pass no picture came out of the decoder. The end of the stream was sent on.
    Barren,
    /// Nothing: the file is a row of pictures of which nothing says when they are due.
    Timeless,
}

/// Called in the streaming thread, so it must be quick and may not wait for it.
type Listener = Box<dyn Fn(PassEnd) + Send + Sync>;

glib::wrapper! {
    /// See the module.
    pub(crate) struct Endless(ObjectSubclass<imp::Endless>) @extends gst::Element, gst::Object;
}

impl Endless {
    /// An element that counts in `counters`, for a file that is to be played so.
    pub(crate) fn new(counters: Arc<Counters>, manner: Manner) -> Self {
        let element: Self = glib::Object::builder().property("name", "endless").build();
        element.imp().set_counters(counters);
        element.imp().set_manner(manner);
        element
    }

    /// Who is told of the end of each pass. Once only.
    pub(crate) fn connect(&self, listener: impl Fn(PassEnd) + Send + Sync + 'static) {
        self.imp().set_listener(Box::new(listener));
    }

    /// Where the parsed stream comes in.
    pub(crate) fn entry(&self) -> gst::Pad {
        self.imp().sink_pad()
    }

    /// Sends what lies before this element to `position` of the file. True where it went there.
    ///
    /// Without `through` the decoder and the sink notice nothing; the streaming thread has to be idle then (a pass has
    /// ended), for nobody wakes it up in the sink. With it they are flushed, and running time starts again.
    pub(crate) fn seek_upstream(&self, position: gst::ClockTime, through: bool) -> bool {
        self.imp().seek_upstream(position, through)
    }

    /// Ends the pass without the stream's own end, because what feeds it has failed. Not in the streaming thread.
    pub(crate) fn break_off(&self) {
        self.imp().pass_ended(false);
    }

    /// Whether this pass was the last to end, and nothing came after it yet.
    pub(crate) fn waits_after(&self, pass: u64) -> bool {
        self.imp().waits_after(pass)
    }

    /// What follows is the file from its beginning again.
    pub(crate) fn add_loop(&self) {
        self.imp().add_loop();
    }

    /// How many loops have been made, where `shown` of the endless stream was shown.
    pub(crate) fn loops(&self, shown: gst::ClockTime) -> Option<u64> {
        self.imp().loops(shown)
    }

    /// Whether the file was to be played once, and was.
    pub(crate) fn is_over(&self) -> bool {
        self.imp().is_over()
    }

    /// What follows is a new stream of the same file, from its beginning.
    pub(crate) fn expect_new_stream(&self) {
        self.imp().expect_new_stream();
    }

    /// Waits, not longer than this, until the current pass has a picture or is over. Whether it is so.
    pub(crate) fn comes_within(&self, limit: Duration) -> bool {
        self.imp().comes_within(limit)
    }

    /// Whether the last pass began at the file's beginning.
    pub(crate) fn began_at_start(&self) -> bool {
        self.imp().began_at_start()
    }

    /// Waits for the flush that a pass may end with, and has no other begun: a queue that hears the end of a flush while
    /// it is being stopped starts its thread again, and whoever stops it waits for ever (seen in GStreamer 1.22). May
    /// block.
    pub(crate) fn end_flushes(&self) {
        self.imp().end_flushes();
    }

    /// Whether a flush that leaves the decoder now must not reach the sink.
    pub(crate) fn flushes_decoder_alone(&self) -> bool {
        self.imp().flushes_decoder_alone()
    }

    /// The place in the file, where `shown` of the endless stream was shown.
    pub(crate) fn media_position(&self, shown: gst::ClockTime) -> Option<gst::ClockTime> {
        self.imp().media_position(shown)
    }
}
