//! What a configuration says.

use crate::selector::{OutputName, Selectors};
use std::time::Duration;
use veil_frame::{FitMode, Rgb};
use veil_ipc::{
    Source,
    protocol::{Playback, PlaylistOptions},
};

/// A configuration. The default is that of an empty file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The outputs that get a wallpaper at all.
    pub outputs: Selectors,
    /// For every wallpaper that does not say otherwise.
    pub defaults: Defaults,
    /// What belongs where, in the order of the file.
    pub rules: Vec<OutputRule>,
    /// For what wallpapers stand still, and what becomes of them then.
    pub holds: Holds,
    /// A program and its arguments, run when a wallpaper has changed.
    pub on_change: Option<Vec<String>>,
}

/// How wallpapers are shown that do not say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// How a picture is fitted to an output.
    pub mode: Option<FitMode>,
    /// The colour around and behind it.
    pub background: Option<Rgb>,
    /// Whether a list is gone through in an order of chance.
    pub shuffle: Option<bool>,
    /// Whether a folder's folders belong to it.
    pub recursive: Option<bool>,
    /// Whether a list is gone through only once.
    pub once: Option<bool>,
    /// Seconds that each of a list is shown; 0 is until `next`.
    pub interval_s: Option<u32>,
    /// How a video plays.
    pub playback: Playback,
}

/// For what wallpapers stand still, and what becomes of them then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holds {
    /// How long a video stands still until its pipeline is let go; `None` for never.
    pub release_after: Option<Duration>,
}

impl Default for Holds {
    fn default() -> Self {
        Self {
            release_after: Some(Duration::from_secs(30)),
        }
    }
}

/// What belongs on some outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRule {
    /// Which outputs.
    pub outputs: Selectors,
    /// What is shown there; `None` leaves it to the state.
    pub source: Option<Source>,
    /// How.
    pub look: Defaults,
}

impl Defaults {
    /// What is not said here is as there.
    pub fn or(self, other: Self) -> Self {
        Self {
            mode: self.mode.or(other.mode),
            background: self.background.or(other.background),
            playback: self.playback.or(other.playback),
            shuffle: self.shuffle.or(other.shuffle),
            recursive: self.recursive.or(other.recursive),
            once: self.once.or(other.once),
            interval_s: self.interval_s.or(other.interval_s),
        }
    }

    /// How a list is gone through, with what is not said as it usually is.
    pub fn playlist(&self) -> PlaylistOptions {
        let usual = PlaylistOptions::default();
        PlaylistOptions {
            shuffle: self.shuffle.unwrap_or(usual.shuffle),
            recursive: self.recursive.unwrap_or(usual.recursive),
            once: self.once.unwrap_or(usual.once),
            interval_s: self.interval_s.unwrap_or(usual.interval_s),
        }
    }
}

impl Config {
    /// How a wallpaper on this output is shown, if it does not say itself: by the first rules that say it.
    pub fn look(&self, output: OutputName<'_>) -> Defaults {
        let rules = self.rules.iter().filter(|rule| rule.outputs.select(output));
        rules
            .fold(Defaults::default(), |look, rule| look.or(rule.look))
            .or(self.defaults)
    }

    /// What the configuration wants on this output: by the first rule that names something.
    pub fn source(&self, output: OutputName<'_>) -> Option<&Source> {
        let mut rules = self.rules.iter().filter(|rule| rule.outputs.select(output));
        rules.find_map(|rule| rule.source.as_ref())
    }
}
