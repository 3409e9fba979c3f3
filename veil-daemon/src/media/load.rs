//! The job behind `set`: finds out what a file is, and makes it ready to be shown.

use super::{
    kind::{FileKey, Kind, kind},
    plain::plain,
    playlist::{self, Cursor, ListError},
    still::{Still, StillError},
};
use crate::daemon::{app::KnownStreams, stream::StreamId};
use gstreamer::prelude::{Cast, ObjectExt};
use std::{
    collections::HashMap,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, MutexGuard, PoisonError, Weak},
    time::Duration,
};
use veil_frame::{FitMode, Presentable, Rgb, Size};
use veil_ipc::{
    Source,
    protocol::{LoopMode, Playback, PlaylistOptions, SeekTo},
};
use veil_playback::{Manner, OpenError, Player, Settings, SourceError};
use veil_sink::{LoopPresenter, RouteChoice, VeilSink};

/// A file cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// It is no file that could be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It went away or broke while it was looked at.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a picture in a format that veil does not read.
    #[error("{}: {format} pictures are not supported: no decoder for them is built in; convert it to PNG or JPEG", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The format.
        format: &'static str,
    },
    /// It is a picture that cannot be shown.
    #[error("{}: {source}", path.display())]
    Still {
        /// The file.
        path: PathBuf,
        /// Why.
        source: StillError,
    },
    /// It was a picture, and is none any more.
    #[error("{}: is not the picture any more that it was", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It is a list that cannot be read.
    #[error(transparent)]
    List(#[from] ListError),
    /// Nothing in a list can be shown.
    #[error("{name}: none of {tried} can be shown; the first: {}", .first.1)]
    NothingInList {
        /// What was asked for.
        name: String,
        /// How many were tried.
        tried: usize,
        /// The first, and what is wrong with it.
        first: Box<(Source, String)>,
    },
    /// A list that is gone through once goes no further this way.
    #[error("{name}: there is no further one, and the list is gone through once")]
    EndOfList {
        /// What was asked for.
        name: String,
    },
    /// Another wallpaper came in between.
    #[error("another wallpaper was set before this one was shown")]
    Unwanted,
    /// It is the list of a wallpaper that must be a single one.
    #[error("{name}: a single picture or video is needed here, not a list")]
    NotSingle {
        /// What was asked for.
        name: String,
    },
    /// It is an address.
    #[error("{url}: addresses are not supported yet; download the file first")]
    Address {
        /// The address.
        url: String,
    },
    /// It does not begin where it was to.
    #[error("{}: cannot start there: {reason}", path.display())]
    Start {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no memory for a colour.
    #[error(transparent)]
    Memory(#[from] veil_wayland::MemoryError),
    /// GStreamer cannot be used.
    #[error(transparent)]
    Init(#[from] veil_playback::InitError),
    /// It is a video that cannot be shown, or nothing that is known.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// What a still picture is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Drawing {
    /// Pixels of the output.
    pub(crate) size: Size,
    /// How it is fitted.
    pub(crate) mode: FitMode,
    /// What is around and below it.
    pub(crate) background: Rgb,
}

/// What is to be loaded.
pub(crate) struct Load {
    /// What is to be shown.
    pub(crate) source: Source,
    /// Which one, if it is a list.
    pub(crate) way: Way,
    /// Gone as soon as nobody waits for it any more.
    pub(crate) wanted: Weak<()>,
    /// Where to begin if it is a video.
    pub(crate) position: Option<Duration>,
    /// It has to begin there, whatever plays already.
    pub(crate) apart: bool,
    /// How it plays if it is a video.
    pub(crate) playback: Playback,
    /// What to draw if it is a still picture.
    pub(crate) drawings: Vec<Drawing>,
    /// The files that play already.
    pub(crate) known: KnownStreams,
    /// The stream that it becomes if it is one that does not play yet.
    pub(crate) stream: StreamId,
    /// Decoders that are not to be tried.
    pub(crate) excluded: Vec<String>,
    /// Where that one's pictures go.
    pub(crate) presenter: Arc<LoopPresenter>,
    /// How they get there.
    pub(crate) route: RouteChoice,
    /// The GPU that is named for it.
    pub(crate) device: Option<String>,
}

/// A step in a list.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// How the list is gone through.
    pub(crate) options: PlaylistOptions,
    /// From where.
    pub(crate) cursor: Cursor,
    /// How many on, or back if negative; 0 stays.
    pub(crate) steps: i64,
}

/// The entry of a list that is shown.
#[derive(Clone, Debug)]
pub(crate) struct Picked {
    /// It, and its place.
    pub(crate) cursor: Cursor,
    /// How many there are.
    pub(crate) length: usize,
    /// Those on the way there that cannot be shown, and why.
    pub(crate) skipped: Vec<(Source, String)>,
}

/// What was found.
pub(crate) struct Found {
    /// It.
    pub(crate) loaded: Loaded,
    /// Which one of a list it is, if one was asked for.
    pub(crate) picked: Option<Picked>,
}

/// What it turned out to be.
pub(crate) enum Loaded {
    /// A still picture, drawn as it was wanted.
    Still(HashMap<Drawing, Presentable>),
    /// A file that plays already.
    Known(StreamId),
    /// A stream that is ready to play: its first picture was given to the presenter.
    Stream {
        /// The file.
        key: FileKey,
        /// The pipeline.
        player: Box<Player>,
        /// Its sink.
        sink: VeilSink,
        /// How long the video is, where that is known.
        length: Option<Duration>,
    },
}

impl LoadError {
    /// The entry of a list that it speaks of, should it be about one.
    pub(crate) fn entry(&self) -> Option<&Source> {
        match self {
            Self::NothingInList { first, .. } => Some(&first.0),
            _ => None,
        }
    }
}

impl Load {
    /// Does it; may take as long as the file is large, and in a list as long as it takes to find one that can be shown.
    pub(crate) fn run(self) -> Result<Found, LoadError> {
        let Some(entries) = playlist::entries(&self.source, self.way.options.recursive)? else {
            let loaded = self.load(&self.source, self.position)?;
            return Ok(Found { loaded, picked: None });
        };
        let mut skipped: Vec<(Source, String)> = Vec::new();
        for cursor in self.way.cursor.walk(&entries, self.way.steps, self.way.options) {
            let Some(entry) = cursor.current() else { continue };
            if self.wanted.strong_count() == 0 {
                return Err(LoadError::Unwanted);
            }
            // Where it was belongs to the one that was there; where a new list begins, to whichever is first.
            let position = self
                .position
                .filter(|_| self.way.cursor.current().is_none_or(|current| current == entry));
            match self.load(entry, position) {
                Ok(loaded) => {
                    let length = entries.len();
                    let picked = Some(Picked {
                        cursor,
                        length,
                        skipped,
                    });
                    return Ok(Found { loaded, picked });
                }
                Err(error) => skipped.push((entry.clone(), error.to_string())),
            }
        }
        let name = self.source.to_string();
        let tried = skipped.len();
        Err(match skipped.into_iter().next().map(Box::new) {
            Some(first) => LoadError::NothingInList { name, tried, first },
            None => LoadError::EndOfList { name },
        })
    }

    fn load(&self, source: &Source, position: Option<Duration>) -> Result<Loaded, LoadError> {
        let path = match single(source)? {
            Single::File(path) => path.to_owned(),
            Single::Color(color) => return plain_everywhere(color, &self.drawings).map(Loaded::Still),
        };
        veil_playback::check_file(&path)?;
        let read = |source| LoadError::Read {
            path: path.clone(),
            source,
        };
        let mut file = File::open(&path).map_err(read)?;
        let key = FileKey::of(&file, self.playback).map_err(read)?;
        if !self.apart
            && let Some(stream) = lock(&self.known).get(&key)
        {
            return Ok(Loaded::Known(*stream));
        }
        match kind(&mut file).map_err(read)? {
            Kind::Still(format) => {
                let drawn = draw(file, format, &self.drawings);
                crate::malloc::trim();
                drawn
                    .map(Loaded::Still)
                    .map_err(|source| LoadError::Still { path, source })
            }
            Kind::Unsupported(format) => Err(LoadError::Unsupported { path, format }),
            Kind::Other => {
                drop(file);
                veil_playback::init()?;
                let sink = VeilSink::new(self.presenter.clone());
                sink.set_property("route", self.route);
                sink.set_property("device", self.device.clone());
                let settings = Settings {
                    path: path.clone(),
                    start_paused: true,
                    position,
                    excluded: self.excluded.clone(),
                    manner: manner(self.playback),
                };
                let loaded = play(settings, key, sink, self.apart)?;
                // At once, not when the loop hears of it: the next job may be for the same file.
                lock(&self.known).insert(key, self.stream);
                Ok(loaded)
            }
        }
    }
}

/// What a single wallpaper is made of.
enum Single<'a> {
    File(&'a Path),
    Color(Rgb),
}

fn single(source: &Source) -> Result<Single<'_>, LoadError> {
    match source {
        Source::File(path) => Ok(Single::File(path.as_path())),
        Source::Color(color) => Ok(Single::Color(*color)),
        Source::Url(url) => Err(LoadError::Address { url: url.clone() }),
        Source::Files(_) | Source::Glob(_) => Err(LoadError::NotSingle {
            name: source.to_string(),
        }),
    }
}

fn lock(known: &KnownStreams) -> MutexGuard<'_, HashMap<FileKey, StreamId>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws a still picture that is shown already, for an output that has another size now.
pub(crate) fn draw_again(source: &Source, drawing: Drawing) -> Result<Presentable, LoadError> {
    let path = match single(source)? {
        Single::File(path) => path,
        Single::Color(color) => return Ok(plain(color)?),
    };
    veil_playback::check_file(path)?;
    let read = |source| LoadError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(read)?;
    let Kind::Still(format) = kind(&mut file).map_err(read)? else {
        return Err(LoadError::Changed {
            path: path.to_owned(),
        });
    };
    let still = |source| LoadError::Still {
        path: path.to_owned(),
        source,
    };
    let picture = Still::decode(file, format).map_err(still)?;
    let drawn = picture
        .draw(drawing.mode, drawing.background, drawing.size)
        .map_err(still);
    drop(picture);
    crate::malloc::trim();
    drawn
}

/// A colour needs no size, but each output its own use.
fn plain_everywhere(color: Rgb, drawings: &[Drawing]) -> Result<HashMap<Drawing, Presentable>, LoadError> {
    drawings.iter().map(|d| Ok((*d, plain(color)?))).collect()
}

fn draw(
    file: File,
    format: image::ImageFormat,
    drawings: &[Drawing],
) -> Result<HashMap<Drawing, Presentable>, StillError> {
    let still = Still::decode(file, format)?;
    drawings
        .iter()
        .map(|d| Ok((*d, still.draw(d.mode, d.background, d.size)?)))
        .collect()
}

/// What the player is told.
fn manner(playback: Playback) -> Manner {
    Manner {
        speed: playback.speed.unwrap_or_default().factor(),
        max_fps: playback.max_fps.map(|rate| f64::from(rate.get())),
        once: playback.loops == Some(LoopMode::None),
    }
}

fn play(settings: Settings, key: FileKey, sink: VeilSink, exact: bool) -> Result<Loaded, LoadError> {
    let (path, position) = (settings.path.clone(), settings.position);
    let player = Player::open(settings, sink.clone().upcast())?;
    if let Some(start) = position.filter(|_| exact && !player.is_still()) {
        let place = SeekTo::Time(start).place(start, player.duration());
        let reason = match place {
            Err(error) => Some(error.to_string()),
            Ok(_) if !player.is_at_place() => Some("nothing in it can be sought".to_owned()),
            Ok(_) => None,
        };
        if let Some(reason) = reason {
            return Err(LoadError::Start { path, reason });
        }
    }
    Ok(Loaded::Stream {
        key,
        length: player.duration(),
        player: Box::new(player),
        sink,
    })
}
