//! How a video plays: how fast, how many pictures of it, and what comes after its end.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How a video plays. In JSON its fields stand beside others; what is not said is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Args)]
pub struct Playback {
    /// How fast a video plays, from 0.25 to 4 [default: 1]
    #[arg(long, value_name = "FACTOR")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// The most frames of a video that are shown in a second, from 1 to 1000 [default: all]
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_fps: Option<MaxFps>,
    /// What comes after a video's end: its beginning (seamless), or nothing, and its last frame stays (none) [default: seamless]
    #[arg(long = "loop", value_name = "HOW", value_parser = loop_parser())]
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub loops: Option<LoopMode>,
}

impl Playback {
    /// What is not said here is as there.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            speed: self.speed.or(other.speed),
            max_fps: self.max_fps.or(other.max_fps),
            loops: self.loops.or(other.loops),
        }
    }

    /// The same with the defaults written out: two that play alike are equal then.
    #[must_use]
    pub fn resolved(self) -> Self {
        self.or(Self {
            speed: Some(Speed::default()),
            max_fps: None,
            loops: Some(LoopMode::default()),
        })
    }
}

/// How fast a video plays: seconds of it for a second on the clock, from 0.25 to 4, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Speed(u16);

/// The text or number is no speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the speed is a number from 0.25 to 4")]
pub struct SpeedError;

impl Speed {
    /// As a factor.
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self(1000)
    }
}

impl TryFrom<f64> for Speed {
    type Error = SpeedError;

    fn try_from(factor: f64) -> Result<Self, SpeedError> {
        // No comparison is true for what is no number.
        if (0.25..=4.0).contains(&factor) {
            Ok(Self((factor * 1000.0).round() as u16))
        } else {
            Err(SpeedError)
        }
    }
}

impl From<Speed> for f64 {
    fn from(speed: Speed) -> Self {
        speed.factor()
    }
}

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        text.parse::<f64>().map_err(|_| SpeedError)?.try_into()
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.factor().fmt(f)
    }
}

/// The most frames in a second, from 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct MaxFps(u16);

/// The text or number is no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the most frames a second are a whole number from 1 to 1000")]
pub struct MaxFpsError;

impl MaxFps {
    /// Frames a second.
    pub fn get(self) -> u16 {
        self.0
    }
}

impl TryFrom<u64> for MaxFps {
    type Error = MaxFpsError;

    fn try_from(rate: u64) -> Result<Self, MaxFpsError> {
        match u16::try_from(rate) {
            Ok(rate @ 1..=1000) => Ok(Self(rate)),
            _ => Err(MaxFpsError),
        }
    }
}

impl From<MaxFps> for u64 {
    fn from(rate: MaxFps) -> Self {
        rate.0.into()
    }
}

impl FromStr for MaxFps {
    type Err = MaxFpsError;

    fn from_str(text: &str) -> Result<Self, MaxFpsError> {
        text.parse::<u64>().map_err(|_| MaxFpsError)?.try_into()
    }
}

impl fmt::Display for MaxFps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What comes after a video's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopMode {
    /// Its beginning, as if there were no end.
    #[default]
    Seamless,
    /// Nothing: its last frame stays.
    None,
}

/// The text is no way to loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the loop is one of seamless, none")]
pub struct LoopModeError;

impl LoopMode {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Seamless, Self::None];

    /// The name in the protocol, in the configuration and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seamless => "seamless",
            Self::None => "none",
        }
    }
}

impl FromStr for LoopMode {
    type Err = LoopModeError;

    fn from_str(text: &str) -> Result<Self, LoopModeError> {
        let mut all = Self::ALL.into_iter();
        all.find(|mode| mode.name() == text).ok_or(LoopModeError)
    }
}

/// For clap: the ways by name, so that `--help` and mistakes list them.
fn loop_parser() -> impl TypedValueParser<Value = LoopMode> {
    PossibleValuesParser::new(LoopMode::ALL.map(LoopMode::name)).try_map(|name| name.parse::<LoopMode>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_ranges() {
        for (text, factor) in [("0.25", 0.25), ("1", 1.0), ("4.0", 4.0), ("1.5", 1.5)] {
            assert_eq!(text.parse::<Speed>().map(Speed::factor), Ok(factor));
        }
        for text in ["0.24", "4.1", "nan", "inf", "-1", "", "2x"] {
            assert_eq!(text.parse::<Speed>(), Err(SpeedError), "{text}");
        }
        assert_eq!("30".parse::<MaxFps>().map(MaxFps::get), Ok(30));
        for text in ["0", "1001", "70000", "-1", "29.97", ""] {
            assert_eq!(text.parse::<MaxFps>(), Err(MaxFpsError), "{text}");
        }
        assert_eq!("none".parse(), Ok(LoopMode::None));
        assert!("crossfade".parse::<LoopMode>().is_err());
    }

    #[test]
    fn what_is_not_said_is_left_out_and_may_be_the_default() {
        let none = Playback::default();
        assert_eq!(serde_json::to_string(&none).expect("JSON"), "{}");
        let all = Playback {
            speed: "0.5".parse().ok(),
            max_fps: "30".parse().ok(),
            loops: Some(LoopMode::None),
        };
        let json = serde_json::to_string(&all).expect("JSON");
        assert_eq!(json, r#"{"speed":0.5,"max_fps":30,"loop":"none"}"#);
        assert_eq!(serde_json::from_str::<Playback>(&json).expect("read"), all);
        assert!(serde_json::from_str::<Playback>(r#"{"speed":9}"#).is_err());
        let said = Playback {
            speed: Some(Speed::default()),
            loops: Some(LoopMode::Seamless),
            ..none
        };
        assert_ne!(said, none);
        assert_eq!(said.resolved(), none.resolved());
        assert_eq!(none.or(all), all);
    }
}
