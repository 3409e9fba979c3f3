//! Why something failed, on one line.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest reason, in bytes. A path may be 4096 bytes long, and some reasons name two.
const MAX_BYTES: usize = 12 * 1024;

/// A text for people, on one line.
///
/// Reasons quote file names, and whatever a file's headers held. A line break in those would make two lines of one
/// answer, and an escape sequence would reach the user's terminal; so control characters become spaces here, whoever
/// made the text, and also in what comes over the socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Reason(String);

impl Reason {
    /// Makes one line of any text: runs of line breaks, other control characters and spaces become one space.
    pub fn new(text: impl AsRef<str>) -> Self {
        let mut line = String::new();
        for word in text
            .as_ref()
            .split(|c: char| c.is_control() || c == ' ' || is_break(c))
        {
            if word.is_empty() {
                continue;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if line.len() > MAX_BYTES {
            line.truncate(line.floor_char_boundary(MAX_BYTES));
            line.push('…');
        }
        Self(line)
    }

    /// The reason of an error and of what caused it, as `outer: inner`.
    pub fn of(error: &dyn std::error::Error) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            let inner_text = inner.to_string();
            // Many errors already hold their cause's text.
            if !text.ends_with(&inner_text) {
                text = format!("{text}: {inner_text}");
            }
            cause = inner.source();
        }
        Self::new(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The line and paragraph separators of Unicode, which are not control characters.
fn is_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_line_without_escapes() {
        assert_eq!(
            Reason::new("a\nb\r\n c\u{1b}[31m\u{2028}d\n").as_str(),
            "a b c [31m d"
        );
        assert_eq!(Reason::new("").as_str(), "");
        let sent: Reason = serde_json::from_str(r#""x\ny""#).expect("a string");
        assert_eq!(sent.as_str(), "x y");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let reason = Reason::new("壁".repeat(MAX_BYTES));
        assert!(reason.as_str().len() <= MAX_BYTES + '…'.len_utf8());
        assert!(reason.as_str().ends_with('…'));
    }

    #[test]
    fn causes_are_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot open x")]
        struct Outer(#[source] Inner);
        #[derive(Debug, thiserror::Error)]
        #[error("no such file")]
        struct Inner;
        assert_eq!(Reason::of(&Outer(Inner)).as_str(), "cannot open x: no such file");
        #[derive(Debug, thiserror::Error)]
        #[error("cannot open x: {0}")]
        struct Telling(#[source] Inner);
        assert_eq!(
            Reason::of(&Telling(Inner)).as_str(),
            "cannot open x: no such file"
        );
    }

    proptest! {
        #[test]
        fn never_a_control_character(text in any::<String>()) {
            let reason = Reason::new(&text);
            prop_assert!(!reason.as_str().chars().any(char::is_control));
            prop_assert_eq!(Reason::new(reason.as_str()), reason);
        }
    }
}
