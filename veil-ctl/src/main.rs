//! `veilctl`: the client of the veil wallpaper daemon. Its commands are those of `veil` itself; it stands apart so that
//! scripts and key bindings start something small.

use clap::Parser;
use std::process::ExitCode;
use veil_ipc::veilctl::{self, Cli};

fn main() -> ExitCode {
    veilctl::run(Cli::parse().command)
}
