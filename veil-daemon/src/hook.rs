//! Programs that the configuration names, seen from the process that becomes one.
//!
//! The daemon blocks the signals that it reads from a descriptor, and what it starts inherits that (POSIX, execve): such a program could
//! not be ended. So the daemon starts itself once more, and that process opens the mask and becomes the program.

use nix::sys::signal::SigSet;
use std::{
    ffi::OsString,
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

/// What shells say of a program that they cannot start.
const NOT_STARTED: u8 = 127;

/// Becomes the program. Returns only where that cannot be.
pub(crate) fn exec(words: &[OsString]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else {
        return ExitCode::from(NOT_STARTED);
    };
    let error = match SigSet::all().thread_unblock() {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error.into(),
    };
    eprintln!("veil: cannot start {}: {error}", program.display());
    ExitCode::from(NOT_STARTED)
}
