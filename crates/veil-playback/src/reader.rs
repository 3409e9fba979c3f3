//! What reads the file and takes it apart: `filesrc ! parsebin`.
//!
//! parsebin finds the type by content, takes the container apart, and offers a pad for each stream. Pads that nobody
//! links are no fault: a demuxer goes on while one of its pads is linked. Sound and text are offered as they are, without
//! a parser. parsebin hides its own state changes from the pipeline (`async-handling`), for one that comes later must
//! not make the pipeline wait for a first picture again.

use std::sync::{Arc, Weak};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;

use crate::assembly::{Assembly, is_idle, lock};
use crate::inbox::Signal;

/// The elements that read.
#[derive(Debug)]
pub(crate) struct Reader {
    file: gst::Element,
    parse: gst::Element,
}

impl Assembly {
    /// Adds what reads the file, without starting it.
    pub(crate) fn add_reader(self: &Arc<Self>) -> Result<(), glib::BoolError> {
        let file = gst::ElementFactory::make("filesrc")
            .property("location", self.source.location())
            .build()?;
        let parse = gst::ElementFactory::make("parsebin")
            .property("async-handling", true)
            .build()?;
        self.pipeline.add_many([&file, &parse])?;
        file.link(&parse)?;
        watch(&parse, &Arc::downgrade(self));
        *lock(&self.reader) = Some(Reader { file, parse });
        Ok(())
    }

    /// Takes what reads the file away and puts a new one in its place, at the file's beginning. Not in the reader's
    /// thread.
    pub(crate) fn replace_reader(self: &Arc<Self>) -> Result<(), glib::BoolError> {
        if let Some(old) = lock(&self.reader).take() {
            // The parser first: its thread may be in the file's pad.
            let entry = self.endless.entry();
            if let Some(peer) = entry.peer() {
                let _ = peer.unlink(&entry);
            }
            for element in [&old.parse, &old.file] {
                element.set_locked_state(true);
                let _ = element.set_state(gst::State::Null);
                self.pipeline.remove(element)?;
            }
        }
        self.endless.expect_new_stream();
        self.add_reader()?;
        if let Some(new) = lock(&self.reader).as_ref() {
            new.parse.sync_state_with_parent()?;
            new.file.sync_state_with_parent()?;
        }
        Ok(())
    }

    /// Whether nothing reads the file.
    pub(crate) fn reader_is_idle(&self) -> bool {
        let parse = lock(&self.reader).as_ref().map(|reader| reader.parse.clone());
        // What is pushed to it is pushed by the source.
        parse.is_none_or(|parse| {
            let pushed = parse
                .sink_pads()
                .iter()
                .filter_map(gst::Pad::peer)
                .any(|source| source.task_state() == gst::TaskState::Started);
            !pushed && parse.downcast_ref::<gst::Bin>().is_none_or(is_idle)
        })
    }

    /// A stream of the file. In the streaming thread.
    fn stream_found(self: &Arc<Self>, pad: &gst::Pad) {
        let caps = stream_caps(pad);
        let Some(name) = caps.structure(0).map(|structure| structure.name().to_string()) else {
            return;
        };
        if !(name.starts_with("video/") || name.starts_with("image/")) {
            lock(&self.others).push(name);
            return;
        }
        let entry = self.endless.entry();
        if entry.is_linked() || self.is_closing() {
            return;
        }
        if self.decoder().is_none() && !self.add_decoder(&caps) {
            lock(&self.others).push(name);
            self.inbox.put(Signal::NoDecoder(caps));
            return;
        }
        if let Err(error) = pad.link(&entry) {
            self.give_up(Signal::Stuck(format!(
                "the video stream does not fit its decoder: {error}"
            )));
        }
    }
}

/// Has parsebin offer sound and text as they are.
pub(crate) fn leave_others_unparsed(parse: &gst::Element) {
    parse.connect("autoplug-continue", false, |arguments| {
        let caps = arguments.get(2).and_then(|caps| caps.get::<gst::Caps>().ok());
        Some(caps.is_none_or(|caps| is_worth_parsing(&caps)).to_value())
    });
}

fn watch(parse: &gst::Element, assembly: &Weak<Assembly>) {
    leave_others_unparsed(parse);
    let weak = assembly.clone();
    parse.connect_pad_added(move |_, pad| {
        if let Some(assembly) = weak.upgrade() {
            assembly.stream_found(pad);
        }
    });
    let weak = assembly.clone();
    parse.connect_no_more_pads(move |_| {
        if let Some(assembly) = weak
            .upgrade()
            .filter(|assembly| !assembly.endless.entry().is_linked())
        {
            assembly.inbox.put(Signal::NoVideo(assembly.other_streams()));
        }
    });
}

/// What is known of the stream behind a pad of parsebin.
pub(crate) fn stream_caps(pad: &gst::Pad) -> gst::Caps {
    if let Some(caps) = pad.current_caps() {
        return caps;
    }
    // The parser has not seen a picture yet: what the demuxer says of the stream, in a form that the parser can give.
    let possible = pad.query_caps(None);
    let Some(stream) = pad.stream().and_then(|stream| stream.caps()) else {
        return possible;
    };
    let mut caps = possible.intersect(&stream);
    if caps.is_empty() {
        return stream;
    }
    caps.truncate();
    caps
}

/// Whether a stream may lead to a video.
fn is_worth_parsing(caps: &gst::CapsRef) -> bool {
    let is_other = |name: &str| {
        ["audio/", "text/", "subpicture/", "closedcaption/"]
            .iter()
            .any(|kind| name.starts_with(kind))
    };
    !caps
        .structure(0)
        .is_some_and(|structure| is_other(structure.name()))
}
