//! A decoder put between the stream and the sink.

use std::sync::Arc;

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;

use crate::assembly::{Assembly, Decoder, lock};
use crate::decoder::{Candidate, candidates, tune};
use crate::thinning::thin;

impl Assembly {
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
        if let Some(most) = self.manner.max_fps {
            thin(&pad, most);
        }
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
