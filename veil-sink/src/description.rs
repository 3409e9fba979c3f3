//! What a sink does at present, in the words that `veil status` shows: nobody has to guess.

use std::borrow::Cow;
use veil_frame::{ChromaSite, Colorimetry, PixelFormat, Size};

/// How frames become presentable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// The decoder's own memory is attached: nothing is drawn.
    Direct,
    /// A GPU converts each frame into a dmabuf.
    Convert,
    /// The CPU converts each frame straight into a `wl_shm` buffer.
    Shm,
}

impl RouteKind {
    /// Its name in `veil status`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Convert => "convert",
            Self::Shm => "shm",
        }
    }
}

/// Where a stream's frames come from, and what happens to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// What the decoder gives; `None` before caps were agreed on.
    pub stream: Option<StreamDescription>,
    /// What is made of it; `None` until a frame was drawn.
    pub route: Option<RouteDescription>,
}

/// What the decoder gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamDescription {
    /// Kind of memory: “system” or “dmabuf”; by the caps, until a frame was seen.
    pub memory: &'static str,
    /// Format of the pixels, by GStreamer's name.
    pub name: &'static str,
    /// Format that is converted: the same, or what GStreamer's own functions unpack it into.
    pub format: PixelFormat,
    /// Columns and rows by the caps, before crop, turn and pixel aspect ratio.
    pub size: Size,
    /// Frames a second as a fraction; 0/1 when they come at no fixed rate.
    pub framerate: (u32, u32),
    /// What its numbers mean, as far as it said; assumed for the rest.
    pub colorimetry: Colorimetry,
    /// Where its chroma samples sit, or are assumed to.
    pub site: ChromaSite,
}

/// What is made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteDescription {
    /// The route.
    pub kind: RouteKind,
    /// Why this one, in a few words.
    pub reason: Cow<'static, str>,
    /// Columns and rows of the targets that are drawn.
    pub target: Size,
}
