//! `veil`: the wallpaper daemon, and the client commands that talk to it.

#![deny(unsafe_code)]

mod args;
mod daemon;
mod logging;
mod malloc;
mod media;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    match command {
        Command::Client(command) => veil_ipc::commands::run(command),
        Command::Daemon(args) => {
            malloc::use_one_arena();
            logging::start();
            match daemon::run(args) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("veil: {error:#}");
                    ExitCode::FAILURE
                }
            }
        }
    }
}
