//! `veilctl`: the client of the veil wallpaper daemon. Its commands are those of `veil` itself; it stands apart so that
//! scripts and key bindings start something small.

use clap::Parser;
use std::process::ExitCode;
use veil_ipc::commands::{self, ClientCommand};

/// Tell a running veil daemon what to show
#[derive(Debug, Parser)]
#[command(name = "veilctl", version)]
struct Cli {
    #[command(subcommand)]
    command: ClientCommand,
}

fn main() -> ExitCode {
    commands::run(Cli::parse().command)
}
