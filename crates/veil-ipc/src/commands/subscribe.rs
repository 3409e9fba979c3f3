//! `subscribe`: what changes, a line at a time.

use super::{ANSWER_LIMIT, CommandError, answered};
use crate::client::{Client, ClientError};
use crate::protocol::Command;
use std::io::{self, ErrorKind, Write};

/// Asks to be told of events.
pub(super) fn begin(client: &mut Client) -> Result<(), CommandError> {
    answered(client.request(&Command::Subscribe, ANSWER_LIMIT)?).map(|_| ())
}

pub(super) fn subscribe(mut client: Client) -> Result<(), CommandError> {
    begin(&mut client)?;
    let mut out = io::stdout().lock();
    loop {
        let mut line = match client.next_event(None) {
            Ok(Some(line)) => line,
            Ok(None) => continue,
            // The daemon has ended, and has said so.
            Err(ClientError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // As it was sent, with whatever a newer daemon adds.
        line.push(b'\n');
        match out.write_all(&line).and_then(|()| out.flush()) {
            Ok(()) => {}
            // Whoever reads has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(CommandError::Output(error)),
        }
    }
}
