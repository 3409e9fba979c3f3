//! What `veil status` tells.

use super::{
    app::App,
    screen::{Feed, Screen},
    stream::Stream,
};
use std::time::Duration;
use veil_ipc::Source;
use veil_ipc::protocol::{Decoder, Frames, Kind, OutputStatus, PlayState, PresentInterval, Route, Status};
use veil_sink::RouteKind;
use veil_wayland::OutputId;

impl App {
    pub(super) fn status(&self) -> Status {
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("VEIL_COMMIT").unwrap_or_default().to_owned(),
            pid: std::process::id(),
            outputs: self
                .screens
                .iter()
                .filter_map(|(id, screen)| self.output_status(*id, screen))
                .collect(),
        }
    }

    fn output_status(&self, id: OutputId, screen: &Screen) -> Option<OutputStatus> {
        let desktop = self.display.desktop_ref();
        let output = desktop.output(id)?;
        let logical = desktop.surface_size(id);
        let scale = match logical {
            Some(logical) if logical.w > 0 => {
                // Logical sizes are whole, so the quotient is only near the scale that was set: say it in 120ths, the
                // step of wp_fractional_scale_v1.
                (f64::from(output.pixels.w) / f64::from(logical.w) * 120.0).round() / 120.0
            }
            _ => f64::from(output.integer_scale),
        };
        let mut status = OutputStatus {
            name: output.name.clone(),
            description: output.description.clone(),
            size: (output.pixels.w, output.pixels.h),
            scale,
            error: screen.error.as_deref().map(Into::into),
            ..OutputStatus::default()
        };
        let Some(spec) = &screen.spec else {
            return Some(status);
        };
        status.path = spec.source.file().cloned();
        status.source = Some(spec.source.clone());
        status.mode = spec.mode;
        status.background = spec.background;
        match screen.feed {
            Feed::Nothing => {}
            Feed::Still { .. } => {
                status.kind = match spec.source {
                    Source::Color(_) => Kind::Color,
                    Source::File(_) | Source::Url(_) => Kind::Still,
                };
                status.state = PlayState::Still;
                status.route = Some(Route::Shm);
                status.route_reason = Some("a still picture is drawn once".into());
                status.frames = Frames {
                    due: 1,
                    shown: screen.stats.presented.shown().min(1),
                    ..Frames::default()
                };
            }
            Feed::Failed => {
                status.kind = Kind::Video;
                status.state = PlayState::Released;
            }
            Feed::Stream(stream) => {
                status.kind = Kind::Video;
                status.state = if screen.paused {
                    PlayState::Paused
                } else {
                    PlayState::Playing
                };
                if let Some(stream) = self.streams.get(&stream) {
                    stream_status(&mut status, stream, screen);
                }
            }
        }
        Some(status)
    }
}

fn stream_status(status: &mut OutputStatus, stream: &Stream, screen: &Screen) {
    let stats = &screen.stats;
    let (due, dropped) = stream.due_and_dropped();
    let due = due.saturating_sub(stats.due_before);
    status.frames = Frames {
        due,
        shown: stats.presented.shown(),
        missed: stats.presented.missed(due),
        dropped: dropped.saturating_sub(stats.dropped_before),
    };
    status.loops = stream.loops().saturating_sub(stats.loops_before);
    if let Some((mean, max)) = stats.presented.intervals() {
        let ms = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        status.present_interval_ms = PresentInterval {
            mean: ms(mean),
            max: ms(max),
        };
    }
    let Some(playing) = &stream.playing else { return };
    let decoder = playing.player.decoder();
    status.decoder = Some(Decoder {
        element: decoder.element.clone(),
        hardware: decoder.hardware,
    });
    let description = playing.sink.description();
    status.memory = description.stream.map(|stream| stream.memory.to_owned());
    if let Some(route) = description.route {
        status.route = Some(match route.kind {
            RouteKind::Direct => Route::Direct,
            RouteKind::Convert => Route::Convert,
            RouteKind::Shm => Route::Shm,
        });
        status.route_reason = Some(route.reason.as_ref().into());
    }
}
