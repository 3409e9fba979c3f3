//! `dump`: the picture that an output shows, as PNG.
//!
//! The daemon writes it into the socket's folder, which both can reach whatever the daemon may not (a service may be kept
//! from the home folder); this program puts it where it is wanted, in the user's own name.

use super::{CommandError, SET_LIMIT, answered, print_to};
use crate::client::Client;
use crate::path::Location;
use crate::protocol::{Answer, Command, WirePath};
use clap::Args;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// What `dump` needs to know.
#[derive(Clone, Debug, Args)]
pub struct DumpArgs {
    /// Which output [default: the first that shows something]
    #[arg(long, value_name = "NAME")]
    pub output: Option<String>,
    /// Where to write it; - is standard output
    #[arg(default_value = "-")]
    pub file: PathBuf,
}

/// A file that is gone at the end, whatever the end is.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        // Where the daemon wrote nothing there is nothing.
        let _ = fs::remove_file(&self.0);
    }
}

pub(super) fn dump(mut client: Client, location: &Location, args: DumpArgs) -> Result<(), CommandError> {
    let to_stdout = args.file == Path::new("-");
    if to_stdout && io::stdout().is_terminal() {
        return Err(CommandError::Terminal);
    }
    let passing = Passing(location.folder().join(format!("dump-{}.png", std::process::id())));
    let command = Command::Dump {
        file: WirePath(passing.0.clone()),
        output: args.output,
    };
    match answered(client.request(&command, SET_LIMIT)?)? {
        Answer::Dump { .. } => {}
        _ => return Err(CommandError::Unexpected),
    }
    let bytes = fs::read(&passing.0).map_err(|error| CommandError::File {
        what: "read",
        path: passing.0.clone(),
        error,
    })?;
    if to_stdout {
        return print_to(&mut io::stdout().lock(), &bytes);
    }
    fs::write(&args.file, &bytes).map_err(|error| CommandError::File {
        what: "write",
        path: args.file.clone(),
        error,
    })
}
