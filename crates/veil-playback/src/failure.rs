//! GStreamer's error messages, sorted by where they come from and what they mean.

use gstreamer as gst;
use gstreamer::glib;

/// Which part of the pipeline failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// What reads the file.
    Source,
    /// The decoder of this name.
    Decoder(String),
    /// The sink that the caller gave.
    Sink,
}

/// What the failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is no media file that GStreamer knows.
    UnknownType,
    /// It is text, or not what it seemed to be at first.
    WrongType,
    /// Something is missing that would read it.
    MissingPlugin,
    /// It is encrypted.
    Encrypted,
    /// The sink does not take any more what was agreed on.
    Disagreed,
    /// Whatever the text says.
    Other,
}

/// An error message of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) origin: Origin,
    pub(crate) meaning: Meaning,
    /// One line, GStreamer's own.
    pub(crate) text: String,
}

impl Failure {
    /// Reads an error. `details` is what GStreamer adds for developers.
    pub(crate) fn new(origin: Origin, error: &glib::Error, details: Option<&str>) -> Self {
        let meaning = match error.kind::<gst::StreamError>() {
            Some(gst::StreamError::TypeNotFound) => Meaning::UnknownType,
            Some(gst::StreamError::WrongType) => Meaning::WrongType,
            Some(gst::StreamError::CodecNotFound) => Meaning::MissingPlugin,
            Some(gst::StreamError::Decrypt | gst::StreamError::DecryptNokey) => Meaning::Encrypted,
            _ if error.matches(gst::CoreError::MissingPlugin) => Meaning::MissingPlugin,
            _ if error.matches(gst::CoreError::Negotiation) => Meaning::Disagreed,
            _ => Meaning::Other,
        };
        Self {
            origin,
            meaning,
            text: one_line(error.message(), details),
        }
    }

    /// Whether this only says that an earlier failure stopped the stream.
    pub(crate) fn is_aftermath(&self) -> bool {
        self.meaning == Meaning::Other && self.text.starts_with("Internal data stream error")
    }
}

/// The message, and the last line of the details where the message says nothing.
fn one_line(message: &str, details: Option<&str>) -> String {
    let message = message
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .trim_end_matches('.');
    let vague = message.starts_with("Internal data")
        || message == "Could not decode stream"
        || message.contains("could not be determined")
        || message.is_empty();
    match details
        .and_then(|details| details.lines().last())
        .filter(|_| vague)
    {
        Some(detail) => format!("{message}: {}", detail.trim().trim_end_matches('.')),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_line_each() {
        assert_eq!(
            one_line("This file is bad.\nReally.", Some("x.c(1): f ():\nwhy")),
            "This file is bad"
        );
        assert_eq!(
            one_line("Internal data stream error.", Some("x.c(1):\nreason error (-5)")),
            "Internal data stream error: reason error (-5)"
        );
    }
}
