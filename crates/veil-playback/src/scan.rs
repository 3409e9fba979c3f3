//! A look ahead: is the file whole, as far as a moment's reading tells?
//!
//! A damaged file often begins well. Its pictures are read, not decoded, while the first one is being decoded for the
//! screen: what MP4 and Matroska say of the lengths of a picture's parts must add up. Only so much is read as a moment
//! allows; damage behind that, and damage that keeps the lengths, shows while playing.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;

use crate::{nal, reader};

/// Whether a damaged picture was found before `deadline`. Errors of any other kind are for the player to tell.
pub(crate) fn finds_damage(location: &Path, deadline: Instant) -> bool {
    let damaged = Arc::new(AtomicBool::new(false));
    match pipeline(location, &damaged) {
        Ok(pipeline) => {
            wait(&pipeline, deadline);
            // Whatever it says, it is over.
            let _ = pipeline.set_state(gst::State::Null);
        }
        Err(error) => tracing::debug!("no look ahead: {error}"),
    }
    damaged.load(Ordering::Acquire)
}

fn pipeline(location: &Path, damaged: &Arc<AtomicBool>) -> Result<gst::Pipeline, glib::BoolError> {
    let pipeline = gst::Pipeline::new();
    let file = gst::ElementFactory::make("filesrc")
        .property("location", location)
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
    watch(&entry, &pipeline, damaged);
    let (pad_entry, over) = (entry.downgrade(), pipeline.downgrade());
    parse.connect_pad_added(move |_, pad| {
        let Some(entry) = pad_entry.upgrade().filter(|entry| !entry.is_linked()) else {
            return;
        };
        let caps = reader::stream_caps(pad);
        let is_video = caps
            .structure(0)
            .is_some_and(|structure| structure.name().starts_with("video/"));
        if is_video && pad.link(&entry).is_err() {
            end(over.upgrade().as_ref());
        }
    });
    Ok(pipeline)
}

/// Looks at each picture that passes this pad.
fn watch(pad: &gst::Pad, pipeline: &gst::Pipeline, damaged: &Arc<AtomicBool>) {
    let (pipeline, damaged) = (pipeline.downgrade(), Arc::clone(damaged));
    pad.add_probe(gst::PadProbeType::BUFFER, move |pad, info| {
        let Some(buffer) = info.buffer() else {
            return gst::PadProbeReturn::Ok;
        };
        match pad.current_caps().and_then(|caps| nal::is_whole(&caps, buffer)) {
            Some(true) => {}
            Some(false) => {
                damaged.store(true, Ordering::Release);
                end(pipeline.upgrade().as_ref());
            }
            // Nothing to be told of such streams.
            None => end(pipeline.upgrade().as_ref()),
        }
        gst::PadProbeReturn::Ok
    });
}

/// Ends the wait.
fn end(pipeline: Option<&gst::Pipeline>) {
    if let Some(pipeline) = pipeline {
        let message = gst::message::Application::new(gst::Structure::new_empty("veil-scan-over"));
        // Refused only while the pipeline goes down.
        let _ = pipeline.post_message(message);
    }
}

fn wait(pipeline: &gst::Pipeline, deadline: Instant) {
    let Some(bus) = pipeline.bus() else { return };
    if pipeline.set_state(gst::State::Playing).is_err() {
        return;
    }
    let left = deadline.saturating_duration_since(Instant::now());
    let limit = gst::ClockTime::try_from(left).unwrap_or(gst::ClockTime::ZERO);
    let over = [
        gst::MessageType::Eos,
        gst::MessageType::Error,
        gst::MessageType::Application,
    ];
    bus.timed_pop_filtered(limit, &over);
}
