//! A stream of pictures: one file that is played, for all the outputs that show it.

use super::phase::Phase;
use crate::media::kind::FileKey;
use calloop::{RegistrationToken, ping::Ping};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use veil_frame::{Demand, Presentable};
use veil_ipc::Source;
use veil_playback::Player;
use veil_sink::{LoopPresenter, VeilSink};

/// Names a stream; never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StreamId(pub(crate) u64);

/// What plays it; there once the first picture is.
pub(crate) struct Playing {
    /// The pipeline. Shared with jobs of the media worker; the last one to let go must not be the loop.
    pub(crate) player: Arc<Player>,
    /// Its sink.
    pub(crate) sink: VeilSink,
    /// How long the video is, where that is known.
    pub(crate) length: Option<Duration>,
    /// The source of its bus messages in the loop.
    pub(crate) bus: Option<RegistrationToken>,
}

/// A stream of pictures.
pub(crate) struct Stream {
    /// What is played, as it was asked for.
    pub(crate) source: Source,
    /// The file, whatever it is called; known once it was opened.
    pub(crate) key: Option<FileKey>,
    /// Where its sink puts the pictures.
    pub(crate) presenter: Arc<LoopPresenter>,
    /// The newest picture.
    pub(crate) newest: Option<Presentable>,
    /// What plays it; `None` while it is being opened and after it failed.
    pub(crate) playing: Option<Playing>,
    /// Whether it was told to play; it may still be on its way there.
    pub(crate) running: bool,
    /// How often in a row it was opened again before it has played for a while.
    pub(crate) reopened: u32,
    /// Lets go of the pipeline when it has stood still for long.
    pub(crate) release: Option<RegistrationToken>,
    /// When in a refresh its pictures come.
    pub(crate) phase: Phase,
    /// When its newest picture came.
    pub(crate) last_picture: Option<Instant>,
}

impl Stream {
    pub(crate) fn new(source: Source, demand: Demand, ping: Ping) -> Self {
        Self {
            source,
            key: None,
            presenter: LoopPresenter::new(demand, ping),
            newest: None,
            playing: None,
            running: false,
            reopened: 0,
            release: None,
            phase: Phase::default(),
            last_picture: None,
        }
    }

    /// Frames that were due, and of these the ones that were dropped before any output.
    pub(crate) fn due_and_dropped(&self) -> (u64, u64) {
        let Some(playing) = &self.playing else {
            return (0, 0);
        };
        let sink = playing.sink.stats().snapshot();
        let skipped = playing.player.stats().skipped;
        // Not what was received: a frame that was drawn and waits for its time is not due yet.
        (
            sink.submitted + sink.no_target + sink.late + skipped,
            sink.dropped() + skipped,
        )
    }

    /// How often it began anew.
    pub(crate) fn loops(&self) -> u64 {
        self.playing
            .as_ref()
            .map_or(0, |playing| playing.player.stats().loops)
    }
}
