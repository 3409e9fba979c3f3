//! How a list of wallpapers is gone through.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How a folder, a pattern, a playlist or several files are gone through. It says nothing about a single file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaylistOptions {
    /// In an order of chance, a new one each time around.
    pub shuffle: bool,
    /// Also what lies in a folder's folders.
    pub recursive: bool,
    /// Once: the last one stays.
    pub once: bool,
    /// Seconds that each is shown; 0 is until `next`.
    pub interval_s: u32,
}

impl PlaylistOptions {
    /// How long each is shown if nobody says otherwise, in seconds.
    pub const INTERVAL_S: u32 = 300;
}

impl Default for PlaylistOptions {
    fn default() -> Self {
        Self {
            shuffle: false,
            recursive: false,
            once: false,
            interval_s: Self::INTERVAL_S,
        }
    }
}

/// Where in a list of wallpapers an output is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaylistStatus {
    /// What was asked for: a folder, a pattern, or how many files.
    pub name: String,
    /// Which one of the list is shown, from 1.
    pub number: usize,
    /// How many there are.
    pub length: usize,
    /// How it is gone through.
    pub options: PlaylistOptions,
    /// Those that could not be shown, at most 20.
    pub skipped: Vec<super::Reason>,
}

/// A number of seconds, written as `30`, `30s`, `5m`, `2h` or `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval(pub u32);

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, unit) = match text.char_indices().last() {
            Some((at, 's')) => (&text[..at], 1),
            Some((at, 'm')) => (&text[..at], 60),
            Some((at, 'h')) => (&text[..at], 3600),
            Some((at, 'd')) => (&text[..at], 86400),
            _ => (text, 1),
        };
        let seconds = number.parse::<u32>().ok().and_then(|n| n.checked_mul(unit));
        seconds
            .map(Self)
            .ok_or_else(|| format!("“{text}” is no time: write seconds, or as 90s, 5m, 1h"))
    }
}
