//! A look ahead: is the file whole, as far as a moment's reading tells?
//!
//! A damaged file often begins well. Its pictures are read, not decoded, while the first one is being decoded for the
//! screen: what MP4 and Matroska say of the lengths of a picture's parts must add up. Only so much is read as a moment
//! allows; damage behind that, and damage that keeps the lengths, shows while playing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;

use crate::source::Source;
use crate::{nal, reader};

/// The least that it gets.
const LEAST: Duration = Duration::from_millis(60);

/// The most that it gets.
const MOST: Duration = Duration::from_secs(1);

/// A look ahead, in a thread of its own that ends soon after this is dropped.
pub(crate) struct LookAhead {
    begun: Instant,
    damaged: Arc<AtomicBool>,
    over: Receiver<()>,
    bus: gst::Bus,
}

impl LookAhead {
    /// Begins it. `None` where the system gives no thread: then the file is taken as it is.
    pub(crate) fn begin(source: &Arc<Source>) -> Option<Self> {
        let begun = Instant::now();
        let (source, bus, damaged) = (Arc::clone(source), gst::Bus::new(), Arc::default());
        let (to_whom, over) = channel();
        let (own_bus, finding) = (bus.clone(), Arc::clone(&damaged));
        let thread = std::thread::Builder::new().name(String::from("veil-scan"));
        thread
            .spawn(move || {
                let pipeline = look(&source, &own_bus, &finding);
                // Nobody waits for the rest: it could take its time. Nor for this, where the file was refused.
                let _ = to_whom.send(());
                if let Some(pipeline) = pipeline {
                    let _ = pipeline.set_state(gst::State::Null);
                }
            })
            .ok()?;
        Some(Self {
            begun,
            damaged,
            over,
            bus,
        })
    }

    /// Whether a damaged picture was found. Now that the first picture is there, it gets a quarter of the time that this
    /// took on top. Errors of any other kind are for the player to tell.
    pub(crate) fn finds_damage(self) -> bool {
        let taken = self.begun.elapsed();
        let enough = (taken * 5 / 4).clamp(LEAST, MOST);
        // Over or not, what was found until now counts.
        let _ = self.over.recv_timeout(enough.saturating_sub(taken));
        self.damaged.load(Ordering::Acquire)
    }
}

impl Drop for LookAhead {
    fn drop(&mut self) {
        end(&self.bus);
    }
}

fn look(source: &Source, bus: &gst::Bus, damaged: &Arc<AtomicBool>) -> Option<gst::Pipeline> {
    let pipeline = pipeline(source, bus, damaged)
        .inspect_err(|error| tracing::debug!("no look ahead: {error}"))
        .ok()?;
    if pipeline.set_state(gst::State::Playing).is_ok() {
        let limit = gst::ClockTime::try_from(MOST).unwrap_or(gst::ClockTime::ZERO);
        let over = [
            gst::MessageType::Eos,
            gst::MessageType::Error,
            gst::MessageType::Application,
        ];
        bus.timed_pop_filtered(limit, &over);
    }
    Some(pipeline)
}

fn pipeline(
    source: &Source,
    bus: &gst::Bus,
    damaged: &Arc<AtomicBool>,
) -> Result<gst::Pipeline, glib::BoolError> {
    let pipeline = gst::Pipeline::new();
    pipeline.set_bus(Some(bus));
    let file = gst::ElementFactory::make("filesrc")
        .property("location", source.location())
        .build()?;
    let parse = gst::ElementFactory::make("parsebin").build()?;
    let sink = gst::ElementFactory::make("fakesink")
        .property("sync", false)
        .build()?;
    pipeline.add_many([&file, &parse, &sink])?;
    file.link(&parse)?;
    reader::leave_others_unparsed(&parse);
    let entry = sink
        .static_pad("sink")
        .ok_or_else(|| glib::bool_error!("fakesink has no pad"))?;
    watch(&entry, bus, damaged);
    let (pad_entry, over) = (entry.downgrade(), bus.clone());
    parse.connect_pad_added(move |_, pad| {
        let Some(entry) = pad_entry.upgrade().filter(|entry| !entry.is_linked()) else {
            return;
        };
        let caps = reader::stream_caps(pad);
        let is_video = caps
            .structure(0)
            .is_some_and(|structure| structure.name().starts_with("video/"));
        if is_video && pad.link(&entry).is_err() {
            end(&over);
        }
    });
    Ok(pipeline)
}

/// Looks at each picture that passes this pad.
fn watch(pad: &gst::Pad, bus: &gst::Bus, damaged: &Arc<AtomicBool>) {
    let (bus, damaged) = (bus.clone(), Arc::clone(damaged));
    pad.add_probe(gst::PadProbeType::BUFFER, move |pad, info| {
        let Some(buffer) = info.buffer() else {
            return gst::PadProbeReturn::Ok;
        };
        match pad.current_caps().and_then(|caps| nal::is_whole(&caps, buffer)) {
            Some(true) => {}
            Some(false) => {
                damaged.store(true, Ordering::Release);
                end(&bus);
            }
            // Nothing to be told of such streams.
            None => end(&bus),
        }
        gst::PadProbeReturn::Ok
    });
}

/// Ends the wait.
fn end(bus: &gst::Bus) {
    // Refused only while the pipeline goes down.
    let _ = bus.post(gst::message::Application::new(gst::Structure::new_empty(
        "veil-scan-over",
    )));
}
