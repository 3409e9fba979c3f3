//! The pipeline: `filesrc ! parsebin ! endless ! [parser !] decoder ! sink`, put together as the streams become known.
//!
//! GStreamer demands: elements in one bin before they are linked; a new element brought to its parent's state after it
//! was linked; the pipeline NULL before its last reference goes. No reference may go round: what the elements' signals
//! call holds the assembly weakly.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;

use crate::counters::Counters;
use crate::decoder::{Candidate, DecoderInfo, candidates, tune};
use crate::endless::{Endless, PassEnd};
use crate::inbox::{Inbox, Signal};
use crate::looping::Loops;
use crate::reader::Reader;

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
    /// The file, under a name that stays.
    pub(crate) location: PathBuf,
    /// Decoders not to be tried.
    excluded: Vec<String>,
    decoder: Mutex<Option<Decoder>>,
    pub(crate) reader: Mutex<Option<Reader>>,
    pub(crate) loops: Mutex<Loops>,
    /// What reads the file has failed in this pass.
    pub(crate) reader_failed: AtomicBool,
    closing: AtomicBool,
    /// A picture has been in the sink.
    prerolled: AtomicBool,
    /// Types of the streams that are no video, or that nothing decodes.
    pub(crate) others: Mutex<Vec<String>>,
}

impl Assembly {
    /// A pipeline with all but the decoder, not started. Fails with the name of an element that GStreamer lacks.
    pub(crate) fn new(
        location: PathBuf,
        sink: &gst::Element,
        excluded: Vec<String>,
        inbox: Arc<Inbox>,
    ) -> Result<Arc<Self>, glib::BoolError> {
        let counters = Arc::new(Counters::default());
        let endless = Endless::new(Arc::clone(&counters));
        let pipeline = gst::Pipeline::new();
        pipeline.add(&endless)?;
        pipeline.add(sink)?;
        let assembly = Arc::new(Self {
            pipeline,
            endless,
            sink: sink.clone(),
            inbox,
            counters,
            location,
            excluded,
            decoder: Mutex::new(None),
            reader: Mutex::new(None),
            loops: Mutex::new(Loops::default()),
            reader_failed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
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
        let elements = self.pipeline.iterate_recurse().into_iter().flatten();
        !elements
            .flat_map(|element| element.pads())
            .any(|pad| pad.task_state() == gst::TaskState::Started)
    }

    /// Whether the pipeline is on its way out, and nothing should be begun.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Stops everything. Blocks until no thread is in the pipeline.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        // First time: ends what a loop in progress may wait for. Second time: what that loop has added.
        let _ = self.pipeline.set_state(gst::State::Null);
        drop(lock(&self.loops));
        let _ = self.pipeline.set_state(gst::State::Null);
        let _ = self.pipeline.remove(&self.sink);
    }

    /// Puts a decoder for this stream in. In the streaming thread. False where none is left to try.
    pub(crate) fn add_decoder(self: &Arc<Self>, stream: &gst::Caps) -> bool {
        let Some(sink_pad) = self.sink.static_pad("sink") else {
            return false;
        };
        let accepted = sink_pad.query_caps(None);
        candidates(stream, &accepted, &self.excluded)
            .iter()
            .any(|candidate| {
                let name = candidate.decoder.name();
                match self.try_decoder(candidate, stream) {
                    Ok(()) => true,
                    Err(reason) => {
                        tracing::warn!("decoder {name} does not start: {reason}");
                        false
                    }
                }
            })
    }

    fn try_decoder(self: &Arc<Self>, candidate: &Candidate, stream: &gst::Caps) -> Result<(), String> {
        let element = candidate
            .decoder
            .create()
            .build()
            .map_err(|error| error.to_string())?;
        tune(&element, stream);
        start(&element)?;
        let parser = candidate
            .parser
            .as_ref()
            .map(|parser| parser.create().build())
            .transpose();
        let parser = parser.map_err(|error| error.to_string())?;
        let new: Vec<&gst::Element> = parser.iter().chain([&element]).collect();
        let linked = self.link(&new);
        if let Err(error) = linked {
            self.discard(&new);
            return Err(error.to_string());
        }
        self.watch_exit(&element);
        *lock(&self.decoder) = Some(Decoder {
            element: element.clone(),
            info: candidate.info(),
        });
        for element in new.iter().rev() {
            if let Err(error) = element.sync_state_with_parent() {
                *lock(&self.decoder) = None;
                self.discard(&new);
                return Err(error.to_string());
            }
        }
        Ok(())
    }

    fn link(&self, new: &[&gst::Element]) -> Result<(), glib::BoolError> {
        self.pipeline.add_many(new.iter().copied())?;
        let chain = [self.endless.upcast_ref()]
            .into_iter()
            .chain(new.iter().copied())
            .chain([&self.sink]);
        gst::Element::link_many(chain)
    }

    fn discard(&self, elements: &[&gst::Element]) {
        for element in elements {
            // Not so much as in the pipeline, perhaps.
            let _ = element.set_state(gst::State::Null);
            let _ = self.pipeline.remove(*element);
        }
    }

    /// Counts what leaves the decoder, and keeps flushes from the sink that are for the decoder alone.
    fn watch_exit(&self, decoder: &gst::Element) {
        let Some(pad) = decoder.static_pad("src") else {
            return;
        };
        let counters = Arc::clone(&self.counters);
        pad.add_probe(gst::PadProbeType::BUFFER, move |_, _| {
            counters.add_decoded();
            gst::PadProbeReturn::Ok
        });
        let endless = self.endless.downgrade();
        pad.add_probe(gst::PadProbeType::EVENT_FLUSH, move |_, _| {
            if endless
                .upgrade()
                .is_some_and(|endless| endless.flushes_decoder_alone())
            {
                // "Drop" would have GStreamer 1.22 give the event back twice.
                gst::PadProbeReturn::Handled
            } else {
                gst::PadProbeReturn::Ok
            }
        });
    }

    fn pass_ended(self: &Arc<Self>, end: PassEnd) {
        match end {
            PassEnd::Again(pass) => self.go_again(pass),
            PassEnd::Still => {
                self.counters.set_still();
                self.inbox.put(Signal::Still);
            }
            PassEnd::Barren => self.inbox.put(Signal::Barren),
            PassEnd::Timeless => self.inbox.put(Signal::Timeless),
        }
    }
}

impl Drop for Assembly {
    fn drop(&mut self) {
        self.close();
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
                && assembly.counters.add_damaged()
            {
                assembly.inbox.put(Signal::Damaged);
            }
            gst::PadProbeReturn::Ok
        });
}

/// Brings a decoder to READY on its own, where its failure is nobody else's: that opens the device.
fn start(element: &gst::Element) -> Result<(), String> {
    let bus = gst::Bus::new();
    element.set_bus(Some(&bus));
    let result = element.set_state(gst::State::Ready);
    element.set_bus(None);
    let Err(error) = result else {
        return Ok(());
    };
    let reason = bus.pop_filtered(&[gst::MessageType::Error]);
    let _ = element.set_state(gst::State::Null);
    Err(match reason.as_ref().map(|message| message.view()) {
        Some(gst::MessageView::Error(message)) => message.error().message().to_owned(),
        _ => error.to_string(),
    })
}

/// Locks what is whole between any two statements that could panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
