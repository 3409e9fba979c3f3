//! The daemon's status for people.

use crate::protocol::{Kind, OutputStatus, PlayState, Playback, PlaylistStatus, Status, time_text};
use std::fmt;

/// The status as text: a line for the daemon, and a block for each output.
pub fn render(status: &Status) -> String {
    let commit = if status.commit.is_empty() {
        String::new()
    } else {
        format!(" ({})", status.commit)
    };
    let mut text = format!("veil {}{commit}, pid {}\n", status.version, status.pid);
    if status.outputs.is_empty() {
        text.push_str("\nno outputs\n");
    }
    for output in &status.outputs {
        text.push('\n');
        text.push_str(&Block(output).to_string());
    }
    printable(&text)
}

/// The text with visible signs for its control characters, all but the newlines. Names of files come from anywhere, and
/// an escape sequence in one must not reach the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

struct Block<'a>(&'a OutputStatus);

impl fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let output = self.0;
        write!(
            f,
            "{}: {}x{}, scale {}",
            output.name, output.size.0, output.size.1, output.scale
        )?;
        match output.description.as_str() {
            "" => writeln!(f)?,
            description => writeln!(f, " ({description})")?,
        }
        let mut row = |label: &str, text: String| writeln!(f, "  {label:<11}{}", text.replace('\n', "\\n"));
        match (&output.source, &output.path) {
            (Some(source), _) => row("wallpaper", source.to_string())?,
            // An older daemon.
            (None, Some(path)) => row("wallpaper", path.as_path().display().to_string())?,
            (None, None) => row("wallpaper", "none".into())?,
        }
        if let Some(list) = &output.playlist {
            row("playlist", playlist(list))?;
        }
        if output.state != PlayState::Empty {
            row(
                "",
                format!(
                    "{}, {}, background {}",
                    what(output),
                    output.mode,
                    output.background
                ),
            )?;
        }
        if output.kind == Kind::Video && output.playback != Default::default() {
            row("", how(output.playback))?;
        }
        if let Some(route) = output.route {
            let reason = output.route_reason.as_ref().map(|reason| format!(": {reason}"));
            row("route", format!("{route}{}", reason.unwrap_or_default()))?;
        }
        if let Some(decoder) = &output.decoder {
            let kind = if decoder.hardware { "hardware" } else { "software" };
            let memory = output.memory.as_ref().map(|memory| format!(", {memory} memory"));
            row(
                "decoder",
                format!("{} ({kind}){}", decoder.element, memory.unwrap_or_default()),
            )?;
        }
        if let Some(position) = output.position {
            let of = output.duration.map(|length| format!(" of {}", time_text(length)));
            row(
                "position",
                format!("{}{}", time_text(position), of.unwrap_or_default()),
            )?;
        }
        if output.kind == Kind::Video {
            let frames = output.frames;
            row(
                "frames",
                format!(
                    "{} shown of {} due, {} missed ({} dropped), {} loops",
                    frames.shown, frames.due, frames.missed, frames.dropped, output.loops
                ),
            )?;
            let interval = output.present_interval_ms;
            row(
                "interval",
                format!(
                    "{:.1} ms on average, {:.1} ms at most",
                    interval.mean, interval.max
                ),
            )?;
        }
        match &output.error {
            Some(error) => row("error", error.to_string()),
            None => Ok(()),
        }
    }
}

/// The place in a list, and how it goes on.
fn playlist(list: &PlaylistStatus) -> String {
    let options = list.options;
    let mut text = format!("{}, {} of {}", list.name, list.number, list.length);
    for (said, word) in [(options.shuffle, ", shuffled"), (options.once, ", once")] {
        text.push_str(if said { word } else { "" });
    }
    match options.interval_s {
        0 => text.push_str(", until `next`"),
        seconds => text.push_str(&format!(", {} each", time_text(f64::from(seconds)))),
    }
    if !list.skipped.is_empty() {
        text.push_str("; skipped: ");
        let skipped: Vec<String> = list.skipped.iter().map(ToString::to_string).collect();
        text.push_str(&skipped.join("; "));
    }
    text
}

/// How a video plays, as far as that was said.
fn how(playback: Playback) -> String {
    let parts = [
        playback.speed.map(|speed| format!("speed {speed}")),
        playback
            .max_fps
            .map(|rate| format!("at most {rate} frames a second")),
        playback.loops.map(|loops| format!("loop {}", loops.name())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Kind and state in words; a picture has only one state.
fn what(output: &OutputStatus) -> String {
    match output.state {
        PlayState::Empty | PlayState::Still => output.kind.to_string(),
        state if output.holds.is_empty() => format!("{}, {state}", output.kind),
        state => {
            let holds: Vec<&str> = output.holds.iter().map(|hold| hold.name()).collect();
            format!("{}, {state} ({})", output.kind, holds.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Decoder, Frames, PresentInterval, Route};
    use veil_frame::{FitMode, Rgb};

    fn video() -> OutputStatus {
        OutputStatus {
            name: "DP-1".into(),
            description: "Dell U2720Q".into(),
            size: (3840, 2160),
            scale: 1.5,
            path: Some("/home/me/sea.mp4".into()),
            source: None,
            playlist: None,
            playback: Playback::default(),
            kind: Kind::Video,
            mode: FitMode::Fit,
            background: Rgb {
                r: 0x10,
                g: 0x20,
                b: 0x30,
            },
            state: PlayState::Playing,
            holds: Vec::new(),
            route: Some(Route::Shm),
            route_reason: Some("no GPU worth using".into()),
            decoder: Some(Decoder {
                element: "avdec_h264".into(),
                hardware: false,
            }),
            memory: Some("system".into()),
            frames: Frames {
                due: 100,
                shown: 98,
                missed: 2,
                dropped: 1,
            },
            loops: 3,
            position: Some(61.9),
            duration: Some(5400.0),
            present_interval_ms: PresentInterval {
                mean: 33.333,
                max: 50.0,
            },
            error: None,
        }
    }

    #[test]
    fn a_block_for_each_output() {
        let still = OutputStatus {
            name: "HEADLESS-1".into(),
            size: (640, 480),
            scale: 1.0,
            path: Some("/p.png".into()),
            kind: Kind::Still,
            state: PlayState::Still,
            ..OutputStatus::default()
        };
        let empty = OutputStatus {
            name: "X".into(),
            error: Some("gone".into()),
            ..OutputStatus::default()
        };
        let outputs = vec![video(), still, empty];
        let status = Status {
            version: "0.1.0".into(),
            commit: "abc1234".into(),
            pid: 77,
            outputs,
        };
        let expected = "\
veil 0.1.0 (abc1234), pid 77

DP-1: 3840x2160, scale 1.5 (Dell U2720Q)
  wallpaper  /home/me/sea.mp4
             video, playing, fit, background #102030
  route      shm: no GPU worth using
  decoder    avdec_h264 (software), system memory
  position   1:01 of 1:30:00
  frames     98 shown of 100 due, 2 missed (1 dropped), 3 loops
  interval   33.3 ms on average, 50.0 ms at most

HEADLESS-1: 640x480, scale 1
  wallpaper  /p.png
             still, fill, background #000000

X: 0x0, scale 0
  wallpaper  none
  error      gone
";
        assert_eq!(render(&status), expected);
    }

    #[test]
    fn no_outputs_is_said() {
        assert!(render(&Status::default()).ends_with("\n\nno outputs\n"));
    }

    #[test]
    fn names_cannot_play_tricks_on_the_terminal() {
        let output = OutputStatus {
            path: Some("/a\u{1b}[2J\nb\u{9b}".into()),
            ..video()
        };
        let text = render(&Status {
            outputs: vec![output],
            ..Status::default()
        });
        assert!(text.contains(r"  wallpaper  /a\u{1b}[2J\nb\u{9b}"), "{text}");
    }
}
