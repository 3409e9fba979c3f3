//! When a commit was on the screen (`wp_presentation`).
//!
//! Each commit that should be known about asks for one feedback object, which answers once: `presented` with a time of
//! the presentation clock, or `discarded`. A surface that is destroyed takes the answer with it.

use crate::{
    desktop::{Desktop, Event},
    output::OutputId,
};
use smithay_client_toolkit::dispatch2::Dispatch2;
use std::time::Duration;
use veil_frame::Shown;
use wayland_client::{Connection, QueueHandle};
use wayland_protocols::wp::presentation_time::client::{
    wp_presentation::{self, WpPresentation},
    wp_presentation_feedback::{self, WpPresentationFeedback},
};

/// The global has nothing to tell veil: times are only compared with each other.
#[derive(Debug)]
pub(crate) struct PresentationGlobal;

/// Which commit an answer is about.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) output: OutputId,
    pub(crate) token: u64,
}

impl Dispatch2<WpPresentation, Desktop> for PresentationGlobal {
    fn event(
        &self,
        _: &mut Desktop,
        _: &WpPresentation,
        _: wp_presentation::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
    }
}

impl Dispatch2<WpPresentationFeedback, Desktop> for Asked {
    fn event(
        &self,
        desktop: &mut Desktop,
        _: &WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        let shown = match event {
            wp_presentation_feedback::Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, .. } => {
                let seconds = u64::from(tv_sec_hi) << 32 | u64::from(tv_sec_lo);
                Shown::At(Duration::new(seconds, tv_nsec))
            }
            wp_presentation_feedback::Event::Discarded => Shown::Never,
            _ => return,
        };
        desktop.push(Event::Presented { output: self.output, token: self.token, shown });
    }
}
