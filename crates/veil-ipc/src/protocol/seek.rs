//! Where in a video to go.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, time::Duration};

/// The longest time that is understood: some films are long, and none is longer than this.
const MOST_SECONDS: f64 = 1e7;

/// Where in a video to go: a text in requests and on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SeekTo {
    /// To this time from its beginning: `90`, `1:30`, `1:30:00`, `12.5`.
    Time(Duration),
    /// On by this time: `+10`.
    Forward(Duration),
    /// Back by this time: `-10`.
    Back(Duration),
    /// To this part of its length, from 0 to 100: `50%`.
    Percent(f64),
}

/// Where a video begins: a time from its beginning, a text as in `90`, `1:30` or `1:30:00`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StartAt(pub Duration);

/// The text is no time in a video.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is not a time in a video: use one as in 90, 1:30, 1:30:00 or 12.5")]
pub struct ParseStartError(String);

impl FromStr for StartAt {
    type Err = ParseStartError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseStartError(text.chars().take(40).collect());
        time(text).map(Self).ok_or_else(error)
    }
}

impl TryFrom<String> for StartAt {
    type Error = ParseStartError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<StartAt> for String {
    fn from(start: StartAt) -> Self {
        Time(start.0).to_string()
    }
}

/// The text names no place in a video.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is not a place in a video: use one as in 90, 1:30, 1:30:00, 12.5, +10, -10 or 50%")]
pub struct ParseSeekError(String);

/// The place that was asked for is not in the video.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// It is behind its end.
    #[error("the video ends at {}", Time(*.0))]
    Behind(Duration),
    /// How long it is must be known for this, and nobody knows.
    #[error("nobody knows how long the video is, so it has no such place")]
    NoLength,
}

impl SeekTo {
    /// The place from the beginning of a video that is at `position` and has this length. A step beyond either end
    /// goes on at the other, since the video does so too.
    ///
    /// # Errors
    /// A time behind the end, or a part of an unknown length.
    pub fn place(self, position: Duration, length: Option<Duration>) -> Result<Duration, PlaceError> {
        let length = length.filter(|length| !length.is_zero());
        match (self, length) {
            (Self::Time(time), Some(length)) if time >= length => Err(PlaceError::Behind(length)),
            (Self::Time(time), _) => Ok(time),
            (Self::Forward(step), Some(length)) => Ok(modulo(position.saturating_add(step), length)),
            (Self::Forward(step), None) => Ok(position.saturating_add(step)),
            (Self::Back(step), Some(length)) => {
                let step = modulo(step, length);
                Ok(modulo(
                    position.saturating_add(length).saturating_sub(step),
                    length,
                ))
            }
            (Self::Back(step), None) => Ok(position.saturating_sub(step)),
            // The end itself is where nothing is left to be seen.
            (Self::Percent(percent), Some(length)) => Ok(length.mul_f64(percent.clamp(0.0, 99.99) / 100.0)),
            (Self::Percent(_), None) => Err(PlaceError::NoLength),
        }
    }
}

fn modulo(time: Duration, length: Duration) -> Duration {
    let nanos = time.as_nanos() % length.as_nanos().max(1);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

impl FromStr for SeekTo {
    type Err = ParseSeekError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseSeekError(text.chars().take(40).collect());
        if let Some(percent) = text.strip_suffix('%') {
            let percent = number(percent).ok_or_else(error)?;
            return if percent <= 100.0 {
                Ok(Self::Percent(percent))
            } else {
                Err(error())
            };
        }
        if let Some(step) = text.strip_prefix('+') {
            return time(step).map(Self::Forward).ok_or_else(error);
        }
        if let Some(step) = text.strip_prefix('-') {
            return time(step).map(Self::Back).ok_or_else(error);
        }
        time(text).map(Self::Time).ok_or_else(error)
    }
}

/// Digits, with a fraction or without; none of the other things that a float may be.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let starts = text.bytes().next()?.is_ascii_digit();
    (is_plain && starts).then(|| text.parse().ok()).flatten()
}

/// `S`, `M:S` or `H:M:S`; the last may have a fraction.
fn time(text: &str) -> Option<Duration> {
    let mut parts = text.rsplit(':');
    let mut seconds = number(parts.next()?)?;
    let has_minutes = text.contains(':');
    if has_minutes && seconds >= 60.0 {
        return None;
    }
    let mut unit = 60.0;
    let mut count = 0;
    for part in parts {
        if !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        seconds += number(part)? * unit;
        unit *= 60.0;
        count += 1;
    }
    (count <= 2 && seconds <= MOST_SECONDS).then(|| Duration::from_secs_f64(seconds))
}

/// A time for people: `1:30:00`, `1:30`, `0:12.5`.
struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, millis) = (self.0.as_secs(), self.0.subsec_millis());
        let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
        match hours {
            0 => write!(f, "{minutes}:{seconds:02}")?,
            _ => write!(f, "{hours}:{minutes:02}:{seconds:02}")?,
        }
        match millis {
            0 => Ok(()),
            millis => write!(f, "{}", format!(".{millis:03}").trim_end_matches('0')),
        }
    }
}

/// A time in seconds as people write it.
pub(crate) fn time_text(seconds: f64) -> String {
    let seconds = if seconds.is_finite() {
        seconds.clamp(0.0, MOST_SECONDS)
    } else {
        0.0
    };
    Time(Duration::from_secs(seconds as u64)).to_string()
}

impl fmt::Display for SeekTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => Time(*time).fmt(f),
            Self::Forward(step) => write!(f, "+{}", Time(*step)),
            Self::Back(step) => write!(f, "-{}", Time(*step)),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl TryFrom<String> for SeekTo {
    type Error = ParseSeekError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SeekTo> for String {
    fn from(to: SeekTo) -> Self {
        to.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn places_are_understood() {
        let time = |seconds: f64| SeekTo::Time(Duration::from_secs_f64(seconds));
        for (text, expected) in [
            ("0", time(0.0)),
            ("90", time(90.0)),
            ("1:30", time(90.0)),
            ("1:30:00", time(5400.0)),
            ("0:12.5", time(12.5)),
            ("+10", SeekTo::Forward(Duration::from_secs(10))),
            ("-1:00", SeekTo::Back(MINUTE)),
            ("50%", SeekTo::Percent(50.0)),
            ("99.5%", SeekTo::Percent(99.5)),
        ] {
            assert_eq!(text.parse(), Ok(expected));
        }
        for text in [
            "",
            "x",
            "1:",
            ":1",
            "1:60",
            "1:2:3:4",
            "+",
            "--1",
            "+-1",
            "101%",
            "%",
            "-5%",
            "1e3",
            "inf",
            "nan",
            ".5",
            "1.5:00",
            "99999999999",
        ] {
            assert!(text.parse::<SeekTo>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_start_is_a_time_and_nothing_else() {
        assert_eq!("1:30".parse(), Ok(StartAt(Duration::from_secs(90))));
        for text in ["+10", "-10", "50%", "", "x"] {
            assert!(text.parse::<StartAt>().is_err(), "{text}");
        }
        let start = StartAt(Duration::from_millis(5_400_500));
        assert_eq!(String::from(start), "1:30:00.5");
    }

    #[test]
    fn steps_go_round_and_times_do_not() {
        let at = Duration::from_secs(50);
        let place = |text: &str| text.parse::<SeekTo>().expect("a place").place(at, Some(MINUTE));
        assert_eq!(place("+20"), Ok(Duration::from_secs(10)));
        assert_eq!(place("-55"), Ok(Duration::from_secs(55)));
        assert_eq!(place("-121"), Ok(Duration::from_secs(49)));
        assert_eq!(place("50%"), Ok(Duration::from_secs(30)));
        assert_eq!(place("0:59"), Ok(Duration::from_secs(59)));
        let error = place("1:00").expect_err("a place").to_string();
        assert_eq!(error, "the video ends at 1:00");
        assert!(SeekTo::Percent(1.0).place(at, None).is_err());
        let back = SeekTo::Back(MINUTE);
        assert_eq!(back.place(at, None), Ok(Duration::ZERO));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(millis in 0u64..10_000_000_000, kind in 0u8..3) {
            let time = Duration::from_millis(millis);
            let to = match kind {
                0 => SeekTo::Time(time),
                1 => SeekTo::Forward(time),
                _ => SeekTo::Back(time),
            };
            let read: SeekTo = to.to_string().parse().expect("a place");
            let of = |to| match to {
                SeekTo::Time(time) | SeekTo::Forward(time) | SeekTo::Back(time) => time,
                SeekTo::Percent(_) => Duration::MAX,
            };
            prop_assert!(of(read).abs_diff(of(to)) < Duration::from_micros(1), "{to} {read}");
        }

        #[test]
        fn a_place_lies_in_the_video(
            text in "[+-]?[0-9]{1,3}(:[0-5][0-9])?|[0-9]{1,2}%", at in 0u64..100, length in 1u64..100,
        ) {
            let length = Duration::from_secs(length);
            let to: SeekTo = text.parse().expect("a place");
            if let Ok(place) = to.place(Duration::from_secs(at), Some(length)) {
                prop_assert!(place < length, "{place:?}");
            }
        }
    }
}
