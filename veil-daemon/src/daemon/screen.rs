//! One output: what it shows, and how well.

use super::{assignments::Spec, stream::StreamId};
use std::time::Duration;
use veil_frame::{Shown, Size};
use veil_wayland::Content;

/// Where the picture on an output comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Source {
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
    /// A stream that could not go on; its last picture stays.
    Failed,
}

/// One output.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// What it shows; `None` before anything was shown.
    pub(crate) spec: Option<Spec>,
    /// Where that comes from.
    pub(crate) source: Source,
    /// The picture that is on it, to be shown again when its surface changes.
    pub(crate) content: Option<Content>,
    /// The user wants it to stand still.
    pub(crate) paused: bool,
    /// It shows a copy of its own, since others that follow its stream go on.
    pub(crate) private: bool,
    /// How often in a row its surface was closed before it got a size.
    pub(crate) closes: u32,
    /// Why the last attempt to show something failed.
    pub(crate) error: Option<String>,
    /// Frames since its wallpaper was set.
    pub(crate) stats: ScreenStats,
}

impl Screen {
    /// Whether it follows this stream.
    pub(crate) fn follows(&self, stream: StreamId) -> bool {
        self.source == Source::Stream(stream)
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
    /// The first commit of this wallpaper; 0 before it.
    first: u64,
    in_flight: u64,
    /// Frames that were on the screen.
    pub(crate) shown: u64,
    last: Option<Duration>,
    intervals: u64,
    sum: Duration,
    longest: Duration,
}

impl ScreenStats {
    /// Of a wallpaper whose stream has already made this many frames due, dropped this many, and looped so often.
    pub(crate) fn since(due_before: u64, dropped_before: u64, loops_before: u64) -> Self {
        Self {
            due_before,
            dropped_before,
            loops_before,
            ..Self::default()
        }
    }

    /// Notes a commit.
    pub(crate) fn committed(&mut self, token: u64) {
        if self.first == 0 {
            self.first = token;
        }
        self.in_flight += 1;
    }

    /// Notes what became of a commit. One of the wallpaper before does not count.
    pub(crate) fn note(&mut self, token: u64, shown: Shown) {
        if self.first == 0 || token < self.first {
            return;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        let Shown::At(time) = shown else { return };
        // Two commits with one time: only one of them was on the screen. Frame callbacks, which count where feedback does
        // not, come for both.
        if self.last == Some(time) {
            return;
        }
        self.shown += 1;
        if let Some(interval) = self.last.and_then(|last| time.checked_sub(last)) {
            self.intervals += 1;
            self.sum += interval;
            self.longest = self.longest.max(interval);
        }
        self.last = Some(time);
    }

    /// Frames that were due and never shown, when `due` have been; those whose fate is not known yet do not count.
    pub(crate) fn missed(&self, due: u64) -> u64 {
        due.saturating_sub(self.shown + self.in_flight)
    }

    /// The next frame does not follow on the last: there was a pause between them.
    pub(crate) fn interrupted(&mut self) {
        self.last = None;
    }

    /// Mean and longest time between frames on the screen.
    pub(crate) fn intervals(&self) -> Option<(Duration, Duration)> {
        let count = u32::try_from(self.intervals).ok().filter(|count| *count > 0)?;
        Some((self.sum / count, self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_no_interval() {
        let mut stats = ScreenStats::default();
        let at = |ms| Shown::At(Duration::from_millis(ms));
        for token in 5..10 {
            stats.committed(token);
        }
        stats.note(4, at(50));
        stats.note(5, at(100));
        assert_eq!(stats.intervals(), None);
        stats.note(6, at(130));
        stats.note(7, Shown::Never);
        stats.interrupted();
        stats.note(8, at(9000));
        assert_eq!((stats.shown, stats.missed(5)), (3, 1));
        stats.note(9, at(9050));
        assert_eq!((stats.shown, stats.missed(5)), (4, 1));
        assert_eq!(
            stats.intervals(),
            Some((Duration::from_millis(40), Duration::from_millis(50)))
        );
    }

    #[test]
    fn two_commits_in_one_refresh_are_one_frame_shown() {
        let mut stats = ScreenStats::default();
        for (token, ms) in [(1, 100), (2, 133), (3, 133), (4, 166)] {
            stats.committed(token);
            stats.note(token, Shown::At(Duration::from_millis(ms)));
        }
        assert_eq!((stats.shown, stats.missed(4)), (3, 1));
        assert_eq!(
            stats.intervals(),
            Some((Duration::from_millis(33), Duration::from_millis(33)))
        );
    }
}
