//! `outputs`: which there are.

use super::{ANSWER_LIMIT, CommandError, answered, print};
use crate::client::{Client, ClientError};
use crate::protocol::{Answer, Command, OutputInfo};
use crate::render::printable;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt::Write;

/// The list as it was sent, with the fields that only a newer daemon knows.
#[derive(Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    ok: SentAnswer<'a>,
}

/// The part of [`Sent`] that is the answer.
#[derive(Deserialize)]
struct SentAnswer<'a> {
    #[serde(borrow)]
    outputs: &'a RawValue,
}

pub(super) fn outputs(mut client: Client, json: bool) -> Result<(), CommandError> {
    let line = client.request_line(&Command::Outputs, ANSWER_LIMIT)?;
    if json && let Ok(sent) = serde_json::from_slice::<Sent>(&line) {
        return print(&format!("{}\n", sent.ok.outputs));
    }
    match answered(serde_json::from_slice(&line).map_err(ClientError::Response)?)? {
        Answer::Outputs(outputs) if !json => print(&text(&outputs)),
        _ => Err(CommandError::Unexpected),
    }
}

fn text(outputs: &[OutputInfo]) -> String {
    if outputs.is_empty() {
        return "no outputs\n".to_owned();
    }
    let mut text = String::new();
    for output in outputs {
        let (size, position) = (output.size, output.position);
        let mut line = format!(
            "{}: {}x{} at {},{}, scale {}",
            output.name, size.0, size.1, position.0, position.1, output.scale
        );
        if output.refresh_hz > 0.0 {
            let _ = write!(line, ", {:.2} Hz", output.refresh_hz);
        }
        if !output.description.is_empty() {
            let _ = write!(line, " ({})", output.description);
        }
        if !output.used {
            line.push_str(", not used");
        }
        let _ = writeln!(text, "{}", line.replace('\n', "\\n"));
    }
    printable(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_output() {
        let output = OutputInfo {
            name: "DP-1".into(),
            description: "Dell U2720Q".into(),
            size: (3840, 2160),
            position: (-2560, 0),
            logical_size: (2560, 1440),
            scale: 1.5,
            refresh_hz: 59.997,
            used: true,
        };
        let other = OutputInfo {
            name: "X\u{1b}".into(),
            ..OutputInfo::default()
        };
        assert_eq!(
            text(&[output, other]),
            "DP-1: 3840x2160 at -2560,0, scale 1.5, 60.00 Hz (Dell U2720Q)\n\
             X\\u{1b}: 0x0 at 0,0, scale 0, not used\n"
        );
        assert_eq!(text(&[]), "no outputs\n");
    }
}
