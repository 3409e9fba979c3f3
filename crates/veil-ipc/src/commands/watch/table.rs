//! The rows of `watch`.

use crate::protocol::{OutputStatus, PlayState, Status, time_text};
use crate::render::printable;
use std::collections::BTreeMap;
use std::time::Instant;

/// What was counted at the last drawing.
#[derive(Debug)]
pub(super) struct Before {
    when: Instant,
    shown: BTreeMap<String, u64>,
}

impl Before {
    pub(super) fn new(status: &Status, when: Instant) -> Self {
        let shown = |output: &OutputStatus| (output.name.clone(), output.frames.shown);
        Self {
            when,
            shown: status.outputs.iter().map(shown).collect(),
        }
    }

    /// Frames a second since then. A new wallpaper counts from 0, so there may be fewer than before.
    fn rate(&self, output: &OutputStatus, now: Instant) -> Option<f64> {
        let new = output.frames.shown.checked_sub(*self.shown.get(&output.name)?)?;
        let seconds = now.saturating_duration_since(self.when).as_secs_f64();
        (seconds > 0.0).then(|| new as f64 / seconds)
    }
}

/// A line for the daemon, one with headings, and one for each output.
pub(super) fn lines(status: &Status, before: Option<&Before>, cpu: Option<f64>, now: Instant) -> Vec<String> {
    let cpu = cpu.map_or(String::from("-"), |cpu| format!("{cpu:.1} %"));
    let headings = [
        "output",
        "state",
        "fps",
        "missed",
        "route",
        "decoder",
        "position",
        "wallpaper",
    ];
    let mut table: Vec<[String; 8]> = vec![headings.map(String::from)];
    for output in &status.outputs {
        let rate = before.and_then(|before| before.rate(output, now));
        let moves = output.state == PlayState::Playing;
        table.push([
            output.name.clone(),
            output.state.to_string(),
            rate.filter(|_| moves)
                .map_or(String::from("-"), |rate| format!("{rate:.1}")),
            output.frames.missed.to_string(),
            output.route.map_or(String::from("-"), |route| route.to_string()),
            output
                .decoder
                .as_ref()
                .map_or(String::from("-"), |decoder| decoder.element.clone()),
            output.position.map_or(String::from("-"), time_text),
            output
                .source
                .as_ref()
                .map_or(String::from("none"), |source| source.to_string()),
        ]);
    }
    let mut widths = [0; 8];
    for row in &table {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut lines = vec![format!(
        "veil {}, pid {}, CPU {cpu}",
        printable(&status.version),
        status.pid
    )];
    for row in &table {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        lines.push(
            printable(&cells.join("  ").replace('\n', "\\n"))
                .trim_end()
                .to_owned(),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Decoder, Frames, Route};
    use std::time::Duration;

    #[test]
    fn rates_are_what_was_shown_since() {
        let output = |shown| OutputStatus {
            name: "DP-1".into(),
            state: PlayState::Playing,
            route: Some(Route::Shm),
            decoder: Some(Decoder {
                element: "avdec_h264".into(),
                hardware: false,
            }),
            frames: Frames {
                shown,
                missed: 2,
                ..Frames::default()
            },
            position: Some(61.5),
            source: Some("/a\n.mp4".into()),
            ..OutputStatus::default()
        };
        let status = |shown| Status {
            version: "0.1.0".into(),
            pid: 7,
            outputs: vec![output(shown), OutputStatus::default()],
            ..Status::default()
        };
        let then = Instant::now();
        let before = Before::new(&status(100), then);
        let now = then + Duration::from_secs(2);
        let expected = [
            "veil 0.1.0, pid 7, CPU 3.2 %",
            "output  state    fps   missed  route  decoder     position  wallpaper",
            "DP-1    playing  30.0  2       shm    avdec_h264  1:01      /a\\n.mp4",
            "        empty    -     0       -      -           -         none",
        ];
        assert_eq!(lines(&status(160), Some(&before), Some(3.21), now), expected);
        // Another wallpaper was set.
        assert!(lines(&status(3), Some(&before), None, now)[2].starts_with("DP-1    playing  -  "));
    }
}
