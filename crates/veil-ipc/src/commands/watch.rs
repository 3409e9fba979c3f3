//! `watch`: a table that is drawn again while things change.
//!
//! What changes is told by a subscription; numbers that grow all the time are asked for once a second, and only while
//! something plays. So a desktop that stands still is left alone.

mod load;
mod table;

use super::{ANSWER_LIMIT, CommandError, answered, print, subscribe};
use crate::client::{Client, ClientError};
use crate::protocol::{Answer, Command, Event, PlayState, Status};
use load::Load;
use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};
use table::{Before, lines};

/// The shortest time from one drawing to the next.
const EVERY: Duration = Duration::from_secs(1);

pub(super) fn watch(mut asking: Client, mut events: Client) -> Result<(), CommandError> {
    subscribe::begin(&mut events)?;
    let terminal = io::stdout().is_terminal();
    let mut load = Load::default();
    let mut before: Option<Before> = None;
    let mut drawn = 0;
    loop {
        let status = match status(&mut asking) {
            Err(CommandError::Client(ClientError::Closed)) => return Ok(()),
            status => status?,
        };
        let now = Instant::now();
        let cpu = load.of(status.pid, now);
        let rows = lines(&status, before.as_ref(), cpu, now);
        if terminal {
            drawn = draw(&rows, drawn)?;
        } else {
            print(&format!("{}\n", rows.join("\n")))?;
        }
        let moves = status
            .outputs
            .iter()
            .any(|output| output.state == PlayState::Playing);
        before = Some(Before::new(&status, now));
        if !wait(&mut events, now + EVERY, moves)? {
            return Ok(());
        }
    }
}

fn status(client: &mut Client) -> Result<Status, CommandError> {
    match answered(client.request(&Command::Status, ANSWER_LIMIT)?)? {
        Answer::Status(status) => Ok(status),
        _ => Err(CommandError::Unexpected),
    }
}

/// Waits until it is time to draw again: not before `next`, and where nothing moves, not before something has changed.
/// False when the daemon has ended.
fn wait(events: &mut Client, next: Instant, moves: bool) -> Result<bool, CommandError> {
    let mut changed = moves;
    loop {
        let left = next.saturating_duration_since(Instant::now());
        if left.is_zero() && changed {
            return Ok(true);
        }
        let limit = (changed || !left.is_zero()).then_some(left);
        match events.next_event(limit) {
            Ok(Some(line)) => {
                let event = serde_json::from_slice(&line).unwrap_or(Event::Unknown);
                if event == Event::Stopping {
                    return Ok(false);
                }
                changed = true;
            }
            Ok(None) => {}
            Err(ClientError::Closed) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Draws over what was drawn last, cut to the terminal's width; how many lines there are now.
fn draw(rows: &[String], before: usize) -> Result<usize, CommandError> {
    let size = tcgetwinsize(io::stdout()).ok();
    // A terminal that does not know its size says 0.
    let width = size.map_or(80, |size| match size.ws_col {
        0 => 80,
        columns => usize::from(columns),
    });
    let height = size.map_or(24, |size| match size.ws_row {
        0 => 24,
        rows => usize::from(rows),
    });
    let mut text = String::new();
    if before > 0 {
        // ECMA-48: up by so many lines, then erase from there to the end.
        text.push_str(&format!("\x1b[{before}A\r\x1b[J"));
    }
    let shown = rows.len().min(height.saturating_sub(1));
    for row in &rows[..shown] {
        text.extend(row.chars().take(width));
        text.push('\n');
    }
    print(&text)?;
    Ok(shown)
}
