//! The pipeline's messages, read where they are posted. None stays on the bus.
//!
//! GStreamer demands of a sync handler that it neither blocks nor changes the pipeline: it may run in any thread of the
//! pipeline, with that element's locks held.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::assembly::{Assembly, lock};
use crate::failure::{Failure, Origin};
use crate::inbox::Signal;

/// Starts to read the messages of this pipeline.
pub(crate) fn listen(assembly: &Arc<Assembly>) {
    let Some(bus) = assembly.pipeline.bus() else {
        return;
    };
    let weak = Arc::downgrade(assembly);
    bus.set_sync_handler(move |_, message| {
        if let Some(assembly) = weak.upgrade().filter(|assembly| !assembly.is_closing()) {
            assembly.read(message);
        }
        gst::BusSyncReply::Drop
    });
}

impl Assembly {
    fn read(self: &Arc<Self>, message: &gst::Message) {
        use gst::MessageView;
        let of_pipeline = message
            .src()
            .is_some_and(|source| source == self.pipeline.upcast_ref::<gst::Object>());
        match message.view() {
            MessageView::AsyncDone(_) if of_pipeline => {
                // The end of a stream without pictures arrives like a picture.
                if self.counters.decoded() > 0 {
                    self.set_prerolled();
                }
                self.inbox.put(Signal::Prerolled);
            }
            MessageView::Eos(_) if of_pipeline => self.inbox.put(Signal::Ended),
            MessageView::Error(error) => {
                let details = error.debug();
                self.failed(
                    Failure::new(self.origin(message), &error.error(), details.as_deref()),
                    details.as_deref(),
                );
            }
            MessageView::Warning(warning) => {
                tracing::debug!("GStreamer warns: {} ({:?})", warning.error(), warning.debug());
            }
            MessageView::Qos(qos) if matches!(self.origin(message), Origin::Decoder(_)) => {
                if let gst::GenericFormattedValue::Buffers(Some(dropped)) = qos.stats().1 {
                    // The jitter is how late it was. What cannot be decoded is dropped, too, at any time.
                    self.counters.set_dropped(dropped.into(), qos.values().0 > 0);
                }
            }
            MessageView::Element(element) => {
                let unreadable = element
                    .structure()
                    .filter(|structure| structure.name() == "missing-plugin");
                if let Some(caps) = unreadable.and_then(|structure| structure.get::<gst::Caps>("detail").ok())
                {
                    self.inbox.put(Signal::Unreadable(caps));
                }
            }
            _ => {}
        }
    }

    fn failed(self: &Arc<Self>, failure: Failure, details: Option<&str>) {
        tracing::debug!("GStreamer reports {failure:?} ({details:?})");
        if !self.has_prerolled() {
            self.inbox.put(Signal::Failed(failure));
            return;
        }
        match failure.origin {
            Origin::Sink => self.give_up(Signal::Failed(failure)),
            // Some decoders report a broken picture like this and go on. One that does not stops the reader, too.
            Origin::Decoder(_) => {
                self.tell_damage();
                *lock(&self.decoder_failure) = Some(failure);
            }
            Origin::Source => match lock(&self.decoder_failure).take() {
                Some(cause) if failure.is_aftermath() => self.give_up(Signal::Failed(cause)),
                _ => {
                    self.reader_failed.store(true, Ordering::Release);
                    self.recover();
                }
            },
        }
    }

    fn origin(&self, message: &gst::Message) -> Origin {
        let Some(source) = message.src() else {
            return Origin::Source;
        };
        let within = |element: &gst::Element| {
            source == element.upcast_ref::<gst::Object>() || source.has_as_ancestor(element)
        };
        if within(&self.sink) {
            return Origin::Sink;
        }
        match self.decoder() {
            Some(decoder) if within(&decoder.element) => Origin::Decoder(decoder.info.element),
            _ => Origin::Source,
        }
    }
}
