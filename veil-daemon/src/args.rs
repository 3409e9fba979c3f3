//! The command line of `veil`.

use crate::daemon::{assignments::Spec, reconnect::OnDisconnect};
use clap::{Args, Parser, Subcommand};
use std::{ffi::OsString, path::PathBuf};
use veil_config::OutputSelector;
use veil_frame::{FitMode, Rgb};
use veil_ipc::{
    Source,
    commands::{self, ClientCommand, DoctorArgs, PlaylistArgs},
    protocol::Playback,
};
use veil_sink::RouteChoice;

/// A video behind the desktop that costs next to nothing.
#[derive(Debug, Parser)]
#[command(name = "veil", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show wallpapers until told to end: the program that a session starts
    Daemon(DaemonArgs),
    #[command(flatten)]
    Client(ClientCommand),
    /// Look at the session, the GPU and the decoders, and say what would keep a wallpaper from being shown
    ///
    /// Needs neither a daemon nor a compositor. The exit status is 1 if something is broken.
    Doctor(DoctorArgs),
    /// Look at a configuration, and say what is wrong with it and where
    ///
    /// Needs neither a daemon nor a compositor. The exit status is 1 if the daemon would not take it.
    CheckConfig {
        /// The configuration [default: the one that the daemon takes]
        file: Option<PathBuf>,
    },
    /// Become a program that the configuration names, without the signal mask that the daemon has
    #[command(hide = true)]
    ExecHook {
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Write shell completions and manual pages below a prefix's share folder
    #[command(hide = true)]
    Generate {
        /// The folder, like /usr/share
        folder: PathBuf,
    },
}

/// How the daemon starts.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DaemonArgs {
    /// Picture or video to begin with, instead of what was shown last; or a folder, an .m3u playlist or a pattern in quotes, whose
    /// pictures and videos are shown one after the other
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) playlist: PlaylistArgs,
    /// How it is fitted to an output: fill, fit, stretch, center or tile
    #[arg(short, long, value_name = "MODE")]
    pub(crate) mode: Option<FitMode>,
    /// Colour around and behind it, as #RRGGBB
    #[arg(short, long, value_name = "COLOR")]
    pub(crate) background: Option<Rgb>,
    /// How a video plays.
    #[command(flatten)]
    pub(crate) playback: Playback,
    /// Only this output, by its name or description (`veil outputs` lists them), or those that match re:PATTERN; with ! before
    /// it, not this one; may be repeated [default: those of the configuration, or all]
    #[arg(short, long = "output", value_name = "OUTPUT")]
    pub(crate) outputs: Vec<OutputSelector>,
    /// Configuration to take instead of $XDG_CONFIG_HOME/veil/config.toml
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// How video frames get to the compositor: auto, direct, convert or shm; a video fails where that is not possible
    #[arg(long, value_name = "ROUTE", default_value = "auto")]
    pub(crate) route: RouteChoice,
    /// The GPU that converts, by a part of its name or its render node, instead of the compositor's
    #[arg(long, value_name = "DEVICE", env = "VEIL_DEVICE")]
    pub(crate) device: Option<String>,
    /// What to do when the compositor goes
    #[arg(long, value_name = "ACTION", default_value = "exit")]
    pub(crate) on_disconnect: OnDisconnect,
    /// What is logged: error, warn, info, debug or trace, or a filter of Rust's `tracing` like veil_sink=trace
    #[arg(long, value_name = "FILTER", env = "VEIL_LOG", hide_env_values = true)]
    pub(crate) log: Option<String>,
    /// Also keep the log of this run in a file in $XDG_STATE_HOME/veil/runs (the newest 20)
    #[arg(long)]
    pub(crate) log_runs: bool,
}

impl DaemonArgs {
    /// The wallpaper to begin with.
    pub(crate) fn spec(&self) -> Option<Spec> {
        let input = self.input.as_ref()?;
        let source = commands::source(std::slice::from_ref(input));
        Some(Spec {
            // Without a folder to be in, what is relative is refused where files are.
            source: source.unwrap_or_else(|_| Source::from(input.clone())),
            mode: self.mode.unwrap_or_default(),
            background: self.background.unwrap_or(Rgb::BLACK),
            playlist: self.playlist.options().unwrap_or_default(),
            playback: self.playback,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_older_daemons_words_are_understood() {
        let cli = Cli::try_parse_from([
            "veil", "daemon", "--input", "-odd", "--mode", "fit", "--output", "DP-1",
        ]);
        assert!(cli.is_err(), "a file that looks like an option needs “=”");
        let words = [
            "veil",
            "daemon",
            "--input=-odd",
            "--mode",
            "fit",
            "--output",
            "DP-1",
            "--output",
            "DP-2",
        ];
        let Command::Daemon(args) = Cli::try_parse_from(words).unwrap().command else {
            panic!("not the daemon")
        };
        let names: Vec<_> = args.outputs.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["DP-1", "DP-2"]);
        assert_eq!(args.spec().unwrap().mode, FitMode::Fit);
    }
}
