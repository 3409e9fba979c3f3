//! How a wallpaper gets to the screen: begun, loaded, shown, presented, answered; or failed, and nothing has changed.

use super::{
    app::{App, Done},
    assignments::Spec,
    change::{Change, ChangeId, Origin, PRESENT_WITHIN, Stage},
    privacy::without_name,
    screen::{Feed, Screen, ScreenStats},
    stream::StreamId,
};
use crate::media::{
    kind::FileKey,
    load::{Drawing, Found, Load, Loaded, Way},
};
use calloop::timer::{TimeoutAction, Timer};
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};
use veil_frame::{Demand, DmabufSupport, FitMode, Presentable, Size};
use veil_ipc::{Answer, Response, Source, protocol::Hold, server::Responder};
use veil_playback::Player;
use veil_sink::VeilSink;
use veil_wayland::{Content, OutputId};

impl App {
    /// Begins to show a wallpaper on these outputs, `named` so by whoever wants it (none: all).
    pub(super) fn begin_change(
        &mut self,
        spec: Spec,
        outputs: Vec<OutputId>,
        named: Vec<String>,
        origin: Origin,
    ) -> StreamId {
        self.begin_change_at((None, 0), spec, outputs, named, origin)
    }

    /// The same, with a place where a video begins, and steps in a list. Gives the stream that it becomes, if it is one and new.
    pub(super) fn begin_change_at(
        &mut self,
        (position, steps): (Option<Duration>, i64),
        spec: Spec,
        outputs: Vec<OutputId>,
        named: Vec<String>,
        origin: Origin,
    ) -> StreamId {
        // What comes of itself is for one output at a time, whatever it was named for.
        let everywhere = named.is_empty() && matches!(origin, Origin::Client(_));
        self.supersede(&outputs, everywhere);
        for output in &outputs {
            self.revive_surface(*output);
        }
        let id = ChangeId(self.next_number());
        tracing::debug!("change {}: {}", id.0, spec.source);
        let desktop = self.display.desktop_ref();
        let taken = DmabufSupport::all(outputs.iter().map(|output| desktop.dmabuf_support(*output)));
        let stream = self.new_stream(spec.source.clone(), self.demand(&outputs, spec.mode), taken);
        let cursor = self.cursor(&spec, &origin);
        let stage = Stage::Loading;
        self.changes.insert(
            id,
            Change {
                spec,
                outputs,
                named,
                except: Vec::new(),
                origin,
                cursor,
                steps,
                picked: None,
                wanted: Arc::new(()),
                position,
                stream,
                stage,
                timer: None,
            },
        );
        self.load(id);
        stream
    }

    /// Outputs that get a wallpaper are not waited for by those before it; one that waits for nothing else is over.
    pub(super) fn supersede(&mut self, outputs: &[OutputId], everywhere: bool) {
        let older: Vec<ChangeId> = self.changes.keys().copied().collect();
        for id in older {
            let Some(change) = self.changes.get_mut(&id) else {
                continue;
            };
            // One whose outputs have gone is not over for that: it is stored when it is known to be good.
            let somewhere = !change.outputs.is_empty();
            let mut over = everywhere;
            for output in outputs {
                over |= change.forget(*output);
            }
            if over || somewhere && change.outputs.is_empty() {
                self.end_change(id, |_| {
                    Response::error("another wallpaper was set before this one was shown")
                });
            }
        }
    }

    fn demand(&self, outputs: &[OutputId], mode: FitMode) -> Demand {
        let pixels = |id: &OutputId| self.display.desktop_ref().output(*id).map(|output| output.pixels);
        Demand {
            uses: outputs
                .iter()
                .filter_map(pixels)
                .map(|pixels| (mode, pixels))
                .collect(),
        }
    }

    /// Has the file of a change looked at.
    fn load(&mut self, id: ChangeId) {
        let Some(change) = self.changes.get(&id) else {
            return;
        };
        let Some(stream) = self.streams.get(&change.stream) else {
            return;
        };
        let load = Load {
            source: change.spec.source.clone(),
            way: Way {
                options: change.spec.playlist,
                cursor: change.cursor.clone(),
                steps: change.steps,
            },
            wanted: Arc::downgrade(&change.wanted),
            position: change.position,
            apart: change.position.is_some() && matches!(change.origin, Origin::Client(_)),
            playback: change.spec.playback,
            drawings: change
                .outputs
                .iter()
                .filter_map(|output| self.drawing(*output, &change.spec))
                .collect(),
            known: Arc::clone(&self.known),
            stream: change.stream,
            excluded: self.failed_decoders.clone(),
            presenter: Arc::clone(&stream.presenter),
            route: self.args.route,
            device: self.args.device.clone(),
        };
        self.loading.submit(
            move || Done::Loaded(id, load.run()),
            move |reason| Done::Broken(Some(id), reason),
        );
    }

    fn drawing(&self, output: OutputId, spec: &Spec) -> Option<Drawing> {
        let size = self.display.desktop_ref().output(output)?.pixels;
        (!size.is_empty()).then_some(Drawing {
            size,
            mode: spec.mode,
            background: spec.background,
        })
    }

    /// A file was looked at, and can be shown.
    pub(super) fn loaded(&mut self, id: ChangeId, found: Found) {
        let Found { loaded, picked } = found;
        if let Some(picked) = picked {
            self.picked(id, picked);
        }
        let Some(change) = self.changes.get(&id) else {
            // Another wallpaper came in between. A pipeline is torn down where it may take its time.
            if let Loaded::Stream {
                key, player, sink, ..
            } = loaded
            {
                self.discard(&key, *player, sink);
            }
            return;
        };
        match loaded {
            Loaded::Still(drawn) => self.show_still(id, &drawn),
            Loaded::Known(stream) if self.streams.contains_key(&stream) => {
                let own = change.stream;
                if let Some(change) = self.changes.get_mut(&id) {
                    change.stream = stream;
                }
                if own != stream {
                    self.close_stream(own);
                }
                self.follow(id, stream);
            }
            // It ended just now, and is not known any more.
            Loaded::Known(_) => self.load(id),
            Loaded::Stream {
                key,
                player,
                sink,
                length,
            } => {
                let stream = change.stream;
                if let Some(stream) = self.streams.get_mut(&stream) {
                    stream.key = Some(key);
                }
                self.stream_ready(stream, *player, sink, length);
                self.take_pictures(std::time::Instant::now());
                self.follow(id, stream);
            }
        }
    }

    /// Tears down a pipeline that nobody waits for any more.
    fn discard(&mut self, key: &FileKey, player: Player, sink: VeilSink) {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
        self.control.submit(
            move || {
                drop((player, sink));
                Done::Closed
            },
            |reason| Done::Broken(None, reason),
        );
    }

    /// Shows a still picture that was drawn for each of the outputs.
    fn show_still(&mut self, id: ChangeId, drawn: &HashMap<Drawing, Presentable>) {
        let Some(change) = self.changes.get(&id) else {
            return;
        };
        let (spec, outputs, unused) = (change.spec.clone(), change.outputs.clone(), change.stream);
        let showing = change.showing().clone();
        let wanted = change.is_wanted();
        self.present(id, &outputs);
        for output in outputs {
            let drawing = self.drawing(output, &spec);
            let found = drawing.and_then(|drawing| drawn.get(&drawing));
            // The output's size has changed meanwhile: any drawing will do until there is one for it.
            let Some((drawing, presentable)) = drawing
                .zip(found)
                .map(|(drawing, found)| (drawing, found.clone()))
                .or_else(|| {
                    drawn
                        .iter()
                        .next()
                        .map(|(drawing, found)| (*drawing, found.clone()))
                })
            else {
                // It has no pixels yet: there is one as soon as it has.
                let drawn_for = Size::default();
                self.take_over(output, (&spec, &showing, wanted), Feed::Still { drawn_for });
                self.redraw_if_resized(output);
                continue;
            };
            // Each output its own use of the same memory; the plan is the whole of it.
            self.take_over(
                output,
                (&spec, &showing, wanted),
                Feed::Still {
                    drawn_for: drawing.size,
                },
            );
            self.show_content(
                output,
                Content {
                    presentable,
                    mode: FitMode::Stretch,
                },
            );
            self.redraw_if_resized(output);
        }
        self.close_stream(unused);
        self.conclude_if_nothing_to_wait_for(id);
    }

    /// Lets the outputs of a change follow a stream.
    fn follow(&mut self, id: ChangeId, stream: StreamId) {
        let Some(change) = self.changes.get(&id) else {
            return;
        };
        let (spec, outputs) = (change.spec.clone(), change.outputs.clone());
        let showing = change.showing().clone();
        let wanted = change.is_wanted();
        self.present(id, &outputs);
        let newest = self.streams.get(&stream).and_then(|stream| stream.newest.clone());
        for &output in &outputs {
            self.take_over(output, (&spec, &showing, wanted), Feed::Stream(stream));
            if let Some(presentable) = newest.clone() {
                self.show_content(
                    output,
                    Content {
                        presentable,
                        mode: spec.mode,
                    },
                );
            }
        }
        self.followers_changed(stream);
        self.conclude_if_nothing_to_wait_for(id);
    }

    /// From now on the change waits for its outputs to present.
    fn present(&mut self, id: ChangeId, outputs: &[OutputId]) {
        let timer = self
            .handle
            .insert_source(
                Timer::from_duration(PRESENT_WITHIN),
                move |_, (), app: &mut Self| {
                    app.not_presented(id);
                    TimeoutAction::Drop
                },
            )
            .inspect_err(|error| tracing::error!("no timer: {error}"))
            .ok();
        if let Some(change) = self.changes.get_mut(&id) {
            change.stage = Stage::Presenting(outputs.iter().map(|output| (*output, None)).collect());
            change.timer = timer;
        }
    }

    fn conclude_if_nothing_to_wait_for(&mut self, id: ChangeId) {
        if self
            .changes
            .get(&id)
            .is_some_and(|change| change.outputs.is_empty())
        {
            self.store_change(id, "there is no output");
        }
    }

    /// An output has another wallpaper from now on.
    fn take_over(&mut self, output: OutputId, (spec, showing, wanted): (&Spec, &Source, bool), feed: Feed) {
        let stats = match feed {
            Feed::Stream(id) => self.stats_from_now(id),
            _ => ScreenStats::default(),
        };
        let Some(screen) = self.screens.get_mut(&output) else {
            return;
        };
        let before = std::mem::replace(&mut screen.feed, feed);
        // What comes back by itself does not undo a pause; what is new, or asked for, does.
        if wanted || screen.spec.as_ref() != Some(spec) {
            screen.holds.put(Hold::User, false);
        }
        screen.spec = Some(spec.clone());
        screen.showing = Some(showing.clone());
        screen.stats = stats;
        screen.error = None;
        screen.private = false;
        if let Err(error) = self.display.desktop().set_background(output, spec.background) {
            tracing::warn!("cannot draw the background: {error}");
        }
        if let Feed::Stream(left) = before
            && before != feed
        {
            if self.screens.values().any(|screen| screen.follows(left)) {
                self.followers_changed(left);
            } else {
                self.close_stream(left);
            }
        }
    }

    fn stats_from_now(&self, id: StreamId) -> ScreenStats {
        let Some(stream) = self.streams.get(&id) else {
            return ScreenStats::default();
        };
        let (due, dropped) = stream.due_and_dropped();
        // The picture that it begins with is due here too.
        let due_before = due.saturating_sub(u64::from(stream.newest.is_some()));
        ScreenStats::since(due_before, dropped, stream.loops())
    }

    /// All outputs have presented it.
    pub(super) fn finish_change(&mut self, id: ChangeId) {
        let kept = self.keep(id);
        self.end_change(id, |_| {
            Response::Ok(Answer::Set {
                presented: true,
                reason: None,
            })
        });
        if kept {
            self.catch_up();
        }
    }

    /// No output will present it, for this reason; it is kept, and shown when one can.
    pub(super) fn store_change(&mut self, id: ChangeId, why: &str) {
        let kept = self.keep(id);
        self.end_change(id, |_| {
            Response::Ok(Answer::Set {
                presented: false,
                reason: Some(why.into()),
            })
        });
        if kept {
            self.catch_up();
        }
    }

    /// Outputs that came while a wallpaper was on its way to others get it, now that it is known to be good.
    fn catch_up(&mut self) {
        if self.initial.is_some() {
            return;
        }
        let is_behind = |(id, screen): &(&OutputId, &Screen)| {
            let wanted = self.wanted_on(**id);
            wanted.is_some() && screen.spec != wanted
        };
        let behind: Vec<OutputId> = self.screens.iter().filter(is_behind).map(|(id, _)| *id).collect();
        for output in behind {
            self.restore(output);
        }
    }

    fn not_presented(&mut self, id: ChangeId) {
        if let Some(change) = self.changes.get_mut(&id) {
            // This very timer: it removes itself.
            change.timer = None;
        }
        let Some(change) = self.changes.get(&id) else {
            return;
        };
        let Stage::Presenting(waiting) = &change.stage else {
            return;
        };
        let everywhere = waiting.len() == change.outputs.len();
        let names: Vec<String> = waiting.keys().map(|output| self.name(*output)).collect();
        let seconds = PRESENT_WITHIN.as_secs();
        let why = format!(
            "{} presented nothing for {seconds} s: off, locked or covered?",
            names.join(", ")
        );
        if everywhere {
            self.store_change(id, &why);
        } else {
            // Somebody sees it.
            tracing::info!("{why}");
            self.finish_change(id);
        }
    }

    /// Notes for the next start which wallpaper belongs where, now that it is known to be good. Whether it was new.
    fn keep(&mut self, id: ChangeId) -> bool {
        let Some(change) = self.changes.get(&id) else {
            return false;
        };
        match change.origin {
            Origin::Restored | Origin::RestoredFor(_) => {
                if self.note_place(id) {
                    self.save();
                }
                return false;
            }
            Origin::CommandLine => self.initial = None,
            Origin::Client(_) => {}
        }
        let newer: Vec<_> = change
            .except
            .iter()
            .map(|name| (name.clone(), self.assignments.on(name).cloned()))
            .collect();
        let (named, spec) = (change.named.clone(), change.spec.clone());
        self.assignments.set(&named, &spec);
        self.rules.chosen.add(&named);
        for (name, spec) in newer {
            match spec {
                Some(spec) => self.assignments.set(&[name], &spec),
                None => self.assignments.clear(&[name]),
            }
        }
        for (_, older) in self.changes.range_mut(..id) {
            older.except.extend(named.iter().cloned());
        }
        self.note_place(id);
        self.save();
        true
    }

    /// The file, or this entry of a list, cannot be shown. What was on the screen stays.
    pub(super) fn change_failed(&mut self, id: ChangeId, reason: &str, entry: Option<&Source>) {
        let Some(change) = self.changes.get(&id) else {
            return;
        };
        let (outputs, failed) = (change.outputs.clone(), change.spec.clone());
        let from_command_line = matches!(change.origin, Origin::CommandLine);
        tracing::debug!("what cannot be shown is {}", change.spec.source);
        let logged = entry.map_or(reason.into(), |entry| without_name(reason, entry));
        tracing::warn!("cannot show it: {}", without_name(&logged, &change.spec.source));
        self.close_stream(change.stream);
        for output in &outputs {
            if let Some(screen) = self.screens.get_mut(output) {
                screen.error = Some(reason.to_owned());
            }
        }
        self.end_change(id, |_| Response::error(reason));
        for output in &outputs {
            self.take_back_after(*output, &failed);
        }
        if from_command_line && self.initial.take().is_some() {
            // What was there before is better than nothing.
            for output in outputs {
                self.restore(output);
            }
        }
    }

    /// There is nothing to show, which is nobody's mistake.
    pub(super) fn change_refused(&mut self, id: ChangeId, reason: &str) {
        if let Some(stream) = self.changes.get(&id).map(|change| change.stream) {
            self.close_stream(stream);
        }
        self.end_change(id, |_| Response::error(reason));
    }

    /// Takes a change off the list and answers whoever waits for it.
    fn end_change(&mut self, id: ChangeId, answer: impl FnOnce(&Change) -> Response) {
        let Some(change) = self.changes.remove(&id) else {
            return;
        };
        if let Some(timer) = change.timer {
            self.handle.remove(timer);
        }
        let answer = answer(&change);
        match change.origin {
            Origin::Client(responder) => Responder::respond(responder, answer),
            Origin::RestoredFor(restoration) => restoration.ended(answer),
            Origin::CommandLine | Origin::Restored => {}
        }
        self.close_unused_streams();
        self.arm_playlists();
        self.tell_summary();
    }
}
