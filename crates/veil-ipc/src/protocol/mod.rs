//! The control protocol, version 1.
//!
//! A client sends requests, one JSON object a line, each ended by a newline:
//!
//! ```json
//! {"version":1,"command":"set","file":"/home/me/sea.mp4","outputs":["DP-1"],"mode":"fill","background":"#000000"}
//! ```
//!
//! and the daemon answers them in order, a line each: `{"ok":…}` with an [`Answer`], or `{"error":{"reason":"…"}}`.
//! Requests of one connection are taken up one after the other, so answers need no number; who wants two things at once
//! opens two connections. Fields that the daemon does not know are ignored, so that a client may be newer than it; a
//! command or a version that it does not know is an error that names those it does.

mod event;
mod hold;
mod outputs;
mod playback;
mod playlist;
mod reason;
mod request;
mod response;
mod seek;
mod source;
mod status;
mod wire_path;

pub use event::Event;
pub use hold::Hold;
pub use outputs::OutputInfo;
pub use playback::{LoopMode, LoopModeError, MaxFps, MaxFpsError, Playback, Speed, SpeedError};
pub use playlist::{Interval, PlaylistOptions, PlaylistStatus};
pub use reason::Reason;
pub use request::{Command, Request, RequestError, parse_request};
pub use response::{Answer, Response};
pub(crate) use seek::time_text;
pub use seek::{ParseSeekError, PlaceError, SeekTo, StartAt};
pub use source::{Source, SourceError};
pub use status::{Decoder, Frames, Kind, OutputStatus, PlayState, PresentInterval, Route, Status};
pub use wire_path::WirePath;

/// The version of the protocol that this crate speaks. It grows only when an old daemon would misunderstand a request.
pub const VERSION: u32 = 1;

/// The longest line that the daemon reads, in bytes, without its newline.
pub const MAX_REQUEST: usize = 64 * 1024;

/// The longest line that a client reads, in bytes, without its newline.
pub const MAX_RESPONSE: usize = 1024 * 1024;
