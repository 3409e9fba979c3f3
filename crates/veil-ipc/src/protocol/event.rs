//! What a subscribed client is told.

use super::{Kind, Reason, Source};
use serde::{Deserialize, Serialize};

/// Something has changed: one line, an object whose field `event` names what.
///
/// Events tell how things are from now on. What changed and changed back before it was told is not told, so that a client is
/// never behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An output is there.
    OutputAdded {
        /// Its name.
        output: String,
    },
    /// An output is gone.
    OutputRemoved {
        /// Its name.
        output: String,
    },
    /// An output shows another wallpaper; its first picture is there.
    Wallpaper {
        /// The output's name.
        output: String,
        /// What it shows.
        source: Source,
        /// What that is.
        kind: Kind,
    },
    /// An output shows no wallpaper any more.
    Cleared {
        /// Its name.
        output: String,
    },
    /// A video plays.
    Playing {
        /// The output's name.
        output: String,
    },
    /// A video stands still because the user wants it.
    Paused {
        /// The output's name.
        output: String,
    },
    /// A video stands still for other reasons than the user's.
    Held {
        /// The output's name.
        output: String,
    },
    /// A wallpaper cannot be shown, or cannot go on. What was shown stays.
    Failed {
        /// The output's name.
        output: String,
        /// Why.
        reason: Reason,
    },
    /// The daemon ends. Nothing comes after this.
    Stopping,
    /// Something that only a newer daemon knows.
    #[serde(other, skip_serializing)]
    Unknown,
}

impl Event {
    /// This event as a line for the client, with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        // Nothing in it can't be written as JSON.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_as_documented() {
        let event = Event::Wallpaper {
            output: "DP-1".into(),
            source: Source::from("/a.png"),
            kind: Kind::Still,
        };
        let line = String::from_utf8(event.to_line()).expect("UTF-8");
        assert_eq!(
            line,
            "{\"event\":\"wallpaper\",\"output\":\"DP-1\",\"source\":{\"file\":\"/a.png\"},\"kind\":\"still\"}\n"
        );
        let line = String::from_utf8(Event::OutputAdded { output: "A".into() }.to_line()).expect("UTF-8");
        assert_eq!(line, "{\"event\":\"output-added\",\"output\":\"A\"}\n");
        let newer: Event = serde_json::from_str(r#"{"event":"eclipse","of":"the sun"}"#).expect("an event");
        assert_eq!(newer, Event::Unknown);
    }
}
