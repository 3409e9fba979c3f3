//! `set`: what is to be shown, and how.

use super::{CommandError, OutputArgs, SET_LIMIT, START_LIMIT, answered, print};
use crate::client::Client;
use crate::path::Location;
use crate::protocol::{Answer, Command, Interval, Playback, PlaylistOptions, Source, StartAt, WirePath};
use clap::Args;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use veil_frame::{FitMode, Rgb};

/// What `set` needs to know.
#[derive(Clone, Debug, Args)]
pub struct SetArgs {
    /// For which outputs.
    #[command(flatten)]
    pub on: OutputArgs,
    /// How the picture is fitted to the output [default: as it is]
    #[arg(long, value_parser = mode_parser())]
    pub mode: Option<FitMode>,
    /// The colour around and behind the picture, as #RRGGBB [default: as it is]
    #[arg(long, value_name = "COLOR")]
    pub background: Option<Rgb>,
    /// How a video plays.
    #[command(flatten)]
    pub playback: Playback,
    /// Where a video begins: a time as in 90, 1:30 or 1:30:00 [default: its beginning]
    #[arg(long, value_name = "TIME", conflicts_with = "color")]
    pub start: Option<StartAt>,
    /// Nothing but this colour, as #RRGGBB, instead of a file
    #[arg(long, value_name = "COLOR", conflicts_with = "files")]
    pub color: Option<Rgb>,
    /// How a list is gone through.
    #[command(flatten)]
    pub playlist: PlaylistArgs,
    /// The picture or video; or a folder, an .m3u playlist, a pattern in quotes ('~/w/*.png') or several files, which are shown one
    /// after the other; a name that begins with a dash goes after `--`
    #[arg(value_name = "FILE", value_parser = file_parser(), required_unless_present = "color")]
    pub files: Vec<PathBuf>,
}

/// How a list of wallpapers is gone through.
#[derive(Clone, Debug, Default, Args)]
pub struct PlaylistArgs {
    /// Go through a folder or a list in an order of chance
    #[arg(long)]
    pub shuffle: bool,
    /// Take what lies in a folder's folders too
    #[arg(long)]
    pub recursive: bool,
    /// Go through a folder or a list once, and stay at its end
    #[arg(long)]
    pub once: bool,
    /// How long each of a folder or a list is shown: seconds, or as 90s, 5m, 1h; 0 is until `next` [default: 5m]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Interval>,
}

impl PlaylistArgs {
    /// What was said, if anything was.
    pub fn options(&self) -> Option<PlaylistOptions> {
        let said = self.shuffle || self.recursive || self.once || self.interval.is_some();
        said.then(|| PlaylistOptions {
            shuffle: self.shuffle,
            recursive: self.recursive,
            once: self.once,
            interval_s: self
                .interval
                .map_or(PlaylistOptions::INTERVAL_S, |interval| interval.0),
        })
    }
}

/// For clap: the modes by name, so that `--help` and mistakes list them.
fn mode_parser() -> impl TypedValueParser<Value = FitMode> {
    PossibleValuesParser::new(FitMode::ALL.map(FitMode::name)).try_map(|name| name.parse::<FitMode>())
}

/// For clap: a file name that is not `-`, which other programs take for their standard input.
fn file_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            Err("reading from standard input is not possible; a file of that name is ./-")
        } else {
            Ok(path)
        }
    })
}

/// What a file on the command line means.
///
/// Joined to this folder, but no link resolved: the name that was given is what `status` shows and what is restored at the
/// next login, when the link may lead elsewhere.
///
/// # Errors
///
/// The current folder is not known.
pub fn source(files: &[PathBuf]) -> io::Result<Source> {
    let absolute = |file: &PathBuf| {
        // A path of no characters has no absolute form; it is refused where files are.
        if file.as_os_str().is_empty() {
            return Ok(WirePath(PathBuf::new()));
        }
        std::path::absolute(file).map(WirePath)
    };
    match files {
        [file] if is_pattern(file) => absolute(file).map(Source::Glob),
        [file] => absolute(file).map(Source::File),
        files => files
            .iter()
            .map(absolute)
            .collect::<io::Result<_>>()
            .map(Source::Files),
    }
}

/// A name with a pattern's signs in it is one, unless there is a file of that name.
fn is_pattern(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.iter().any(|byte| b"*?[".contains(byte)) && path.symlink_metadata().is_err()
}

pub(super) fn set(location: &Location, args: SetArgs) -> Result<(), CommandError> {
    let playlist = args.playlist.options();
    let source = match args.color {
        Some(color) => Source::Color(color),
        // Clap has refused neither.
        None => source(&args.files).map_err(CommandError::Folder)?,
    };
    let command = Command::Set {
        source,
        outputs: args.on.outputs,
        mode: args.mode,
        background: args.background,
        playlist,
        playback: args.playback,
        start: args.start,
    };
    let response = Client::connect_waiting(location, START_LIMIT)?.request(&command, SET_LIMIT)?;
    match answered(response)? {
        Answer::Set { presented: true, .. } => Ok(()),
        Answer::Set {
            presented: false,
            reason,
        } => match reason {
            Some(reason) => print(&format!("set, but not on a screen yet: {reason}\n")),
            None => print("set, but not on a screen yet\n"),
        },
        _ => Err(CommandError::Unexpected),
    }
}

/// `next` and `previous`.
pub(super) fn step(mut client: Client, command: &Command) -> Result<(), CommandError> {
    answered(client.request(command, SET_LIMIT)?).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{ClientCommand, tests::Cli};
    use clap::Parser;

    fn set(arguments: &[&str]) -> Result<SetArgs, clap::Error> {
        let words = ["veilctl", "set"].iter().chain(arguments);
        match Cli::try_parse_from(words)?.command {
            ClientCommand::Set(args) => Ok(args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_of_set() {
        let args = set(&[
            "--output",
            "A",
            "a b.mp4",
            "--output=B",
            "--mode",
            "tile",
            "--background",
            "#102030",
        ]);
        let args = args.expect("taken");
        assert_eq!(args.files, [PathBuf::from("a b.mp4")]);
        assert_eq!(args.on.outputs, ["A", "B"]);
        assert_eq!(args.mode, Some(FitMode::Tile));
        assert_eq!(
            args.background,
            Some(Rgb {
                r: 0x10,
                g: 0x20,
                b: 0x30
            })
        );
        let args = set(&["--", "-dash.mp4"]).expect("taken");
        assert_eq!(args.files, [PathBuf::from("-dash.mp4")]);
        let args = set(&["--color", "#204060"]).expect("taken");
        assert!(args.files.is_empty() && args.color.is_some());
        assert!(args.on.outputs.is_empty() && args.mode.is_none() && args.background.is_none());
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for (arguments, words) in [
            (&[][..], "<FILE>"),
            (&[""], "FILE"),
            (&["-"], "standard input"),
            (&["-dash.mp4"], "unexpected argument"),
            (&["--interval", "soon", "a"], "5m"),
            (&["--speed", "5", "a"], "from 0.25 to 4"),
            (&["--max-fps", "0", "a"], "from 1 to 1000"),
            (&["--loop", "crossfade", "a"], "seamless, none"),
            (&["--start", "+10", "a"], "1:30:00"),
            (&["--color", "#204060", "a"], "cannot be used with"),
            (&["--color", "blue"], "#RRGGBB"),
            (&["--mode", "zoom", "a"], "fill, fit, stretch, center, tile"),
            (&["--background", "red", "a"], "#RRGGBB"),
        ] {
            let error = set(arguments).expect_err("taken");
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn lists_and_how_they_are_gone_through() {
        let args = set(&["--shuffle", "--interval", "90", "a", "b"]).expect("taken");
        let options = args.playlist.options().expect("options");
        assert_eq!(
            (options.shuffle, options.once, options.interval_s),
            (true, false, 90)
        );
        let here = std::env::current_dir().expect("a folder");
        let files = Source::Files(vec![WirePath(here.join("a")), WirePath(here.join("b"))]);
        assert_eq!(source(&args.files).expect("a source"), files);
        let args = set(&["/no/such/*.png"]).expect("taken");
        assert_eq!(args.playlist.options(), None);
        assert_eq!(
            source(&args.files).expect("a source"),
            Source::Glob("/no/such/*.png".into())
        );
        for (text, seconds) in [
            ("0", 0),
            ("30", 30),
            ("90s", 90),
            ("5m", 300),
            ("2h", 7200),
            ("1d", 86400),
        ] {
            assert_eq!(text.parse(), Ok(Interval(seconds)));
        }
        for text in ["", "s", "-1", "1.5m", "99999999d", "5 m", "é"] {
            assert!(text.parse::<Interval>().is_err(), "{text}");
        }
    }
}
