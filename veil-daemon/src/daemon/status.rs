//! What `veil status` tells.

use super::{
    app::App,
    listing::scale,
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
        let scale = scale(output.pixels, logical.unwrap_or_default(), output.integer_scale);
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
        let showing = screen.showing.as_ref().unwrap_or(&spec.source);
        status.path = showing.file().cloned();
        status.source = Some(showing.clone());
        status.playlist = self.playlist_status(spec);
        status.mode = spec.mode;
        status.background = spec.background;
        status.playback = spec.playback;
        (status.kind, status.state) = self.kind_and_state(screen);
        // A picture stands still anyway, unless it is to make room for the next one.
        if status.kind == Kind::Video || status.playlist.is_some() {
            status.holds = screen.holds.iter().collect();
        }
        match screen.feed {
            Feed::Nothing | Feed::Failed | Feed::Ended => {}
            Feed::Released { position } => status.position = position.map(seconds),
            Feed::Still { .. } => {
                status.route = Some(Route::Shm);
                status.route_reason = Some("a still picture is drawn once".into());
                status.frames = Frames {
                    due: 1,
                    shown: screen.stats.presented.shown().min(1),
                    ..Frames::default()
                };
            }
            Feed::Stream(stream) => {
                if let Some(stream) = self.streams.get(&stream) {
                    stream_status(&mut status, stream, screen);
                }
            }
        }
        Some(status)
    }

    /// What an output shows, and what that does.
    pub(super) fn kind_and_state(&self, screen: &Screen) -> (Kind, PlayState) {
        if screen.spec.is_none() {
            return (Kind::None, PlayState::Empty);
        }
        match screen.feed {
            Feed::Nothing => (Kind::None, PlayState::Empty),
            Feed::Still { .. } => match screen.showing {
                Some(Source::Color(_)) => (Kind::Color, PlayState::Still),
                _ => (Kind::Still, PlayState::Still),
            },
            Feed::Failed | Feed::Ended | Feed::Released { .. } => (Kind::Video, PlayState::Released),
            Feed::Stream(_) if screen.holds.any() => (Kind::Video, PlayState::Paused),
            Feed::Stream(_) => (Kind::Video, PlayState::Playing),
        }
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
    status.position = playing.player.position().map(seconds);
    status.duration = playing.length.map(seconds);
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

/// Seconds, to the millisecond.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}
