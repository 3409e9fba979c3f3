//! Lists of wallpapers that are shown: where each is, and when it goes on.
//!
//! Outputs that were asked for the same list share its place and its clock. The clock starts when an entry is seen, stands while
//! nothing that shows the list moves, and is a timer only while something is to come.

use super::{
    app::App,
    assignments::{List, Spec},
    change::{ChangeId, Origin, Stage},
    privacy::without_name,
    restoring::Restoration,
    screen::Screen,
};
use crate::media::{load::Picked, playlist::Cursor};
use calloop::{
    RegistrationToken,
    timer::{TimeoutAction, Timer},
};
use std::{rc::Rc, time::Duration};
use veil_ipc::{
    Response, Source,
    protocol::{PlaylistStatus, Reason},
    server::Responder,
};
use veil_wayland::OutputId;

/// Skipped entries that the status names.
const MOST_SKIPPED: usize = 20;

/// A list that is shown.
#[derive(Debug)]
pub(crate) struct Playlist {
    list: List,
    cursor: Cursor,
    length: usize,
    skipped: Vec<Reason>,
    /// It is gone through once, and was.
    ended: bool,
    timer: Option<RegistrationToken>,
}

/// The lists that are shown.
#[derive(Debug)]
pub(crate) struct Playlists {
    shown: Vec<Playlist>,
    /// Of a list that begins without anybody having asked for it anew: outputs that are restored one by one agree on it.
    seed: u64,
}

impl Default for Playlists {
    fn default() -> Self {
        Self {
            shown: Vec::new(),
            seed: fastrand::u64(..),
        }
    }
}

impl Playlists {
    fn of(&self, spec: &Spec) -> Option<&Playlist> {
        self.shown.iter().find(|shown| shown.list.is_of(spec))
    }

    fn of_mut(&mut self, spec: &Spec) -> Option<&mut Playlist> {
        self.shown.iter_mut().find(|shown| shown.list.is_of(spec))
    }

    /// Whether this is where one of the lists is.
    pub(super) fn are_at(&self, source: &Source) -> bool {
        self.shown
            .iter()
            .any(|shown| shown.cursor.current() == Some(source))
    }
}

impl App {
    /// Where a change begins in its list, should what it is for be one.
    pub(super) fn cursor(&self, spec: &Spec, origin: &Origin) -> Cursor {
        if matches!(origin, Origin::Client(_)) {
            return Cursor::new(fastrand::u64(..));
        }
        let shown = self.playlists.of(spec).map(|list| &list.cursor);
        shown
            .or_else(|| self.assignments.place(spec))
            .cloned()
            .unwrap_or_else(|| Cursor::new(self.playlists.seed))
    }

    /// What was asked for is a list, and this one of it is shown.
    pub(super) fn picked(&mut self, id: ChangeId, picked: Picked) {
        let Some(change) = self.changes.get_mut(&id) else {
            return;
        };
        change.picked = Some(picked.cursor.clone());
        let spec = change.spec.clone();
        for (entry, reason) in &picked.skipped {
            tracing::debug!("skipped: {entry}");
            tracing::warn!("one of a list is skipped: {}", without_name(reason, entry));
        }
        let skipped = picked.skipped.iter().take(MOST_SKIPPED);
        let skipped: Vec<Reason> = skipped.map(|(_, reason)| Reason::new(reason)).collect();
        if let Some(source) = picked.cursor.current()
            && let Some(stream) = self.streams.get_mut(&change.stream)
        {
            stream.source = source.clone();
        }
        self.stop_clock(&spec);
        let shown = Playlist {
            list: List::of(&spec),
            cursor: picked.cursor,
            length: picked.length,
            skipped,
            ended: false,
            timer: None,
        };
        match self.playlists.of_mut(&spec) {
            Some(known) => *known = shown,
            None => self.playlists.shown.push(shown),
        }
    }

    /// A list that is gone through once is at its end.
    pub(super) fn playlist_ended(&mut self, id: ChangeId) {
        let Some(spec) = self.changes.get(&id).map(|change| change.spec.clone()) else {
            return;
        };
        if let Some(list) = self.playlists.of_mut(&spec) {
            list.ended = true;
        }
    }

    /// Notes where in its list a change is. Whether that was news.
    pub(super) fn note_place(&mut self, id: ChangeId) -> bool {
        let Some((spec, Some(cursor))) = self.changes.get(&id).map(|change| (&change.spec, &change.picked))
        else {
            return false;
        };
        let news = self.assignments.place(spec) != Some(cursor);
        if news {
            self.assignments.note_place(spec, cursor);
        }
        news
    }

    fn stop_clock(&mut self, spec: &Spec) {
        if let Some(timer) = self.playlists.of_mut(spec).and_then(|list| list.timer.take()) {
            self.handle.remove(timer);
        }
    }

    /// Starts the clocks of the lists that are to go on, and forgets those that are shown nowhere.
    pub(super) fn arm_playlists(&mut self) {
        let mut all = std::mem::take(&mut self.playlists.shown);
        all.retain_mut(|shown| {
            let on_its_way = self.changes.values().any(|change| shown.list.is_of(&change.spec));
            let moves = self.moving_in(&shown.list).next().is_some();
            let seconds = shown.list.playlist.interval_s;
            let goes_on = moves && !on_its_way && !shown.ended && seconds > 0;
            match (goes_on, shown.timer.take()) {
                (true, None) => shown.timer = self.clock(&shown.list),
                (true, timer) => shown.timer = timer,
                (false, Some(timer)) => self.handle.remove(timer),
                (false, None) => {}
            }
            on_its_way || self.shown_of(&shown.list).next().is_some()
        });
        self.playlists.shown = all;
    }

    /// The outputs that show something of a list.
    fn shown_of(&self, list: &List) -> impl Iterator<Item = (OutputId, &Screen)> {
        let screens = self.screens.iter().map(|(id, screen)| (*id, screen));
        screens.filter(move |(_, screen)| screen.spec.as_ref().is_some_and(|spec| list.is_of(spec)))
    }

    /// Those of them that do not stand still.
    fn moving_in(&self, list: &List) -> impl Iterator<Item = OutputId> {
        let shown = self.shown_of(list).filter(|(_, screen)| !screen.holds.any());
        shown.map(|(id, _)| id)
    }

    fn clock(&self, list: &List) -> Option<RegistrationToken> {
        let list = list.clone();
        let interval = Duration::from_secs(u64::from(list.playlist.interval_s));
        let next = move |_, (): &mut (), app: &mut Self| {
            app.clock_rang(&list);
            TimeoutAction::Drop
        };
        let timer = self.handle.insert_source(Timer::from_duration(interval), next);
        timer
            .inspect_err(|error| tracing::error!("no timer: {error}"))
            .ok()
    }

    /// The time of an entry is over.
    fn clock_rang(&mut self, list: &List) {
        if let Some(shown) = self.playlists.shown.iter_mut().find(|shown| shown.list == *list) {
            // This very timer: it removes itself.
            shown.timer = None;
        }
        let outputs: Vec<OutputId> = self.moving_in(list).collect();
        self.go(&outputs, 1, || Origin::Restored);
        self.arm_playlists();
    }

    /// `next` and `previous`.
    pub(super) fn step(&mut self, names: &[String], steps: i64, responder: Responder) {
        let outputs = match self.resolve(names) {
            Ok(outputs) => outputs,
            Err(reason) => return responder.respond(Response::error(reason)),
        };
        let (listed, single): (Vec<OutputId>, Vec<OutputId>) =
            outputs.into_iter().partition(|id| self.shows_list(*id));
        if listed.is_empty() {
            return responder.respond(Response::error("no output shows a folder or a list"));
        }
        // Among all outputs it is enough that some show a list.
        if let Some(output) = single.first().filter(|_| !names.is_empty()) {
            let reason = format!("{} shows no folder and no list", self.name(*output));
            return responder.respond(Response::error(reason));
        }
        let restoration = Rc::new(Restoration::new(responder));
        self.go(&listed, steps, || Origin::RestoredFor(Rc::clone(&restoration)));
    }

    fn shows_list(&self, id: OutputId) -> bool {
        let spec = self.screens.get(&id).and_then(|screen| screen.spec.as_ref());
        spec.is_some_and(|spec| self.playlists.of(spec).is_some())
    }

    /// Goes on, or back, in the lists of these outputs.
    fn go(&mut self, outputs: &[OutputId], steps: i64, origin: impl Fn() -> Origin) {
        let mut groups: Vec<(Spec, Vec<OutputId>)> = Vec::new();
        for id in outputs {
            let Some(spec) = self.screens.get(id).and_then(|screen| screen.spec.as_ref()) else {
                continue;
            };
            match groups.iter_mut().find(|(known, _)| known == spec) {
                Some((_, group)) => group.push(*id),
                None => groups.push((spec.clone(), vec![*id])),
            }
        }
        // Before any of them begins: groups that share a list go the same way.
        let groups: Vec<_> = groups
            .into_iter()
            .map(|(spec, group)| {
                // Who is impatient goes on from what is only on its way.
                let pending = self.changes.values().filter(|change| {
                    matches!(change.stage, Stage::Loading)
                        && change.spec == spec
                        && change.outputs.iter().any(|output| group.contains(output))
                });
                let pending = pending.map(|change| change.steps).next_back().unwrap_or_default();
                (spec, group, pending.saturating_add(steps))
            })
            .collect();
        for (spec, group, steps) in groups {
            let names = group.iter().map(|id| self.name(*id)).collect();
            self.begin_change_at((None, steps), spec, group, names, origin());
        }
    }

    /// Where in its list an output that was asked to show this is.
    pub(super) fn playlist_status(&self, spec: &Spec) -> Option<PlaylistStatus> {
        let shown = self.playlists.of(spec)?;
        Some(PlaylistStatus {
            name: shown.list.of.to_string(),
            number: shown.cursor.number(),
            length: shown.length,
            options: shown.list.playlist,
            skipped: shown.skipped.clone(),
        })
    }
}
