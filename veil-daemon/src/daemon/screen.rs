//! One output: what it shows, and how well.

use super::{assignments::Spec, holds::Holds, stream::StreamId};
use std::time::Duration;
use veil_frame::Size;
use veil_ipc::Source;
use veil_wayland::{Content, PresentationStats};

/// Where the picture on an output comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Feed {
    /// There is none.
    #[default]
    Nothing,
    /// A still picture, drawn for an output of this many pixels.
    Still {
        /// Pixels that it was drawn for.
        drawn_for: Size,
    },
    /// A stream of pictures.
    Stream(StreamId),
    /// A stream that stood still for long: it is opened again when it is to move; its last picture stays.
    Released {
        /// Where in the video it was.
        position: Option<Duration>,
    },
    /// A stream that could not go on; its last picture stays.
    Failed,
    /// A stream that was to play once, and did; its last picture stays.
    Ended,
}

/// One output.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// What it was asked to show; `None` before anything was shown.
    pub(crate) spec: Option<Spec>,
    /// What of that it shows: the same, or one of a list.
    pub(crate) showing: Option<Source>,
    /// Where that comes from.
    pub(crate) feed: Feed,
    /// The picture that is on it, to be shown again when its surface changes.
    pub(crate) content: Option<Content>,
    /// Why it stands still.
    pub(crate) holds: Holds,
    /// It shows a copy of its own, since others that follow its stream go on.
    pub(crate) private: bool,
    /// How often in a row its surface was closed before anything was seen on it.
    pub(crate) closes: u32,
    /// Why the last attempt to show something failed.
    pub(crate) error: Option<String>,
    /// Frames since its wallpaper was set.
    pub(crate) stats: ScreenStats,
}

impl Screen {
    /// Whether it follows this stream.
    pub(crate) fn follows(&self, stream: StreamId) -> bool {
        self.feed == Feed::Stream(stream)
    }
}

/// Frames on one output since its wallpaper was set.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScreenStats {
    /// Frames that the stream had made due before.
    pub(crate) due_before: u64,
    /// Frames that it had dropped before.
    pub(crate) dropped_before: u64,
    /// Loops that it had made before.
    pub(crate) loops_before: u64,
    /// What became of the commits.
    pub(crate) presented: PresentationStats,
}

impl ScreenStats {
    /// Of a wallpaper whose stream has already made this many frames due, dropped this many, and looped so often.
    pub(crate) fn since(due_before: u64, dropped_before: u64, loops_before: u64) -> Self {
        Self {
            due_before,
            dropped_before,
            loops_before,
            presented: PresentationStats::default(),
        }
    }
}
