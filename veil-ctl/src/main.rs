//! `veilctl`: the client of the veil wallpaper daemon. Its commands are those of `veil` itself; it stands apart so that
//! scripts and key bindings start something small.

use clap::Parser;
use std::process::ExitCode;
use veil_ipc::{commands, veilctl::Cli};

fn main() -> ExitCode {
    commands::run(Cli::parse().command)
}
