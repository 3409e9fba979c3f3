//! The command line of `veilctl`. It is here, and not in that program, so that `veil generate` can describe it too.

use crate::commands::{self, ClientCommand, DoctorArgs};
use clap::{Parser, Subcommand};
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command as Process, ExitCode};

/// Tell a running veil daemon what to show
#[derive(Debug, Parser)]
#[command(name = "veilctl", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `veilctl` does: the commands for a daemon, and those for which it starts `veil`.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// A command for the daemon.
    #[command(flatten)]
    Client(ClientCommand),
    /// Look at the session, the GPU and the decoders, and say what would keep a wallpaper from being shown
    ///
    /// Runs `veil doctor`, which is looked for beside this program and then in PATH.
    Doctor(DoctorArgs),
    /// Look at a configuration, and say what is wrong with it and where
    ///
    /// Runs `veil check-config`, which is looked for beside this program and then in PATH.
    CheckConfig {
        /// The configuration [default: the one that the daemon takes]
        file: Option<PathBuf>,
    },
}

/// Runs a command to its end.
pub fn run(command: Command) -> ExitCode {
    match command {
        Command::Client(command) => commands::run(command),
        Command::Doctor(args) => {
            let json = args.json.then_some("--json");
            become_veil("doctor", json, &args.files)
        }
        Command::CheckConfig { file } => become_veil("check-config", None, file.as_slice()),
    }
}

/// Becomes `veil`, for this command. Returns only where there is no such program.
fn become_veil(command: &str, option: Option<&str>, files: &[PathBuf]) -> ExitCode {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.join("veil")))
        .filter(|program| program.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from("veil"));
    let mut process = Process::new(&program);
    process.arg(command).args(option);
    let error = process.arg(OsStr::new("--")).args(files).exec();
    let reason = match error.kind() {
        ErrorKind::NotFound => "veil is neither beside veilctl nor in PATH: install it".to_owned(),
        _ => format!("cannot start {}: {error}", program.display()),
    };
    let _ = io::stderr().write_all(format!("error: {reason}\n").as_bytes());
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
