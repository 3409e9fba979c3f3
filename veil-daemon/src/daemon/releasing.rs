//! Standing still, and what becomes of a pipeline that does for long: it is let go, and opened again at its place when the last
//! reason to stand still is gone. The last picture stays meanwhile.

use super::{app::App, assignments::Spec, change::Origin, screen::Feed, stream::StreamId};
use calloop::timer::{TimeoutAction, Timer};
use std::collections::BTreeSet;
use veil_ipc::protocol::Hold;
use veil_wayland::OutputId;

impl App {
    /// From now on these outputs have, or have not, this reason to stand still.
    pub(super) fn put_hold(&mut self, outputs: &[OutputId], hold: Hold, held: bool) {
        let mut streams = BTreeSet::new();
        let mut waking = Vec::new();
        for id in outputs {
            let Some(screen) = self.screens.get_mut(id) else {
                continue;
            };
            if !screen.holds.put(hold, held) {
                continue;
            }
            match screen.feed {
                Feed::Stream(stream) => drop(streams.insert(stream)),
                Feed::Released { .. } if !screen.holds.any() => waking.push(*id),
                _ => {}
            }
            let verb = if held { "held" } else { "no longer held" };
            tracing::info!("{}: {verb}: {hold}", self.name(*id));
        }
        for stream in streams {
            self.followers_changed(stream);
            let moving = self.streams.get(&stream).is_some_and(|stream| stream.running);
            self.settle_pauses(stream, moving);
        }
        for output in waking {
            self.take_back(output);
        }
        self.arm_playlists();
    }

    /// A stream moves, or stands still: then its pipeline is let go after a while.
    pub(super) fn time_release(&mut self, id: StreamId, moving: bool) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        // A wallpaper whose outputs are all gone stays ready for them.
        let followed = self.screens.values().any(|screen| screen.follows(id));
        if moving || !followed {
            if let Some(timer) = stream.release.take() {
                self.handle.remove(timer);
            }
            return;
        }
        let Some(after) = self.rules.config.holds.release_after else {
            return;
        };
        if stream.playing.is_none() || stream.release.is_some() {
            return;
        }
        let release = move |_, (): &mut (), app: &mut Self| {
            if let Some(stream) = app.streams.get_mut(&id) {
                // This very timer: it removes itself.
                stream.release = None;
            }
            app.release(id);
            TimeoutAction::Drop
        };
        match self.handle.insert_source(Timer::from_duration(after), release) {
            Ok(timer) => stream.release = Some(timer),
            Err(error) => tracing::error!("no timer: {error}"),
        }
    }

    /// The time until a pipeline is let go has become another: what stands still begins to wait anew.
    pub(super) fn release_time_changed(&mut self) {
        let standing: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.playing.is_some() && !stream.running)
            .map(|(id, _)| *id)
            .collect();
        for id in standing {
            if let Some(timer) = self.streams.get_mut(&id).and_then(|stream| stream.release.take()) {
                self.handle.remove(timer);
            }
            self.time_release(id, false);
        }
    }

    /// Lets go of a pipeline, and remembers where it was.
    fn release(&mut self, id: StreamId) {
        self.remember_positions();
        let Some(playing) = self.streams.get(&id).and_then(|stream| stream.playing.as_ref()) else {
            return;
        };
        let position = playing.player.position();
        tracing::info!("a video has stood still for long; its pipeline is let go");
        for screen in self.screens.values_mut().filter(|screen| screen.follows(id)) {
            screen.feed = Feed::Released { position };
        }
        self.close_stream(id);
    }

    /// What was to take its place cannot be shown: a video that was to move meanwhile is opened now.
    pub(super) fn take_back_after(&mut self, output: OutputId, failed: &Spec) {
        let waits = self
            .screens
            .get(&output)
            .is_some_and(|screen| !screen.holds.any() && screen.spec.as_ref() != Some(failed));
        if waits {
            self.take_back(output);
        }
    }

    /// Opens a video again that was let go, at its place.
    fn take_back(&mut self, output: OutputId) {
        let Some(screen) = self.screens.get(&output) else {
            return;
        };
        let (Feed::Released { position }, Some(spec)) = (screen.feed, screen.spec.clone()) else {
            return;
        };
        // Another wallpaper is on its way there, or this one.
        if self
            .changes
            .values()
            .any(|change| change.outputs.contains(&output))
        {
            return;
        }
        let name = self.name(output);
        self.begin_change_at((position, 0), spec, vec![output], vec![name], Origin::Restored);
    }
}
