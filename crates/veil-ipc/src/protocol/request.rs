//! What clients ask for.

use super::{Playback, PlaylistOptions, SeekTo, Source, SourceError, StartAt, VERSION, WirePath};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use veil_frame::{FitMode, Rgb};

/// One line from a client: the version of the protocol, and a command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// The protocol's version, [`VERSION`].
    pub version: u32,
    /// What is asked for. Its fields stand beside the version.
    #[serde(flatten)]
    pub command: Command,
}

/// What a client may ask for. In every command an empty list of outputs means all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub enum Command {
    /// Show a file. Answered when its picture was presented, or has failed, or when no output can present.
    Set {
        /// What to show: a field `file`, `url` or `color`. A file's path is absolute: the daemon's folder is not the client's.
        #[serde(flatten)]
        source: Source,
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
        /// How it is fitted; `None` keeps the output's mode.
        #[serde(default)]
        mode: Option<FitMode>,
        /// The colour around and behind it; `None` keeps the output's.
        #[serde(default)]
        background: Option<Rgb>,
        /// How a folder or a list is gone through; `None` is as the configuration says.
        #[serde(default)]
        playlist: Option<PlaylistOptions>,
        /// How a video plays, as fields `speed`, `max_fps` and `loop`; what is not said is the configuration's.
        #[serde(flatten)]
        playback: Playback,
        /// Where a video begins, as a text: `1:30:00`; `None` is its beginning, or where it is if it plays already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<StartAt>,
    },
    /// Tell what is shown, and how.
    Status,
    /// Hold the pictures still.
    Pause {
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// Let the pictures go on.
    Resume {
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// Pause what plays, resume what is paused.
    Toggle {
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// Show the next one of a folder or a list. Answered when it is seen.
    Next {
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// Show the one before. Answered when it is seen.
    Previous {
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// Take the wallpaper away.
    Clear {
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// End the daemon. Answered at once; the connection is closed when the daemon has ended.
    Stop,
    /// Tell which outputs there are.
    Outputs,
    /// Go to a place in a video. Answered when the picture of that place is there.
    Seek {
        /// Where to, as a text: `1:30:00`, `+10`, `-10`, `50%`.
        to: SeekTo,
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// Show again what is remembered, also what was cleared last.
    Restore {
        /// On which outputs, by name.
        #[serde(default)]
        outputs: Vec<String>,
    },
    /// Write the picture that an output shows to a file, as PNG.
    Dump {
        /// Where to; absolute. What is there is replaced.
        file: WirePath,
        /// Which output, by name; `None` is the first that shows something.
        #[serde(default)]
        output: Option<String>,
    },
    /// Read the configuration anew, and do what has changed in it.
    Reload,
    /// Tell what changes from now on: after the answer come events, and no request is taken any more.
    Subscribe,
}

/// A line that is not a request, and why.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The line is not JSON, or not UTF-8.
    #[error("the request is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The line is JSON, but no object.
    #[error("a request is a JSON object, as in {{\"version\":{VERSION},\"command\":\"status\"}}")]
    NotAnObject,
    /// No version was given, or one that is no number.
    #[error("the request has no version: add \"version\":{VERSION}")]
    NoVersion,
    /// The client speaks a version that this daemon does not.
    #[error("version {0} of the protocol is not understood here: this is version {VERSION}")]
    OtherVersion(u64),
    /// No command was named.
    #[error("the request has no command: use one of {}", Command::NAMES.join(", "))]
    NoCommand,
    /// The command's name, cut short when long, is not known.
    #[error("the command “{0}” is not known: use one of {names}", names = Command::NAMES.join(", "))]
    UnknownCommand(String),
    /// A field is missing, or holds something else than it should.
    #[error("the command “{command}” is not complete or not right: {error}")]
    BadFields {
        /// The command's name.
        command: &'static str,
        /// What is wrong.
        #[source]
        error: serde_json::Error,
    },
    /// `set` does not tell what, or more than one thing.
    #[error("the command “set” needs one of the fields {}", Source::NAMES.join(", "))]
    NoSource,
    /// What `set` names can't be shown.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl Command {
    /// The names of all commands, as they stand in a request.
    pub const NAMES: [&str; 15] = [
        "set",
        "status",
        "pause",
        "resume",
        "toggle",
        "next",
        "previous",
        "clear",
        "stop",
        "outputs",
        "seek",
        "restore",
        "dump",
        "reload",
        "subscribe",
    ];

    /// This command as a line for the daemon, with its newline.
    pub fn to_line(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut line = serde_json::to_vec(&Request {
            version: VERSION,
            command: self.clone(),
        })?;
        line.push(b'\n');
        Ok(line)
    }
}

/// Reads one line, without or with its newline.
pub fn parse_request(line: &[u8]) -> Result<Command, RequestError> {
    let value: Value = serde_json::from_slice(line).map_err(RequestError::NotJson)?;
    let Value::Object(fields) = value else {
        return Err(RequestError::NotAnObject);
    };
    // The version first: in another one even the name of a command may mean something else.
    match fields.get("version").and_then(Value::as_u64) {
        None => return Err(RequestError::NoVersion),
        Some(version) if version != u64::from(VERSION) => return Err(RequestError::OtherVersion(version)),
        Some(_) => {}
    }
    let name = known_name(&fields)?;
    if name == "set"
        && Source::NAMES
            .iter()
            .filter(|name| fields.contains_key(**name))
            .count()
            != 1
    {
        return Err(RequestError::NoSource);
    }
    let command = serde_json::from_value(Value::Object(fields))
        .map_err(|error| RequestError::BadFields { command: name, error })?;
    match &command {
        Command::Set { source, .. } => source.check()?,
        Command::Dump { file, .. } => Source::File(file.clone()).check()?,
        _ => {}
    }
    Ok(command)
}

fn known_name(fields: &Map<String, Value>) -> Result<&'static str, RequestError> {
    let name = fields
        .get("command")
        .and_then(Value::as_str)
        .ok_or(RequestError::NoCommand)?;
    Command::NAMES
        .into_iter()
        .find(|known| *known == name)
        .ok_or_else(|| {
            // Enough to recognise a slip of the pen, not a whole line back.
            RequestError::UnknownCommand(name.chars().take(40).collect())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all() -> Vec<Command> {
        let outputs = vec!["DP-1".to_owned(), String::new()];
        vec![
            Command::Set {
                source: Source::from("/a"),
                outputs: outputs.clone(),
                mode: Some(FitMode::Tile),
                background: Some(Rgb { r: 1, g: 2, b: 3 }),
                playlist: Some(PlaylistOptions {
                    shuffle: true,
                    ..PlaylistOptions::default()
                }),
                playback: Playback {
                    speed: "0.5".parse().ok(),
                    ..Playback::default()
                },
                start: Some(StartAt(std::time::Duration::from_secs(90))),
            },
            Command::Set {
                source: Source::Url("http://a".into()),
                outputs: vec![],
                mode: None,
                background: None,
                playlist: None,
                playback: Playback::default(),
                start: None,
            },
            Command::Status,
            Command::Pause {
                outputs: outputs.clone(),
            },
            Command::Resume {
                outputs: outputs.clone(),
            },
            Command::Toggle {
                outputs: outputs.clone(),
            },
            Command::Next {
                outputs: outputs.clone(),
            },
            Command::Previous {
                outputs: outputs.clone(),
            },
            Command::Clear {
                outputs: outputs.clone(),
            },
            Command::Stop,
            Command::Outputs,
            Command::Seek {
                to: SeekTo::Percent(50.0),
                outputs: outputs.clone(),
            },
            Command::Restore { outputs },
            Command::Dump {
                file: "/a.png".into(),
                output: Some("DP-1".into()),
            },
            Command::Reload,
            Command::Subscribe,
        ]
    }

    #[test]
    fn every_command_comes_back() {
        let mut names = Vec::new();
        for command in all() {
            let line = command.to_line().expect("JSON");
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            let value: Value = serde_json::from_slice(&line).expect("JSON");
            names.push(value["command"].as_str().expect("a name").to_owned());
            assert_eq!(parse_request(&line).expect("a request"), command);
        }
        names.dedup();
        assert_eq!(names, Command::NAMES, "NAMES and the enum differ");
    }

    #[test]
    fn unknown_fields_are_ignored_and_lists_may_be_missing() {
        let line = br#"{"version":1,"command":"pause","fade":true}"#;
        assert_eq!(
            parse_request(line).expect("a request"),
            Command::Pause { outputs: vec![] }
        );
        let line = br#"{"new":{},"version":1,"command":"status","outputs":3}"#;
        assert_eq!(parse_request(line).expect("a request"), Command::Status);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, words) in [
            (&b"{"[..], "not JSON"),
            (b"\xff", "not JSON"),
            (b"[1]", "JSON object"),
            (b"{}", "no version"),
            (br#"{"version":"1"}"#, "no version"),
            (br#"{"version":2,"command":"status"}"#, "this is version 1"),
            (br#"{"version":1}"#, "set, status"),
            (
                br#"{"version":1,"command":"sett"}"#,
                "“sett” is not known: use one of set, status, pause",
            ),
            (
                br#"{"version":1,"command":"set"}"#,
                "one of the fields file, files, glob, url, color",
            ),
            (
                br#"{"version":1,"command":"set","file":"/a","url":"x"}"#,
                "one of the fields",
            ),
            (br##"{"version":1,"command":"set","color":"blue"}"##, "#RRGGBB"),
            (br#"{"version":1,"command":"set","file":"a"}"#, "absolute"),
            (br#"{"version":1,"command":"set","file":""}"#, "absolute"),
            (br#"{"version":1,"command":"set","file":"/a\u0000"}"#, "NUL"),
            (
                br#"{"version":1,"command":"set","file":"/a","mode":"zoom"}"#,
                "`fill`",
            ),
            (
                br##"{"version":1,"command":"set","file":"/a","background":"#1"}"##,
                "#RRGGBB",
            ),
            (br#"{"version":1,"command":"pause","outputs":"DP-1"}"#, "sequence"),
        ] {
            let error = parse_request(line).expect_err("taken").to_string();
            assert!(error.contains(words), "{error}");
        }
        let long = format!(r#"{{"version":1,"command":"{}"}}"#, "x".repeat(50_000));
        assert!(
            parse_request(long.as_bytes())
                .expect_err("taken")
                .to_string()
                .len()
                < 300
        );
        // Deep nesting ends in an error, not in an overflown stack.
        assert!(parse_request("[".repeat(60_000).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(line in any::<Vec<u8>>()) {
            let _ = parse_request(&line);
        }

        #[test]
        fn no_fields_panic(
            command in proptest::sample::select(Command::NAMES.to_vec()),
            field in "file|files|glob|playlist|url|color|outputs|mode|background|version|x",
            value in r#"null|-?[0-9]{1,20}|"[a-z/#\\\\u00]{0,9}"|\[[0-9]{1,3}(,[0-9]{1,3}){0,4}\]|\{\}"#,
        ) {
            let line = format!(r#"{{"version":1,"command":"{command}","{field}":{value}}}"#);
            let _ = parse_request(line.as_bytes());
        }
    }
}
