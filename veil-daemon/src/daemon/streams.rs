//! Streams and those who follow them: new pictures, what the pipelines report, playing and standing still.

use super::{
    app::{App, Done},
    change::Origin,
    privacy::without_name,
    screen::Feed,
    stream::{Playing, Stream, StreamId},
};
use crate::media::copy::private_copy;
use calloop::{Interest, Mode, PostAction, generic::Generic};
use gstreamer::prelude::ObjectExt;
use std::{
    os::fd::AsFd,
    sync::Arc,
    time::{Duration, Instant},
};
use veil_frame::{Demand, DmabufSupport, Presentable};
use veil_ipc::Source;
use veil_playback::{Player, PlayerEvent};
use veil_wayland::{Content, OutputId, Placed};

/// How often in a row a file is opened again because its decoder gives what cannot be shown.
const MOST_REOPENED: u32 = 3;
/// Frames after which it counts as played.
const PLAYED: u64 = 300;

impl App {
    /// Makes a stream that nothing plays yet.
    pub(super) fn new_stream(
        &mut self,
        source: Source,
        demand: Demand,
        dmabuf: Option<DmabufSupport>,
    ) -> StreamId {
        let id = StreamId(self.next_number());
        let stream = Stream::new(source, demand.clone(), self.ping.clone());
        stream.presenter.capabilities.set(demand, dmabuf);
        self.streams.insert(id, stream);
        id
    }

    /// Takes what lies in the mailboxes and shows it. Whether anything lay there.
    pub(super) fn take_pictures(&mut self, now: Instant) -> bool {
        let mut any = false;
        // Collected first, for want of a way to show while looking; the numbers are few and live on the stack.
        let mut index = 0;
        while let Some((&id, stream)) = self.streams.iter_mut().nth(index) {
            index += 1;
            let Some(presentable) = stream.presenter.mailbox.take() else {
                continue;
            };
            any = true;
            stream.last_picture = Some(now);
            stream.newest = Some(presentable.clone());
            self.show_stream(id, &presentable);
        }
        any
    }

    /// Shows a picture of a stream on every output that follows it and does not stand still.
    fn show_stream(&mut self, id: StreamId, presentable: &Presentable) {
        let (mut index, mut held) = (0, false);
        while let Some((&output, screen)) = self.screens.iter_mut().nth(index) {
            index += 1;
            let frozen = screen.holds.any() && screen.private;
            if !screen.follows(id) || frozen {
                continue;
            }
            // An output that came before the first picture has nothing yet.
            let mode = screen.spec.as_ref().map(|spec| spec.mode).unwrap_or_default();
            screen.content = Some(Content {
                presentable: presentable.clone(),
                mode,
            });
            held |= self.show(output) == Placed::Held;
        }
        self.note_phase(id, held);
    }

    /// Moves a stream's pictures in time where they mostly come at a bad moment.
    fn note_phase(&mut self, id: StreamId, held: bool) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        let Some(late) = stream.phase.note(held) else {
            return;
        };
        let followers = self.screens.iter().filter(|(_, screen)| screen.follows(id));
        let fastest = followers
            .filter_map(|(output, _)| self.display.desktop_ref().output(*output))
            .map(|output| output.refresh_mhz)
            .max();
        let (Some(playing), Some(mhz @ 1..)) = (&stream.playing, fastest) else {
            return;
        };
        // Nanoseconds of half a period. No state changes by this: the sink adds it to the time of its next picture.
        let offset = if late { 500_000_000_000 / i64::from(mhz) } else { 0 };
        tracing::debug!(
            "pictures meet the screen's refresh; they come {offset} ns after their time from now on"
        );
        playing.sink.set_property("ts-offset", offset);
    }

    /// A file turned out to be a stream: its pipeline is ready.
    pub(super) fn stream_ready(
        &mut self,
        id: StreamId,
        player: Player,
        sink: veil_sink::VeilSink,
        length: Option<Duration>,
    ) {
        let player = Arc::new(player);
        let bus = self.watch_bus(id, &player);
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.playing = Some(Playing {
                player,
                sink,
                length,
                bus,
            });
        }
    }

    fn watch_bus(&mut self, id: StreamId, player: &Arc<Player>) -> Option<calloop::RegistrationToken> {
        let fd = match player.as_fd().try_clone_to_owned() {
            Ok(fd) => fd,
            Err(error) => {
                tracing::warn!("a pipeline's messages cannot be watched: {error}");
                return None;
            }
        };
        let source = Generic::new(fd, Interest::READ, Mode::Level);
        let inserted = self.handle.insert_source(source, move |_, _, app: &mut Self| {
            app.bus_messages(id);
            Ok(PostAction::Continue)
        });
        match inserted {
            Ok(token) => Some(token),
            Err(error) => {
                tracing::error!("a pipeline's messages cannot be watched: {error}");
                None
            }
        }
    }

    fn bus_messages(&mut self, id: StreamId) {
        let Some(playing) = self.streams.get(&id).and_then(|stream| stream.playing.as_ref()) else {
            return;
        };
        let player = Arc::clone(&playing.player);
        player.dispatch(|event| match event {
            // It stands still by itself, and is in the status as what it is.
            PlayerEvent::Still => {}
            PlayerEvent::Ended => self.stream_ended(id),
            PlayerEvent::Damaged => tracing::warn!("a video is damaged; it plays as well as it goes"),
            PlayerEvent::DecoderFailed { element, reason } => self.decoder_failed(id, element, &reason),
            PlayerEvent::Disagreed { position, reason } => self.disagreed(id, position, &reason),
            PlayerEvent::Failed { reason } => self.stream_failed(id, &reason),
        });
    }

    /// A decoder gave up in mid-stream: another one takes over where it was; the last picture stays until then.
    fn decoder_failed(&mut self, id: StreamId, element: String, reason: &str) {
        tracing::warn!("decoder {element} failed: {reason}; trying the next one");
        self.failed_decoders.push(element);
        let playing = self.streams.get(&id).and_then(|stream| stream.playing.as_ref());
        let position = playing.and_then(|playing| playing.player.position());
        self.open_again(id, position, 0, reason);
    }

    /// The compositor takes other memory than before, and the decoder gives what it gave: the file is opened again, and goes
    /// on where it was. Not without end.
    fn disagreed(&mut self, id: StreamId, position: Option<Duration>, reason: &str) {
        let Some(stream) = self.streams.get(&id) else {
            return;
        };
        let has_played = stream
            .newest
            .as_ref()
            .is_some_and(|newest| newest.sequence > PLAYED);
        let reopened = if has_played { 1 } else { stream.reopened + 1 };
        if reopened > MOST_REOPENED {
            return self.stream_failed(id, reason);
        }
        tracing::info!("opening a video again: {reason}");
        self.open_again(id, position, reopened, reason);
    }

    /// Plays a stream's file anew, from this place. What it showed last stays until then.
    fn open_again(&mut self, id: StreamId, position: Option<Duration>, reopened: u32, reason: &str) {
        let followers: Vec<OutputId> = self
            .screens
            .iter()
            .filter(|(_, s)| s.follows(id))
            .map(|(output, _)| *output)
            .collect();
        self.stream_failed(id, reason);
        for output in followers {
            let Some(spec) = self.screens.get(&output).and_then(|screen| screen.spec.clone()) else {
                continue;
            };
            let name = self.name(output);
            let stream =
                self.begin_change_at((position, 0), spec, vec![output], vec![name], Origin::Restored);
            if let Some(stream) = self.streams.get_mut(&stream) {
                stream.reopened = reopened;
            }
        }
    }

    /// Has a pipeline do something that may take a while.
    fn pipeline_job(&self, id: StreamId, job: impl FnOnce(&Player) + Send + 'static) {
        let Some(playing) = self.streams.get(&id).and_then(|stream| stream.playing.as_ref()) else {
            return;
        };
        let player = Arc::clone(&playing.player);
        self.control.submit(
            move || {
                job(&player);
                Done::Told
            },
            |reason| Done::Broken(None, reason),
        );
    }

    /// A stream was to play once, and did. What it showed last stays.
    fn stream_ended(&mut self, id: StreamId) {
        let mut names = Vec::new();
        for (output, screen) in &mut self.screens {
            if screen.follows(id) {
                screen.feed = Feed::Ended;
                names.push(*output);
            }
        }
        for output in names {
            let name = self.name(output);
            self.assignments.forget_position(&name);
        }
        self.close_stream(id);
        self.tell_summary();
    }

    /// A stream cannot go on. What it showed last stays.
    pub(super) fn stream_failed(&mut self, id: StreamId, reason: &str) {
        let Some(stream) = self.streams.get(&id) else {
            return;
        };
        tracing::warn!(
            "playback ended, the last picture stays: {}",
            without_name(reason, &stream.source)
        );
        for screen in self.screens.values_mut().filter(|screen| screen.follows(id)) {
            screen.feed = Feed::Failed;
            screen.error = Some(reason.to_owned());
        }
        self.close_stream(id);
    }

    /// Ends a stream.
    pub(super) fn close_stream(&mut self, id: StreamId) {
        let Some(stream) = self.streams.remove(&id) else {
            return;
        };
        if let Some(key) = stream.key {
            let mut known = self
                .known
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            if known.get(&key) == Some(&id) {
                known.remove(&key);
            }
        }
        if let Some(timer) = stream.release {
            self.handle.remove(timer);
        }
        let Some(playing) = stream.playing else { return };
        if let Some(bus) = playing.bus {
            self.handle.remove(bus);
        }
        self.control.submit(
            move || {
                drop(playing.sink);
                drop(playing.player);
                crate::malloc::trim();
                Done::Closed
            },
            |reason| Done::Broken(None, reason),
        );
    }

    /// Those who follow a stream, or their sizes, modes or pauses, have changed.
    pub(super) fn followers_changed(&mut self, id: StreamId) {
        let mut uses = Vec::new();
        let mut taken = Vec::new();
        let mut moving = false;
        for (output, screen) in self.screens.iter().filter(|(_, screen)| screen.follows(id)) {
            let Some(known) = self.display.desktop_ref().output(*output) else {
                continue;
            };
            let mode = screen.spec.as_ref().map(|spec| spec.mode).unwrap_or_default();
            uses.push((mode, known.pixels));
            taken.push(self.display.desktop_ref().dmabuf_support(*output));
            moving |= !screen.holds.any();
        }
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        let taken = DmabufSupport::all(taken);
        let changed = stream.presenter.capabilities.set(Demand { uses }, taken);
        let Some(playing) = &stream.playing else { return };
        if changed && !moving && !stream.running {
            // A picture for the new demand; the outputs that have one of their own size already keep it until then.
            let sink = playing.sink.clone();
            self.control.submit(
                move || {
                    sink.redraw();
                    Done::Told
                },
                |reason| Done::Broken(None, reason),
            );
        }
        let before = std::mem::replace(&mut stream.running, moving);
        self.time_release(id, moving);
        if before == moving {
            return;
        }
        for screen in self.screens.values_mut().filter(|screen| screen.follows(id)) {
            screen.stats.presented.interrupted();
        }
        if moving {
            self.pipeline_job(id, Player::play);
        } else {
            self.pipeline_job(id, Player::pause);
        }
        self.settle_pauses(id, moving);
    }

    /// An output that stands still while others go on gets a picture of its own; when all stand still, or it goes on,
    /// it has the shared one again.
    pub(super) fn settle_pauses(&mut self, id: StreamId, moving: bool) {
        let newest = self.streams.get(&id).and_then(|stream| stream.newest.clone());
        let outputs: Vec<OutputId> = self
            .screens
            .iter()
            .filter(|(_, s)| s.follows(id))
            .map(|(id, _)| *id)
            .collect();
        for output in outputs {
            let Some(screen) = self.screens.get_mut(&output) else {
                continue;
            };
            let alone = screen.holds.any() && moving;
            if screen.private == alone {
                continue;
            }
            let Some(content) = screen.content.clone() else {
                continue;
            };
            let presentable = if alone {
                match private_copy(&content.presentable) {
                    Ok(copy) => copy,
                    Err(error) => {
                        tracing::warn!("{}: cannot stand still alone: {error}", self.name(output));
                        continue;
                    }
                }
            } else if screen.holds.any() {
                // Everybody stands still: each may keep what it has.
                continue;
            } else {
                newest.clone().unwrap_or(content.presentable)
            };
            screen.private = alone;
            screen.stats.presented.interrupted();
            self.show_content(
                output,
                Content {
                    presentable,
                    mode: content.mode,
                },
            );
        }
    }

    /// Ends the streams that nobody follows and that belong nowhere.
    pub(super) fn close_unused_streams(&mut self) {
        let unused: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(id, stream)| {
                let followed = self.screens.values().any(|screen| screen.follows(**id));
                let awaited = self.changes.values().any(|change| change.stream == **id);
                let kept = stream.playing.is_some()
                    && (self.assignments.names(&stream.source) || self.playlists.are_at(&stream.source));
                !followed && !awaited && !kept
            })
            .map(|(id, _)| *id)
            .collect();
        for id in unused {
            self.close_stream(id);
        }
    }
}
