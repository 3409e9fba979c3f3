//! What tags say about how a picture is shown: its orientation.
//!
//! Tags come as events, for the stream or for the whole file, in any order and more than once.

use gstreamer as gst;

use veil_frame::Orientation;

/// The tags so far. One of the stream says more than one of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tags {
    global: Option<Orientation>,
    stream: Option<Orientation>,
}

impl Tags {
    /// Takes in a list. A list without an orientation changes nothing; a word that is none means upright.
    pub(crate) fn take(&mut self, list: &gst::TagListRef) {
        let Some(tag) = list.get::<gst::tags::ImageOrientation>() else {
            return;
        };
        let orientation = Some(Orientation::from_tag(tag.get()).unwrap_or_default());
        match list.scope() {
            gst::TagScope::Global => self.global = orientation,
            _ => self.stream = orientation,
        }
    }

    /// Forgets what was said of the stream.
    pub(crate) fn next_stream(&mut self) {
        self.stream = None;
    }

    /// How pictures are turned upright.
    pub(crate) fn orientation(&self) -> Orientation {
        self.stream.or(self.global).unwrap_or_default()
    }
}
