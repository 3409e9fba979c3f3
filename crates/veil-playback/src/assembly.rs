//! The pipeline: `filesrc ! parsebin ! endless ! [parser !] decoder ! sink`, put together as the streams become known.
//!
//! GStreamer demands: elements in one bin before they are linked; a new element brought to its parent's state after it
//! was linked; the pipeline NULL before its last reference goes. No reference may go round: what the elements' signals
//! call holds the assembly weakly.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;

use crate::counters::Counters;
use crate::decoder::DecoderInfo;
use crate::endless::{Endless, PassEnd};
use crate::failure::Failure;
use crate::inbox::{Inbox, Signal};
use crate::looping::Loops;
use crate::manner::Manner;
use crate::reader::Reader;
use crate::source::Source;

/// The decoder in the pipeline.
#[derive(Debug, Clone)]
pub(crate) struct Decoder {
    pub(crate) element: gst::Element,
    pub(crate) info: DecoderInfo,
}

/// A pipeline and what belongs to it.
pub(crate) struct Assembly {
    pub(crate) pipeline: gst::Pipeline,
    pub(crate) endless: Endless,
    pub(crate) sink: gst::Element,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) counters: Arc<Counters>,
    /// The file, open as long as anything may read it.
    pub(crate) source: Arc<Source>,
    /// Decoders not to be tried.
    pub(crate) excluded: Vec<String>,
    pub(crate) manner: Manner,
    pub(crate) decoder: Mutex<Option<Decoder>>,
    pub(crate) reader: Mutex<Option<Reader>>,
    pub(crate) loops: Mutex<Loops>,
    /// What reads the file has failed in this pass.
    pub(crate) reader_failed: AtomicBool,
    /// What the decoder said of this pass, if it said anything.
    pub(crate) decoder_failure: Mutex<Option<Failure>>,
    pub(crate) closing: AtomicBool,
    /// Nothing more will come, and the owner knows.
    over: AtomicBool,
    /// A picture has been in the sink.
    prerolled: AtomicBool,
    /// Types of the streams that are no video, or that nothing decodes.
    pub(crate) others: Mutex<Vec<String>>,
}

impl Assembly {
    /// A pipeline with all but the decoder, not started. Fails with the name of an element that GStreamer lacks.
    pub(crate) fn new(
        source: Arc<Source>,
        sink: &gst::Element,
        excluded: Vec<String>,
        manner: Manner,
        inbox: Arc<Inbox>,
    ) -> Result<Arc<Self>, glib::BoolError> {
        let counters = Arc::new(Counters::default());
        let endless = Endless::new(Arc::clone(&counters), manner);
        let pipeline = gst::Pipeline::new();
        pipeline.add(&endless)?;
        pipeline.add(sink)?;
        let assembly = Arc::new(Self {
            pipeline,
            endless,
            sink: sink.clone(),
            inbox,
            counters,
            source,
            excluded,
            manner,
            decoder: Mutex::new(None),
            reader: Mutex::new(None),
            loops: Mutex::new(Loops::default()),
            reader_failed: AtomicBool::new(false),
            decoder_failure: Mutex::new(None),
            closing: AtomicBool::new(false),
            over: AtomicBool::new(false),
            prerolled: AtomicBool::new(false),
            others: Mutex::new(Vec::new()),
        });
        let weak = Arc::downgrade(&assembly);
        watch_for_damage(&assembly);
        assembly.endless.connect(move |end| {
            if let Some(assembly) = weak.upgrade() {
                assembly.pass_ended(end);
            }
        });
        crate::messages::listen(&assembly);
        assembly.add_reader()?;
        Ok(assembly)
    }

    /// The decoder, once there is one.
    pub(crate) fn decoder(&self) -> Option<Decoder> {
        lock(&self.decoder).clone()
    }

    /// Whether a picture has been in the sink. Before that a failure is the file's refusal, not something to recover from.
    pub(crate) fn has_prerolled(&self) -> bool {
        self.prerolled.load(Ordering::Acquire)
    }

    /// From now on failures are recovered from.
    pub(crate) fn set_prerolled(&self) {
        self.prerolled.store(true, Ordering::Release);
    }

    /// Types of the streams that are no video, or that nothing decodes.
    pub(crate) fn other_streams(&self) -> Vec<String> {
        lock(&self.others).clone()
    }

    /// Whether no thread is at work in the pipeline: then no picture will come, whatever was or was not said.
    pub(crate) fn is_idle(&self) -> bool {
        is_idle(self.pipeline.upcast_ref())
    }

    /// Whether the pipeline is on its way out, and nothing should be begun.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire) || self.over.load(Ordering::Acquire)
    }

    /// Tells the owner, once, that nothing more will come.
    pub(crate) fn give_up(&self, last: Signal) {
        if !self.over.swap(true, Ordering::AcqRel) {
            self.inbox.put(last);
        }
    }

    /// Counts a broken picture, and tells the owner of the first.
    pub(crate) fn tell_damage(&self) {
        if self.counters.add_damaged() {
            self.inbox.put(Signal::Damaged);
        }
    }

    fn pass_ended(self: &Arc<Self>, end: PassEnd) {
        match end {
            PassEnd::Again(pass) => self.go_again(pass),
            // The sink tells when the last picture was seen.
            PassEnd::Over => {}
            PassEnd::Still => {
                self.counters.set_still();
                self.inbox.put(Signal::Still);
            }
            PassEnd::Barren => self.give_up(Signal::Barren),
            PassEnd::Timeless => self.give_up(Signal::Timeless),
        }
    }
}

/// Has the first broken picture told.
fn watch_for_damage(assembly: &Arc<Assembly>) {
    let weak = Arc::downgrade(assembly);
    assembly
        .endless
        .entry()
        .add_probe(gst::PadProbeType::BUFFER, move |pad, info| {
            let Some(buffer) = info.buffer() else {
                return gst::PadProbeReturn::Ok;
            };
            if pad
                .current_caps()
                .and_then(|caps| crate::nal::is_whole(&caps, buffer))
                == Some(false)
                && let Some(assembly) = weak.upgrade()
            {
                assembly.tell_damage();
            }
            gst::PadProbeReturn::Ok
        });
}

/// Whether no thread of its own is at work in a bin.
pub(crate) fn is_idle(bin: &gst::Bin) -> bool {
    let elements = bin.iterate_recurse().into_iter().flatten();
    !elements
        .flat_map(|element| element.pads())
        .any(|pad| pad.task_state() == gst::TaskState::Started)
}

/// Locks what is whole between any two statements that could panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
