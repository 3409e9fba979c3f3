//! Which outputs are meant: by name, by what the monitor says of itself, by a pattern; and which are not.

use regex_lite::{Regex, RegexBuilder};
use std::{fmt, str::FromStr};

/// The most bytes that a pattern may have, and its program may take.
const MOST_PATTERN: usize = 1024;
const MOST_PROGRAM: usize = 256 * 1024;

/// What is known of an output.
#[derive(Clone, Copy, Debug)]
pub struct OutputName<'a> {
    /// The compositor's name for it, as `DP-1`.
    pub name: &'a str,
    /// The compositor's words for it: make, model and serial of the monitor, as `status` shows them. May be empty.
    pub description: &'a str,
}

/// Some text names no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// Nothing after the sign.
    #[error("an output's name is missing in \"{0}\"")]
    Empty(String),
    /// The pattern is none, or too large.
    #[error("\"{pattern}\" is no regular expression: {reason}")]
    Pattern {
        /// As it was given.
        pattern: String,
        /// Why.
        reason: String,
    },
}

#[derive(Clone, Debug)]
enum Which {
    All,
    /// Name or description, to the letter.
    Named(String),
    Pattern(Box<Regex>),
}

/// One selector: `DP-1`, a description to the letter, `re:PATTERN` (found anywhere in name or description), `*` or `all`; with `!`
/// before it, all but these.
#[derive(Clone, Debug)]
pub struct OutputSelector {
    text: String,
    excludes: bool,
    which: Which,
}

impl FromStr for OutputSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let (excludes, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let which = match (rest, rest.strip_prefix("re:")) {
            ("" | "re:", _) => return Err(SelectorError::Empty(text.to_owned())),
            ("*" | "all", _) => Which::All,
            (_, Some(pattern)) => Which::Pattern(Box::new(compile(pattern)?)),
            (name, None) => Which::Named(name.to_owned()),
        };
        Ok(Self {
            text: text.to_owned(),
            excludes,
            which,
        })
    }
}

fn compile(pattern: &str) -> Result<Regex, SelectorError> {
    let error = |reason: String| SelectorError::Pattern {
        pattern: pattern.chars().take(80).collect(),
        reason,
    };
    if pattern.len() > MOST_PATTERN {
        return Err(error(format!("it has more than {MOST_PATTERN} bytes")));
    }
    RegexBuilder::new(pattern)
        .size_limit(MOST_PROGRAM)
        .build()
        .map_err(|reason| error(reason.to_string()))
}

impl OutputSelector {
    /// Whether it speaks of this output, be it to include or to exclude it.
    fn names(&self, output: OutputName<'_>) -> bool {
        match &self.which {
            Which::All => true,
            Which::Named(name) => {
                name == output.name || !output.description.is_empty() && name == output.description
            }
            Which::Pattern(pattern) => pattern.is_match(output.name) || pattern.is_match(output.description),
        }
    }

    /// The name, if it is one and includes: such an output is expected to be there.
    pub fn exact(&self) -> Option<&str> {
        match &self.which {
            Which::Named(name) if !self.excludes => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for OutputSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl PartialEq for OutputSelector {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for OutputSelector {}

/// Selectors together: an output that one includes and none excludes. Where none includes, every one is included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selectors(pub Vec<OutputSelector>);

impl Selectors {
    /// Reads a list of them.
    ///
    /// # Errors
    /// The first that names nothing.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Self, SelectorError> {
        let selectors = texts.iter().map(|text| text.as_ref().parse());
        Ok(Self(selectors.collect::<Result<_, _>>()?))
    }

    /// Whether this output is meant.
    pub fn select(&self, output: OutputName<'_>) -> bool {
        let mut included = self.0.iter().filter(|selector| !selector.excludes).peekable();
        let any = included.peek().is_none() || included.any(|selector| selector.names(output));
        any && !self
            .0
            .iter()
            .any(|selector| selector.excludes && selector.names(output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DELL: OutputName<'_> = OutputName {
        name: "DP-1",
        description: "Dell Inc. DELL U2720Q ABC123",
    };

    fn selects(texts: &[&str]) -> bool {
        Selectors::parse(texts).expect("selectors").select(DELL)
    }

    #[test]
    fn names_descriptions_patterns_and_what_is_excluded() {
        for texts in [
            &[][..],
            &["*"],
            &["all"],
            &["DP-1"],
            &["HDMI-A-1", "DP-1"],
            &["Dell Inc. DELL U2720Q ABC123"],
            &["re:^DP-"],
            &["re:U27.0Q"],
            &["!HDMI-A-1"],
            &["re:DELL", "!re:ABC9"],
        ] {
            assert!(selects(texts), "{texts:?}");
        }
        for texts in [
            &["DP-2"][..],
            &["dp-1"],
            &["DELL U2720Q"],
            &["!DP-1"],
            &["*", "!DP-1"],
            &["DP-1", "!re:DELL"],
            &["!*"],
        ] {
            assert!(!selects(texts), "{texts:?}");
        }
        // A monitor that says nothing of itself is not meant by an empty text.
        assert!("".parse::<OutputSelector>().is_err());
    }

    #[test]
    fn what_is_no_selector_is_told() {
        for (text, words) in [
            ("!", "missing"),
            ("re:", "missing"),
            ("re:(", "no regular expression"),
            ("re:(((((a{99}){99}){99}){99}){99})", "no regular expression"),
        ] {
            let error = text.parse::<OutputSelector>().expect_err("taken").to_string();
            assert!(error.contains(words), "{error}");
        }
        let long = format!("re:{}", "a".repeat(5000));
        assert!(
            long.parse::<OutputSelector>()
                .expect_err("taken")
                .to_string()
                .len()
                < 300
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}", name in ".{0,20}", description in ".{0,20}") {
            if let Ok(selector) = text.parse::<OutputSelector>() {
                prop_assert_eq!(selector.to_string(), text.clone());
                let output = OutputName { name: &name, description: &description };
                let one = Selectors(vec![selector]).select(output);
                let other = format!("!{text}").parse::<OutputSelector>();
                if let (Ok(other), false) = (other, text.starts_with('!')) {
                    prop_assert_ne!(one, Selectors(vec![other]).select(output));
                }
            }
        }
    }
}
