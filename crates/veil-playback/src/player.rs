//! A file that plays, for ever.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::assembly::Assembly;
use crate::counters::Stats;
use crate::decoder::DecoderInfo;
use crate::failure::{Meaning, Origin};
use crate::inbox::{Inbox, Signal};
use crate::manner::Manner;
use crate::opening::{Attempt, preroll, settle};
use crate::refusal::{OpenError, Refusal};
use crate::scan::LookAhead;
use crate::source::Source;

/// How many decoders are tried for one file.
const MOST_ATTEMPTS: usize = 8;

/// How long a seek may take until its picture is there.
const ARRIVES_WITHIN: gst::ClockTime = gst::ClockTime::from_seconds(10);

/// What to play, and how.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The file.
    pub path: PathBuf,
    /// Stay on the first picture until [`Player::play`].
    pub start_paused: bool,
    /// Where in the file to start. Where it cannot be sought in, it starts at its beginning.
    pub position: Option<Duration>,
    /// Names of decoder factories that are not to be tried: those that failed before.
    pub excluded: Vec<String>,
    /// How fast, how many pictures, how often.
    pub manner: Manner,
}

/// What happened to a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerEvent {
    /// The file is a single picture. It is in the sink, and nothing will move.
    Still,
    /// The file was to be played once, and its last picture has been on show for its time. It stays in the sink, and nothing
    /// moves any more.
    Ended,
    /// A picture in the file is broken. It plays on as well as it goes. Told once.
    Damaged,
    /// The decoder failed in mid-stream; nothing moves any more. Open the file again with this decoder excluded.
    DecoderFailed {
        /// The name of its factory.
        element: String,
        /// One line.
        reason: String,
    },
    /// The sink does not take any more what was agreed on, and the decoder does not give other; nothing moves any more. Open
    /// the file again at this place.
    Disagreed {
        /// The place in the file that was on show, where it is known.
        position: Option<Duration>,
        /// One line.
        reason: String,
    },
    /// Nothing moves any more: the file cannot be read further, or the sink failed.
    Failed {
        /// One line, without the file's name.
        reason: String,
    },
}

/// The file cannot be sought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this file has no places to go to")]
pub struct SeekError;

/// A pipeline that plays a file for ever. Dropping it frees the sink, stops the pipeline and waits until none of its
/// threads is left; after a second without an end (some drivers hang) it is left to end when it can.
///
/// A loop is one period of the video after the last picture, for the sink as for the decoder: they get one endless
/// stream with timestamps that go on, in a single segment. Sound that is longer or shorter than the video makes no
/// difference. A file of a single picture does not loop: it stays paused on it.
pub struct Player {
    assembly: Arc<Assembly>,
    decoder: DecoderInfo,
    told_still: AtomicBool,
    at_place: bool,
}

impl Player {
    /// Plays a file into `sink`, which must be in no bin. Blocks until the first picture is in the sink.
    ///
    /// A decoder that fails before is replaced by the next in rank, also where the failed one hangs while it is stopped. An
    /// error says in a line why the file is not played; the sink is free again then.
    pub fn open(settings: Settings, sink: gst::Element) -> Result<Self, OpenError> {
        let source = Arc::new(Source::open(&settings.path)?);
        let mut look_ahead = LookAhead::begin(&source);
        let mut refusal = Refusal::new(&settings.path, &source);
        let mut excluded = settings.excluded.clone();
        for _ in 0..MOST_ATTEMPTS {
            let inbox = Arc::new(Inbox::new()?);
            let assembly = Assembly::new(
                Arc::clone(&source),
                &sink,
                excluded.clone(),
                settings.manner,
                inbox,
            )
            .map_err(|error| OpenError::Incomplete(error.to_string()))?;
            match preroll(&assembly, &mut refusal, &settings.path) {
                Ok(_) if look_ahead.take().is_some_and(LookAhead::finds_damage) => {
                    assembly.close();
                    let reason = String::from("the data of its pictures does not add up");
                    return Err(OpenError::Damaged {
                        path: settings.path,
                        reason,
                    });
                }
                Ok(decoder) => {
                    tracing::info!("video decoder: {decoder}");
                    let mut player = Self {
                        assembly,
                        decoder,
                        told_still: AtomicBool::new(false),
                        at_place: true,
                    };
                    player.at_place = player.start(&settings);
                    return Ok(player);
                }
                Err(Attempt::Refused(error)) => {
                    assembly.close();
                    return Err(error);
                }
                Err(Attempt::DecoderFailed { element, reason }) => {
                    assembly.close();
                    tracing::warn!("decoder {element} fails at the first picture: {reason}");
                    excluded.push(element.clone());
                    refusal.decoder_failed(element, reason);
                }
            }
        }
        Err(refusal.no_decoder(&gst::Caps::new_empty()))
    }

    /// Whether it began where it was told; a still has one place only.
    pub fn is_at_place(&self) -> bool {
        self.at_place
    }

    fn start(&self, settings: &Settings) -> bool {
        let mut at_place = true;
        if self.is_still() {
            // Said while nobody listened.
            self.assembly.inbox.put(Signal::Still);
        }
        // A still has one place only.
        if let Some(position) = settings.position.filter(|_| !self.is_still()) {
            match self.seek(position) {
                Ok(()) => settle(&self.assembly),
                Err(SeekError) => {
                    at_place = false;
                    tracing::debug!("the file cannot be sought in, so it starts at its beginning");
                }
            }
        }
        if !settings.start_paused {
            self.play();
        }
        at_place
    }

    /// Moves on. May block.
    pub fn play(&self) {
        // A still has no clock to run.
        if !self.is_still() {
            self.set_state(gst::State::Playing);
        }
    }

    /// Holds the picture that is on show. Nothing is decoded then but the next picture. May block.
    pub fn pause(&self) {
        self.set_state(gst::State::Paused);
    }

    fn set_state(&self, state: gst::State) {
        if let Err(error) = self.assembly.pipeline.set_state(state) {
            // The element that refused has said why on the bus.
            tracing::debug!("the pipeline does not go to {state:?}: {error}");
        }
    }

    /// Goes to a place in the file. A still stays where it is. May block.
    pub fn seek(&self, position: Duration) -> Result<(), SeekError> {
        if self.is_still() {
            return Ok(());
        }
        let position =
            gst::ClockTime::from_nseconds(u64::try_from(position.as_nanos()).unwrap_or(u64::MAX - 1));
        if self.assembly.seek(position) {
            Ok(())
        } else {
            Err(SeekError)
        }
    }

    /// The same, and waits until the picture of that place is in the sink, or a while has passed.
    pub fn seek_and_wait(&self, position: Duration) -> Result<(), SeekError> {
        self.seek(position)?;
        if !self.is_still() {
            // A flush takes the sink's picture, and the pipeline is on its way to its state until there is one again.
            let _ = self.assembly.pipeline.state(ARRIVES_WITHIN);
        }
        Ok(())
    }

    /// The place in the file that is on show.
    pub fn position(&self) -> Option<Duration> {
        let shown = self.assembly.sink.query_position::<gst::ClockTime>()?;
        self.assembly.endless.media_position(shown).map(Duration::from)
    }

    /// The length of the file, where it is known. Sound may make it longer than the video.
    pub fn duration(&self) -> Option<Duration> {
        self.assembly
            .endless
            .entry()
            .peer_query_duration::<gst::ClockTime>()
            .map(Duration::from)
    }

    /// Whether the file is a single picture, as far as that is known: [`PlayerEvent::Still`] tells when it is.
    pub fn is_still(&self) -> bool {
        self.assembly.counters.still()
    }

    /// The decoder that plays.
    pub fn decoder(&self) -> &DecoderInfo {
        &self.decoder
    }

    /// What was counted since the player was opened.
    pub fn stats(&self) -> Stats {
        // The next pass is read while pictures of the last are still to be shown: a loop counts when it is seen.
        let shown = self.assembly.sink.query_position::<gst::ClockTime>();
        if let Some(loops) = shown.and_then(|shown| self.assembly.endless.loops(shown)) {
            self.assembly.counters.set_loops(loops);
        }
        self.assembly.counters.snapshot()
    }

    /// The factory names of all elements in the pipeline, those within bins included, in no order. An element without a
    /// factory has its own name.
    pub fn elements(&self) -> Vec<String> {
        let elements = self.assembly.pipeline.iterate_recurse().into_iter().flatten();
        elements
            .map(|element| {
                element
                    .factory()
                    .map_or_else(|| element.name().into(), |factory| factory.name().into())
            })
            .collect()
    }

    /// Hands out what happened since the last call. Never blocks. Call it when the player's descriptor is readable.
    pub fn dispatch(&self, mut on_event: impl FnMut(PlayerEvent)) {
        while let Some(signal) = self.assembly.inbox.take() {
            if let Some(event) = self.event(signal) {
                on_event(event);
            }
        }
    }

    fn event(&self, signal: Signal) -> Option<PlayerEvent> {
        Some(match signal {
            Signal::Still if !self.told_still.swap(true, Ordering::Relaxed) => PlayerEvent::Still,
            Signal::Ended if self.assembly.endless.is_over() => PlayerEvent::Ended,
            Signal::Damaged => PlayerEvent::Damaged,
            Signal::Barren => PlayerEvent::Failed {
                reason: String::from("no picture can be decoded any more"),
            },
            Signal::Stuck(reason) => PlayerEvent::Failed { reason },
            Signal::Failed(failure) => match failure.origin {
                Origin::Decoder(element) => PlayerEvent::DecoderFailed {
                    element,
                    reason: failure.text,
                },
                Origin::Sink if failure.meaning == Meaning::Disagreed => PlayerEvent::Disagreed {
                    position: self.position(),
                    reason: failure.text,
                },
                Origin::Sink => PlayerEvent::Failed { reason: failure.text },
                // The loop tries again, and says so where it gives up.
                Origin::Source => return None,
            },
            _ => return None,
        })
    }
}

impl AsFd for Player {
    /// Readable while there is something to [`dispatch`](Player::dispatch).
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.assembly.inbox.as_fd()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.assembly.close();
    }
}
