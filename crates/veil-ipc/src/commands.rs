//! The client commands, the same in `veil` and in `veilctl`: their arguments, and what they do.

mod dump;
mod outputs;
mod set;
mod subscribe;
mod watch;

use crate::client::{Client, ClientError};
use crate::path::Location;
use crate::protocol::{Answer, Command, Reason, Response, SeekTo};
use crate::render::render;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub use dump::DumpArgs;
pub use set::{PlaylistArgs, SetArgs, source};

/// How long `set` waits for a daemon that is starting.
const START_LIMIT: Duration = Duration::from_secs(2);

/// How long `set` waits until its picture was presented: a big picture from a slow disk takes its time.
const SET_LIMIT: Duration = Duration::from_secs(60);

/// How long the other commands wait for their answer, which the daemon has at hand.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// How long `stop` waits for the daemon's end.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Commands for a running daemon.
#[derive(Clone, Debug, Subcommand)]
pub enum ClientCommand {
    /// Show a picture or a video as the wallpaper
    ///
    /// Returns when it is on the screen, or says why it can't be shown; then the old wallpaper stays. Waits up to two
    /// seconds for a daemon that is just starting.
    Set(SetArgs),
    /// Show what is playing, and how
    Status {
        /// Print one JSON object instead of text
        #[arg(long)]
        json: bool,
    },
    /// Hold the wallpaper still
    Pause(OutputArgs),
    /// Let a paused wallpaper go on
    Resume(OutputArgs),
    /// Pause the wallpaper if it plays, resume it if it is paused
    Toggle(OutputArgs),
    /// Show the next one of a folder or a list
    Next(OutputArgs),
    /// Show the one before
    Previous(OutputArgs),
    /// Take the wallpaper away
    Clear(OutputArgs),
    /// End the daemon
    Stop,
    /// List the outputs
    Outputs {
        /// Print one JSON array instead of text
        #[arg(long)]
        json: bool,
    },
    /// Go to a place in the video
    ///
    /// Returns when the picture of that place is there.
    Seek {
        /// Where to: a time (90, 1:30, 1:30:00), a step (+10, -10) or a part of its length (50%)
        #[arg(value_name = "PLACE", allow_hyphen_values = true)]
        to: SeekTo,
        /// For which outputs.
        #[command(flatten)]
        on: OutputArgs,
    },
    /// Show again what is remembered, also what was cleared last
    Restore(OutputArgs),
    /// Write the picture that an output shows as PNG
    Dump(DumpArgs),
    /// Read the configuration anew; it is done by itself when its file changes
    Reload,
    /// Print what changes, a JSON object a line, until interrupted
    Subscribe,
    /// Show frames, decoders and load once a second, until interrupted
    Watch,
}

/// Which outputs a command is for.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// An output's name or description, as `outputs` lists it, or those that match re:PATTERN; with ! before it, not this one; may be
    /// repeated [default: all outputs]
    #[arg(long = "output", value_name = "OUTPUT")]
    pub outputs: Vec<String>,
}

/// What `doctor` needs to know. It is a command of `veil` itself; `veilctl doctor` starts that.
#[derive(Clone, Debug, Default, Args)]
pub struct DoctorArgs {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Pictures or videos: what veil would do with each, and why
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    /// No answer came.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The daemon did not do it.
    #[error("{0}")]
    Refused(Reason),
    /// The daemon answered another question.
    #[error(
        "veil's answer does not belong to the request (is the daemon of another version than this program?)"
    )]
    Unexpected,
    /// The current folder is gone or can't be named.
    #[error("the current folder is not known: {0}")]
    Folder(#[source] io::Error),
    /// The answer can't be printed.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// A picture is no text.
    #[error("a PNG picture would be written to the terminal: name a file, or send it on with > or |")]
    Terminal,
    /// A file can't be used.
    #[error("cannot {what} {}: {error}", .path.display())]
    File {
        /// What was tried, as in "write".
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

/// Runs a command to its end. Answers go to standard output; a failure is one line on standard error, and exit status 1.
pub fn run(command: ClientCommand) -> ExitCode {
    match execute(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One write, so that lines of programs that run at the same time don't mix. Where it can't be told, the exit
            // status still tells.
            let line = format!("error: {}\n", Reason::new(error.to_string()));
            let _ = io::stderr().write_all(line.as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn execute(command: ClientCommand) -> Result<(), CommandError> {
    let location = Location::from_env().map_err(ClientError::Location)?;
    let connect = || Client::connect(&location);
    match command {
        ClientCommand::Set(args) => set::set(&location, args),
        ClientCommand::Status { json } => status(connect()?, json),
        ClientCommand::Pause(on) => simple(&mut connect()?, &Command::Pause { outputs: on.outputs }),
        ClientCommand::Resume(on) => simple(&mut connect()?, &Command::Resume { outputs: on.outputs }),
        ClientCommand::Toggle(on) => simple(&mut connect()?, &Command::Toggle { outputs: on.outputs }),
        ClientCommand::Clear(on) => simple(&mut connect()?, &Command::Clear { outputs: on.outputs }),
        ClientCommand::Stop => {
            let mut client = connect()?;
            simple(&mut client, &Command::Stop)?;
            // Who stops it may want to start it again, and a daemon that is still ending would be in the way.
            Ok(client.wait_closed(STOP_LIMIT)?)
        }
        ClientCommand::Next(on) => set::step(connect()?, &Command::Next { outputs: on.outputs }),
        ClientCommand::Previous(on) => set::step(connect()?, &Command::Previous { outputs: on.outputs }),
        ClientCommand::Outputs { json } => outputs::outputs(connect()?, json),
        ClientCommand::Seek { to, on } => seek(connect()?, to, on.outputs),
        ClientCommand::Restore(on) => {
            let command = Command::Restore { outputs: on.outputs };
            answered(connect()?.request(&command, SET_LIMIT)?).map(|_| ())
        }
        ClientCommand::Dump(args) => dump::dump(connect()?, &location, args),
        ClientCommand::Reload => simple(&mut connect()?, &Command::Reload),
        ClientCommand::Subscribe => subscribe::subscribe(connect()?),
        ClientCommand::Watch => watch::watch(connect()?, connect()?),
    }
}

fn simple(client: &mut Client, command: &Command) -> Result<(), CommandError> {
    // Whatever there may be to add to "done" one day, it was done.
    answered(client.request(command, ANSWER_LIMIT)?).map(|_| ())
}

fn seek(mut client: Client, to: SeekTo, outputs: Vec<String>) -> Result<(), CommandError> {
    answered(client.request(&Command::Seek { to, outputs }, SET_LIMIT)?).map(|_| ())
}

fn status(mut client: Client, json: bool) -> Result<(), CommandError> {
    let line = client.request_line(&Command::Status, ANSWER_LIMIT)?;
    if json && let Ok(sent) = serde_json::from_slice::<SentStatus>(&line) {
        return print(&format!("{}\n", sent.ok.status));
    }
    let response = serde_json::from_slice(&line).map_err(ClientError::Response)?;
    match answered(response)? {
        Answer::Status(status) if !json => print(&render(&status)),
        _ => Err(CommandError::Unexpected),
    }
}

/// A status as it was sent, with the fields that only a newer daemon knows, and in the daemon's order.
#[derive(Deserialize)]
struct SentStatus<'a> {
    #[serde(borrow)]
    ok: SentAnswer<'a>,
}

/// The part of [`SentStatus`] that is the answer.
#[derive(Deserialize)]
struct SentAnswer<'a> {
    #[serde(borrow)]
    status: &'a RawValue,
}

fn answered(response: Response) -> Result<Answer, CommandError> {
    match response {
        Response::Ok(answer) => Ok(answer),
        Response::Error { reason } => Err(CommandError::Refused(reason)),
    }
}

fn print(text: &str) -> Result<(), CommandError> {
    print_to(&mut io::stdout().lock(), text.as_bytes())
}

/// Prints. Whoever closed the output early, as `head` does, has seen enough: that is no failure.
fn print_to(out: &mut impl Write, bytes: &[u8]) -> Result<(), CommandError> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CommandError::Output(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Debug, Parser)]
    pub(super) struct Cli {
        #[command(subcommand)]
        pub(super) command: ClientCommand,
    }

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_step_back_is_no_option() {
        let words = ["veilctl", "seek", "-10", "--output", "A"];
        let ClientCommand::Seek { to, on } = Cli::try_parse_from(words).expect("taken").command else {
            panic!("another command")
        };
        assert_eq!(
            (to, on.outputs),
            (SeekTo::Back(Duration::from_secs(10)), vec!["A".to_owned()])
        );
        let error = Cli::try_parse_from(["veilctl", "seek", "noon"]).expect_err("taken");
        assert!(error.to_string().contains("1:30:00"), "{error}");
    }

    #[test]
    fn a_status_is_passed_on_as_it_was_sent() {
        let line = br#"{"ok":{"status":{"pid":1,"new":[1.50],"a":0}},"more":1}"#;
        let sent: SentStatus = serde_json::from_slice(line).expect("a status");
        assert_eq!(sent.ok.status.get(), r#"{"pid":1,"new":[1.50],"a":0}"#);
        assert!(serde_json::from_slice::<SentStatus>(br#"{"ok":"done"}"#).is_err());
    }

    #[test]
    fn a_closed_output_is_no_failure_and_a_full_disk_is() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        drop(reader);
        print_to(&mut writer, b"text").expect("no failure");
        let mut full = std::fs::File::create("/dev/full").expect("the device");
        let error = print_to(&mut full, b"text").expect_err("printed");
        assert!(
            error.to_string().starts_with("cannot write to standard output: "),
            "{error}"
        );
    }
}
