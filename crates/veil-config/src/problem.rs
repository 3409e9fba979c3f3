//! What is wrong with a configuration, and where.

use std::{fmt, ops::Range};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.text)
    }
}

/// All that is wrong, in the order of the file; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Problems(pub Vec<Problem>);

/// Collects problems by where they are in the text.
pub(crate) struct Found<'a> {
    text: &'a str,
    all: Vec<(usize, String)>,
}

impl<'a> Found<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            all: Vec::new(),
        }
    }

    /// Notes a problem with what lies there.
    pub(crate) fn add(&mut self, at: Range<usize>, text: impl Into<String>) {
        self.all.push((at.start, text.into()));
    }

    /// What was found; nothing if there was nothing.
    pub(crate) fn into_result(mut self) -> Result<(), Problems> {
        if self.all.is_empty() {
            return Ok(());
        }
        self.all.sort_by_key(|(at, _)| *at);
        let text = self.text;
        let place = |(at, what): (usize, String)| {
            let before = text.get(..at).unwrap_or(text);
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            Problem {
                line: before.matches('\n').count() + 1,
                column: before[start..].chars().count() + 1,
                text: what,
            }
        };
        Err(Problems(self.all.into_iter().map(place).collect()))
    }
}
