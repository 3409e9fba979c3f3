//! What was found, as text for people or as JSON for programs.

use serde::Serialize;
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write as _},
    process::ExitCode,
};
use veil_ipc::Reason;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// It works, and could be better; or something else than usual.
    Note,
    /// It does not work.
    Broken,
}

/// Something that was found.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    level: Level,
    what: Reason,
}

/// What was found in one place.
#[derive(Debug, Serialize)]
pub(super) struct Section {
    name: &'static str,
    findings: Vec<Finding>,
    /// The same for programs, where there is more to say than sentences.
    #[serde(skip_serializing_if = "Value::is_null")]
    facts: Value,
}

impl Section {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            findings: Vec::new(),
            facts: Value::Null,
        }
    }

    pub(super) fn ok(&mut self, what: impl AsRef<str>) {
        self.find(Level::Ok, what);
    }

    pub(super) fn note(&mut self, what: impl AsRef<str>) {
        self.find(Level::Note, what);
    }

    pub(super) fn broken(&mut self, what: impl AsRef<str>) {
        self.find(Level::Broken, what);
    }

    pub(super) fn facts(&mut self, facts: Value) {
        self.facts = facts;
    }

    fn find(&mut self, level: Level, what: impl AsRef<str>) {
        // Names of files and devices may hold anything; a line stays a line.
        let what = Reason::new(what);
        self.findings.push(Finding { level, what });
    }

    fn level(&self) -> Level {
        self.findings
            .iter()
            .map(|finding| finding.level)
            .max()
            .unwrap_or(Level::Ok)
    }

    fn text(&self, colours: bool) -> String {
        let mut text = format!("{}\n", self.name);
        for finding in &self.findings {
            let (word, colour) = match finding.level {
                Level::Ok => ("ok", "32"),
                Level::Note => ("note", "33"),
                Level::Broken => ("BROKEN", "31;1"),
            };
            // Writing to a String does not fail.
            let _ = if colours {
                writeln!(text, "  \x1b[{colour}m{word:<6}\x1b[0m  {}", finding.what)
            } else {
                writeln!(text, "  {word:<6}  {}", finding.what)
            };
        }
        text
    }
}

/// Everything that was found. As text it is printed as it comes: who waits sees for what.
#[derive(Debug)]
pub(super) struct Report {
    json: bool,
    sections: Vec<Section>,
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        Self {
            json,
            sections: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, section: Section) {
        if !self.json {
            print(&section.text(io::stdout().is_terminal()));
        }
        self.sections.push(section);
    }

    fn level(&self) -> Level {
        self.sections
            .iter()
            .map(Section::level)
            .max()
            .unwrap_or(Level::Ok)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "commit": option_env!("VEIL_COMMIT").unwrap_or_default(),
            "broken": self.level() == Level::Broken,
            "sections": self.sections,
        })
    }

    /// Prints what is still to be printed.
    pub(super) fn end(self) -> ExitCode {
        if self.json {
            print(&format!("{:#}\n", self.to_json()));
        } else {
            let last = match self.level() {
                Level::Ok => "Everything is as it should be.",
                Level::Note => "Nothing is broken.",
                Level::Broken => "Something is broken: see above.",
            };
            print(&format!("\n{last}\n"));
        }
        match self.level() {
            Level::Broken => ExitCode::FAILURE,
            Level::Ok | Level::Note => ExitCode::SUCCESS,
        }
    }
}

/// Whoever closed the output early has seen enough.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
