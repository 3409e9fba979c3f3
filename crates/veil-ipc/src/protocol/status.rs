//! What the daemon tells about itself and its outputs.

use super::{Hold, Playback, PlaylistStatus, Reason, Source, WirePath};
use serde::{Deserialize, Serialize};
use std::fmt;
use veil_frame::{FitMode, Rgb};

/// The state of the daemon.
///
/// Missing fields have their default, here and below, so that a client can read what an older daemon says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The daemon's version, as `0.1.0`.
    pub version: String,
    /// The commit that it was built from; empty when nobody knows.
    pub commit: String,
    /// Its process.
    pub pid: u32,
    /// The outputs, in the compositor's order.
    pub outputs: Vec<OutputStatus>,
}

/// The state of one output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputStatus {
    /// The compositor's name for it, as `DP-1`.
    pub name: String,
    /// The compositor's words for it, such as maker and model; may be empty.
    pub description: String,
    /// Width and height of its mode, in pixels, as it is turned.
    pub size: (u32, u32),
    /// Pixels for one unit of the compositor's layout.
    pub scale: f64,
    /// The wallpaper's file, if it is one.
    pub path: Option<WirePath>,
    /// What it shows, be it a file or not; of a list, the one that is shown.
    pub source: Option<Source>,
    /// The list that this is of, and where in it.
    pub playlist: Option<PlaylistStatus>,
    /// What the wallpaper is.
    pub kind: Kind,
    /// How it is fitted.
    pub mode: FitMode,
    /// The colour around and behind it.
    pub background: Rgb,
    /// How it plays, if it is a video.
    #[serde(flatten)]
    pub playback: Playback,
    /// What it does.
    pub state: PlayState,
    /// Why it stands still, if it is a video that does.
    pub holds: Vec<Hold>,
    /// How frames reach the compositor; `None` while none do.
    pub route: Option<Route>,
    /// Why this route and no cheaper one.
    pub route_reason: Option<Reason>,
    /// What decodes it; `None` for a still picture.
    pub decoder: Option<Decoder>,
    /// Where its decoded frames lie, as `system` or `dmabuf`.
    pub memory: Option<String>,
    /// What became of its frames.
    pub frames: Frames,
    /// How often it started over.
    pub loops: u64,
    /// Where in the video it is, in seconds.
    pub position: Option<f64>,
    /// How long the video is, in seconds.
    pub duration: Option<f64>,
    /// The time between two presentations.
    pub present_interval_ms: PresentInterval,
    /// The last error of this wallpaper, as long as it matters.
    pub error: Option<Reason>,
}

/// What a wallpaper is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// There is none.
    #[default]
    None,
    /// A picture.
    Still,
    /// A video.
    Video,
    /// Nothing but a colour.
    Color,
}

/// What an output's wallpaper does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlayState {
    /// There is no wallpaper.
    #[default]
    Empty,
    /// A picture, so there is nothing to do.
    Still,
    /// A video that plays.
    Playing,
    /// A video that is held, ready to go on.
    Paused,
    /// A video that is held for long: its last picture stays, its decoder is gone.
    Released,
}

/// How frames reach the compositor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// Converted by the CPU into memory shared with the compositor.
    Shm,
    /// Converted by the GPU into a dmabuf.
    Convert,
    /// The decoder's own buffer.
    Direct,
}

/// What decodes a video.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decoder {
    /// The GStreamer element, as `avdec_h264`.
    pub element: String,
    /// Whether it decodes in hardware.
    pub hardware: bool,
}

/// What became of the frames of the wallpaper that an output shows now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frames {
    /// Frames that should have been seen: those that the decoder gave, and those that it skipped for lateness.
    pub due: u64,
    /// Frames that the compositor says it presented.
    pub shown: u64,
    /// Frames that were due and never presented.
    pub missed: u64,
    /// Those of the missed that veil itself gave up before they reached the compositor.
    pub dropped: u64,
}

/// The time between two presentations, in milliseconds; 0 while there were none. Never infinite and never NaN, which JSON
/// can't express.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PresentInterval {
    /// On average.
    pub mean: f64,
    /// The longest.
    pub max: f64,
}

impl Kind {
    /// The name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Still => "still",
            Self::Video => "video",
            Self::Color => "color",
        }
    }
}

impl PlayState {
    /// The name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Still => "still",
            Self::Playing => "playing",
            Self::Paused => "paused",
            Self::Released => "released",
        }
    }
}

impl Route {
    /// The name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Convert => "convert",
            Self::Direct => "direct",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for PlayState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_form_is_as_documented() {
        let empty = serde_json::to_value(OutputStatus::default()).expect("JSON");
        let expected = json!({
            "name": "", "description": "", "size": [0, 0], "scale": 0.0, "path": null, "source": null, "playlist": null, "kind": "none",
            "mode": "fill", "background": "#000000", "state": "empty", "holds": [], "route": null, "route_reason": null,
            "decoder": null, "memory": null, "frames": {"due": 0, "shown": 0, "missed": 0, "dropped": 0},
            "loops": 0, "position": null, "duration": null, "present_interval_ms": {"mean": 0.0, "max": 0.0}, "error": null,
        });
        assert_eq!(empty, expected);
    }

    #[test]
    fn names_are_those_of_the_protocol() {
        for kind in [Kind::None, Kind::Still, Kind::Video, Kind::Color] {
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.name());
        }
        for route in [Route::Shm, Route::Convert, Route::Direct] {
            assert_eq!(serde_json::to_value(route).expect("JSON"), route.name());
        }
        use PlayState::{Empty, Paused, Playing, Released, Still};
        for state in [Empty, Still, Playing, Paused, Released] {
            assert_eq!(serde_json::to_value(state).expect("JSON"), state.name());
        }
    }

    #[test]
    fn an_older_daemon_is_understood() {
        let status: Status = serde_json::from_str(r#"{"pid":7,"outputs":[{"name":"A","new":1}],"more":[]}"#)
            .expect("a status");
        assert_eq!((status.pid, status.outputs[0].name.as_str()), (7, "A"));
    }
}
