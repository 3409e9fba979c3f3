//! A file that plays, for ever.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::assembly::Assembly;
use crate::counters::Stats;
use crate::decoder::DecoderInfo;
use crate::failure::{Failure, Origin};
use crate::inbox::{Inbox, Signal};
use crate::refusal::{OpenError, Refusal};
use crate::source::Source;

/// How long the first picture may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// After so long without a word it is looked whether the pipeline does anything at all: parsebin swallows what a
/// demuxer says in the moment in which it is added.
const SILENCE: Duration = Duration::from_millis(300);

/// How long the look ahead may read.
const LOOK_AHEAD: Duration = Duration::from_millis(150);

/// How many decoders are tried for one file.
const MOST_ATTEMPTS: usize = 8;

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
}

/// What happened to a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerEvent {
    /// The file is a single picture. It is in the sink, and nothing will move.
    Still,
    /// A picture in the file is broken. It plays on as well as it goes. Told once.
    Damaged,
    /// The decoder failed in mid-stream; nothing moves any more. Open the file again with this decoder excluded.
    DecoderFailed {
        /// The name of its factory.
        element: String,
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

/// A pipeline that plays a file for ever. Dropping it stops it and waits until none of its threads is left.
///
/// A loop is one period of the video after the last picture, for the sink as for the decoder: they get one endless
/// stream with timestamps that go on, in a single segment. Sound that is longer or shorter than the video makes no
/// difference. A file of a single picture does not loop: it stays paused on it.
pub struct Player {
    assembly: Arc<Assembly>,
    decoder: DecoderInfo,
    told_still: AtomicBool,
    // Holds the file open under the name that the pipeline knows.
    _source: Source,
}

impl Player {
    /// Plays a file into `sink`, which must be in no bin. Blocks until the first picture is in the sink.
    ///
    /// A decoder that fails before is replaced by the next in rank. An error says in a line why the file is not played;
    /// the sink is free again then.
    pub fn open(settings: Settings, sink: gst::Element) -> Result<Self, OpenError> {
        let source = Source::open(&settings.path)?;
        let mut scan = Scan::begin(&source);
        let mut refusal = Refusal::new(&settings.path, &source);
        let mut excluded = settings.excluded.clone();
        for _ in 0..MOST_ATTEMPTS {
            let inbox = Arc::new(Inbox::new()?);
            let assembly = Assembly::new(source.location(), &sink, excluded.clone(), inbox)
                .map_err(|error| OpenError::Incomplete(error.to_string()))?;
            match preroll(&assembly, &mut refusal, &settings) {
                Ok(_) if scan.take().is_some_and(Scan::finds_damage) => {
                    assembly.close();
                    let reason = String::from("the data of its pictures does not add up");
                    return Err(OpenError::Damaged {
                        path: settings.path,
                        reason,
                    });
                }
                Ok(decoder) => {
                    tracing::info!("video decoder: {decoder}");
                    let player = Self {
                        assembly,
                        decoder,
                        told_still: AtomicBool::new(false),
                        _source: source,
                    };
                    player.start(&settings);
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

    fn start(&self, settings: &Settings) {
        if self.is_still() {
            // Said while nobody listened.
            self.assembly.inbox.put(Signal::Still);
        }
        if let Some(position) = settings.position
            && self.seek(position).is_err()
        {
            tracing::debug!("the file cannot be sought in, so it starts at its beginning");
        }
        if !settings.start_paused {
            self.play();
        }
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

/// The look ahead, in a thread of its own while the first picture is decoded.
struct Scan(JoinHandle<bool>);

impl Scan {
    /// Begins it. `None` where the system gives no thread: then the file is taken as it is.
    fn begin(source: &Source) -> Option<Self> {
        let (location, deadline) = (source.location(), Instant::now() + LOOK_AHEAD);
        let thread = std::thread::Builder::new().name(String::from("veil-scan"));
        thread
            .spawn(move || crate::scan::finds_damage(&location, deadline))
            .ok()
            .map(Self)
    }

    /// Waits for its end, which is near.
    fn finds_damage(self) -> bool {
        // A look ahead that panicked has found nothing.
        self.0.join().unwrap_or(false)
    }
}

/// Why an attempt at a first picture failed.
enum Attempt {
    Refused(OpenError),
    DecoderFailed { element: String, reason: String },
}

/// Waits for the first picture.
fn preroll(
    assembly: &Arc<Assembly>,
    refusal: &mut Refusal<'_>,
    settings: &Settings,
) -> Result<DecoderInfo, Attempt> {
    let deadline = Instant::now() + PATIENCE;
    // Nothing links it to the sink yet, so the pipeline may start the reader first; a picture that came to an element
    // that has not started would end the reader without a word.
    let _ = assembly.endless.set_state(gst::State::Paused);
    // Where this fails, an element says why.
    let _ = assembly.pipeline.set_state(gst::State::Paused);
    loop {
        let Some(signal) = assembly.inbox.wait(deadline.min(Instant::now() + SILENCE)) else {
            if Instant::now() >= deadline {
                let seconds = PATIENCE.as_secs();
                return Err(Attempt::Refused(OpenError::Timeout {
                    path: settings.path.clone(),
                    seconds,
                }));
            }
            if assembly.is_idle() {
                return Err(Attempt::Refused(refusal.silent(&assembly.other_streams())));
            }
            continue;
        };
        match signal {
            Signal::Prerolled => {
                // The end of a stream without pictures arrives like a picture.
                if let Some(decoder) = assembly.decoder().filter(|_| assembly.counters.decoded() > 0) {
                    assembly.set_prerolled();
                    return Ok(decoder.info);
                }
            }
            Signal::Failed(Failure {
                origin: Origin::Decoder(element),
                text,
                ..
            }) => {
                return Err(Attempt::DecoderFailed {
                    element,
                    reason: text,
                });
            }
            // Whatever led to this was told before, or is one of these.
            Signal::Failed(failure) if failure.is_aftermath() => {
                return Err(match assembly.decoder() {
                    Some(decoder) => Attempt::DecoderFailed {
                        element: decoder.info.element,
                        reason: failure.text,
                    },
                    None => Attempt::Refused(refusal.no_video(&assembly.other_streams())),
                });
            }
            Signal::Failed(failure) => return Err(Attempt::Refused(refusal.failed(failure))),
            Signal::Unreadable(caps) => refusal.unreadable(caps),
            Signal::NoVideo(streams) => return Err(Attempt::Refused(refusal.no_video(&streams))),
            Signal::NoDecoder(caps) => return Err(Attempt::Refused(refusal.no_decoder(&caps))),
            Signal::Barren | Signal::Ended => {
                let element = assembly
                    .decoder()
                    .map(|decoder| decoder.info.element)
                    .unwrap_or_default();
                let reason = String::from("no picture came out");
                return Err(Attempt::DecoderFailed { element, reason });
            }
            Signal::Stuck(reason) => {
                return Err(Attempt::Refused(OpenError::Damaged {
                    path: settings.path.clone(),
                    reason,
                }));
            }
            Signal::Timeless => {
                return Err(Attempt::Refused(OpenError::Timeless {
                    path: settings.path.clone(),
                }));
            }
            Signal::Still | Signal::Damaged => {}
        }
    }
}
