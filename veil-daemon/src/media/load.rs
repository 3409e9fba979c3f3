//! The job behind `set`: finds out what a file is, and makes it ready to be shown.

use super::{
    kind::{FileKey, Kind, kind},
    plain::plain,
    still::{Still, StillError},
};
use crate::daemon::{app::KnownStreams, stream::StreamId};
use gstreamer::prelude::{Cast, ObjectExt};
use std::{
    collections::HashMap,
    fs::File,
    io,
    path::PathBuf,
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};
use veil_frame::{FitMode, Presentable, Rgb, Size};
use veil_ipc::Source;
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
    /// It is an address.
    #[error("{url}: addresses are not supported yet; download the file first")]
    Address {
        /// The address.
        url: String,
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
    /// Where to begin if it is a video.
    pub(crate) position: Option<Duration>,
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

impl Load {
    /// Does it; may take as long as the file is large.
    pub(crate) fn run(self) -> Result<Loaded, LoadError> {
        let path = match self.source {
            Source::File(path) => path.0,
            Source::Color(color) => return plain_everywhere(color, &self.drawings).map(Loaded::Still),
            Source::Url(url) => return Err(LoadError::Address { url }),
        };
        veil_playback::check_file(&path)?;
        let read = |source| LoadError::Read {
            path: path.clone(),
            source,
        };
        let mut file = File::open(&path).map_err(read)?;
        let key = FileKey::of(&file).map_err(read)?;
        if let Some(stream) = lock(&self.known).get(&key) {
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
                let sink = VeilSink::new(self.presenter);
                sink.set_property("route", self.route);
                sink.set_property("device", self.device);
                let settings = Settings {
                    path: path.clone(),
                    start_paused: true,
                    position: self.position,
                    excluded: self.excluded,
                    manner: Manner::default(),
                };
                let loaded = play(settings, key, sink)?;
                // At once, not when the loop hears of it: the next job may be for the same file.
                lock(&self.known).insert(key, self.stream);
                Ok(loaded)
            }
        }
    }
}

fn lock(known: &KnownStreams) -> MutexGuard<'_, HashMap<FileKey, StreamId>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws a still picture that is shown already, for an output that has another size now.
pub(crate) fn draw_again(source: &Source, drawing: Drawing) -> Result<Presentable, LoadError> {
    let path = match source {
        Source::File(path) => path.as_path(),
        Source::Color(color) => return Ok(plain(*color)?),
        Source::Url(url) => return Err(LoadError::Address { url: url.clone() }),
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

fn play(settings: Settings, key: FileKey, sink: VeilSink) -> Result<Loaded, LoadError> {
    let player = Player::open(settings, sink.clone().upcast())?;
    Ok(Loaded::Stream {
        key,
        length: player.duration(),
        player: Box::new(player),
        sink,
    })
}
