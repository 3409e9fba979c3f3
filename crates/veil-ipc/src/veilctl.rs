//! The command line of `veilctl`. It is here, and not in that program, so that `veil generate` can describe it too.

use crate::commands::ClientCommand;
use clap::Parser;

/// Tell a running veil daemon what to show
#[derive(Debug, Parser)]
#[command(name = "veilctl", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: ClientCommand,
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
