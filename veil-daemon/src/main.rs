//! `veil`: the wallpaper daemon, and the client commands that talk to it.

#![deny(unsafe_code)]

mod args;
mod config;
mod daemon;
mod doctor;
mod folders;
mod generate;
mod hook;
mod logging;
mod malloc;
mod media;
mod notify;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    match command {
        Command::Client(command) => veil_ipc::commands::run(command),
        Command::Doctor(args) => doctor::run(&args),
        Command::CheckConfig { file } => config::check::run(file.as_deref()),
        Command::ExecHook { words } => hook::exec(&words),
        Command::Generate { folder } => ended(generate::generate(&folder).map_err(Into::into)),
        Command::Daemon(args) => {
            malloc::use_one_arena();
            if let Err(error) = logging::start(args.log.as_deref(), args.log_runs) {
                tracing::warn!("{error}");
            }
            ended(daemon::run(args))
        }
    }
}

fn ended(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("veil: {error:#}");
            if daemon::reconnect::is_disconnect(&error) {
                return ExitCode::from(daemon::reconnect::EXIT_STATUS);
            }
            ExitCode::FAILURE
        }
    }
}
