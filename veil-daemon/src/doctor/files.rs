//! What veil would do with a file: the very job of the daemon's `set`, without a surface to show it on.

use super::report::Section;
use crate::{
    daemon::{app::KnownStreams, stream::StreamId},
    media::{
        load::{Drawing, Load, Loaded, Way},
        playlist::Cursor,
    },
};
use calloop::ping::make_ping;
use serde_json::json;
use std::{path::PathBuf, sync::Arc};
use veil_frame::{Demand, FitMode, Rgb, Size};
use veil_ipc::{Source, protocol::PlaylistOptions};
use veil_sink::{LoopPresenter, RouteChoice};
use veil_wayland::Survey;

/// The screen that is taken where there is none.
const SCREEN: Size = Size { w: 1920, h: 1080 };

/// Looks at it.
pub(super) fn look(section: &mut Section, path: PathBuf, survey: &Survey) {
    let shown = path.display().to_string();
    let mut screens: Vec<Size> = survey.outputs.iter().map(|output| output.pixels).collect();
    screens.retain(|size| !size.is_empty());
    if screens.is_empty() {
        screens.push(SCREEN);
    }
    let presenter = match make_ping() {
        // Nobody takes the pictures: the first one is enough.
        Ok((ping, _)) => LoopPresenter::new(Demand::default(), ping),
        Err(error) => return section.broken(format!("{shown}: not tried: {error}")),
    };
    let demand = Demand {
        uses: screens.iter().map(|size| (FitMode::default(), *size)).collect(),
    };
    presenter.capabilities.set(demand, survey.dmabuf.clone());
    let wanted = Arc::new(());
    let load = Load {
        source: Source::from(path),
        way: Way {
            options: PlaylistOptions::default(),
            cursor: Cursor::new(0),
            steps: 0,
        },
        wanted: Arc::downgrade(&wanted),
        position: None,
        apart: false,
        playback: veil_ipc::protocol::Playback::default(),
        drawings: screens
            .iter()
            .map(|size| Drawing {
                size: *size,
                mode: FitMode::default(),
                background: Rgb::BLACK,
            })
            .collect(),
        known: KnownStreams::default(),
        stream: StreamId(0),
        excluded: Vec::new(),
        presenter,
        route: RouteChoice::default(),
        device: None,
    };
    match load.run().map(|found| found.loaded) {
        Ok(Loaded::Still(_)) => {
            section.ok(format!(
                "{shown}: a still picture, drawn once by the CPU (route shm)"
            ));
            section.facts(json!({ "path": shown, "kind": "still", "route": "shm" }));
        }
        Ok(Loaded::Stream { player, sink, .. }) => {
            let (decoder, description) = (player.decoder(), sink.description());
            let mut line = format!("{shown}: a video, decoded by {decoder}");
            let mut facts = json!({
                "path": shown, "kind": "video",
                "decoder": { "element": decoder.element, "hardware": decoder.hardware },
            });
            if let Some(stream) = &description.stream {
                let (frames, seconds) = stream.framerate;
                let rate = match (frames, seconds) {
                    (0, _) | (_, 0) => "at no fixed rate".to_owned(),
                    _ => format!("at {:.2} frames/s", f64::from(frames) / f64::from(seconds)),
                };
                line += &format!(
                    " as {} of {} {rate} in {} memory",
                    stream.name, stream.size, stream.memory
                );
                facts["format"] = stream.name.into();
                facts["size"] = json!([stream.size.w, stream.size.h]);
                facts["memory"] = stream.memory.into();
            }
            if let Some(route) = &description.route {
                line += &format!("; route {}: {}", route.kind.name(), route.reason);
                facts["route"] = route.kind.name().into();
                facts["route_reason"] = route.reason.as_ref().into();
            }
            section.ok(line);
            section.facts(facts);
        }
        // There is no other.
        Ok(Loaded::Known(_)) => {}
        Err(error) => {
            section.broken(error.to_string());
            section.facts(json!({ "path": shown, "error": error.to_string() }));
        }
    }
}
