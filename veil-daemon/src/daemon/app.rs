//! What the loop knows, and the order in which it does things.

use super::{
    assignments::{Assignments, Spec, StateFile},
    change::{Change, ChangeId},
    config::{ConfigWatch, Rules},
    dump::DumpId,
    events::Subscribers,
    hooks::Hooks,
    playlists::Playlists,
    readiness::Readiness,
    reconnect::Away,
    screen::Screen,
    seek::SeekId,
    stream::{Stream, StreamId},
};
use crate::{
    args::DaemonArgs,
    media::{
        kind::FileKey,
        load::{Drawing, Found, LoadError},
        worker::Worker,
    },
    notify::Notify,
};
use anyhow::Context;
use calloop::{LoopHandle, ping::Ping};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use veil_frame::{Presentable, Size};
use veil_ipc::{Source, server::Responder};
use veil_wayland::{ConnectError, Content, Display, OutputId, Placed, WaylandWatch};

/// What a job of the media worker came to.
pub(crate) enum Done {
    /// A file was looked at.
    Loaded(ChangeId, Result<Found, LoadError>),
    /// A job failed in a way that has no better name.
    Broken(Option<ChangeId>, String),
    /// A still picture was drawn again, for an output that has changed.
    Redrawn(OutputId, (Spec, Source), Drawing, Result<Presentable, LoadError>),
    /// Videos went to a place, in seconds, or did not.
    Sought(SeekId, Result<f64, String>),
    /// A picture was written, or was not.
    Dumped(DumpId, Result<Size, String>),
    /// A pipeline was told what to do; what becomes of it, its messages tell.
    Told,
    /// A pipeline is gone.
    Closed,
    /// A try to connect to a compositor that has gone is over.
    Connected(Box<Result<Display, ConnectError>>),
}

/// The files that play, by what they are and not by their names; shared with the media worker, which looks there
/// before it opens another.
pub(crate) type KnownStreams = Arc<Mutex<HashMap<FileKey, StreamId>>>;

/// What the loop knows.
pub(crate) struct App {
    pub(super) handle: LoopHandle<'static, App>,
    pub(super) display: Display,
    pub(super) args: DaemonArgs,
    pub(super) screens: BTreeMap<OutputId, Screen>,
    pub(super) streams: BTreeMap<StreamId, Stream>,
    pub(super) known: KnownStreams,
    pub(super) changes: BTreeMap<ChangeId, Change>,
    /// The command line's wallpaper, until it was shown or has failed.
    pub(super) initial: Option<Spec>,
    /// Decoders that gave up in mid-stream; they are not tried again.
    pub(super) failed_decoders: Vec<String>,
    pub(super) rules: Rules,
    pub(super) config_watch: ConfigWatch,
    pub(super) assignments: Assignments,
    pub(super) state: Option<StateFile>,
    /// Looks at files and opens pipelines, which may take long.
    pub(super) loading: Worker<Done>,
    /// Tells pipelines what to do, which must not wait for the former.
    pub(super) control: Worker<Done>,
    /// Waits for a compositor to answer.
    pub(super) connecting: Worker<Done>,
    pub(super) ping: Ping,
    pub(super) notify: Notify,
    pub(super) readiness: Readiness,
    pub(super) subscribers: Subscribers,
    pub(super) hooks: Hooks,
    pub(super) playlists: Playlists,
    pub(super) seeks: BTreeMap<SeekId, Responder>,
    pub(super) dumps: BTreeMap<DumpId, Responder>,
    pub(super) watch: WaylandWatch<App>,
    /// The compositor has gone, and is waited for.
    pub(super) away: Option<Away>,
    /// Why the loop cannot go on.
    failure: Option<anyhow::Error>,
    last_number: u64,
    readable: bool,
    pictures: bool,
    /// The compositor has not read what was sent last.
    blocked: bool,
    stopping: bool,
}

impl App {
    pub(super) fn new(
        handle: LoopHandle<'static, App>,
        display: Display,
        args: DaemonArgs,
        rules: Rules,
        (assignments, state): (Assignments, Option<StateFile>),
        (loading, control, connecting): (Worker<Done>, Worker<Done>, Worker<Done>),
        ping: Ping,
    ) -> anyhow::Result<Self> {
        let watch = WaylandWatch::new(&handle, &display, App::set_readable)
            .context("cannot watch the connection to the compositor")?;
        let initial = args.spec();
        let mut app = Self {
            handle,
            display,
            args,
            screens: BTreeMap::new(),
            streams: BTreeMap::new(),
            known: KnownStreams::default(),
            changes: BTreeMap::new(),
            initial,
            failed_decoders: Vec::new(),
            rules,
            config_watch: ConfigWatch::default(),
            assignments,
            state,
            loading,
            control,
            connecting,
            ping,
            notify: Notify::from_env(),
            readiness: Readiness::default(),
            subscribers: Subscribers::default(),
            hooks: Hooks::default(),
            playlists: Playlists::default(),
            seeks: BTreeMap::new(),
            dumps: BTreeMap::new(),
            watch,
            away: None,
            failure: None,
            last_number: 0,
            readable: false,
            pictures: false,
            blocked: false,
            stopping: false,
        };
        // The outputs came with the connection. A client that calls right after the start is to find them.
        app.take_desktop_events();
        Ok(app)
    }

    /// The compositor has said something.
    pub(super) fn set_readable(&mut self) {
        self.readable = true;
    }

    pub(super) fn take_desktop_events(&mut self) {
        while let Some(event) = self.display.desktop().next_event() {
            self.desktop_event(event);
        }
    }

    /// A number that was never given before.
    pub(super) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Ends the loop after this round.
    pub(crate) fn stop(&mut self) {
        self.notify.stopping();
        self.stopping = true;
    }

    /// Ends the loop after this round, because it cannot go on.
    pub(super) fn fail(&mut self, error: anyhow::Error) {
        self.failure = Some(error);
        self.stop();
    }

    /// What the loop ended for, if not because it was told to.
    pub(super) fn failure(&mut self) -> anyhow::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping
    }

    pub(super) fn watch_timeout(&self, now: Instant) -> Option<Duration> {
        if self.away.is_some() {
            return None;
        }
        self.watch.timeout(now)
    }

    /// A streaming thread put a picture into a mailbox.
    pub(super) fn pictures_arrived(&mut self) {
        self.pictures = true;
    }

    /// Once in each round: first what the compositor says, so that targets are free and outputs known; then the new
    /// pictures; then everything is sent.
    pub(super) fn after_dispatch(&mut self) -> anyhow::Result<()> {
        self.tell_events();
        if self.away.is_some() {
            return Ok(());
        }
        let now = Instant::now();
        let timed_out = self.watch.timeout(now).is_some_and(|left| left.is_zero());
        if self.readable || self.pictures || timed_out {
            self.readable = false;
            self.display.pump()?;
            self.take_desktop_events();
        }
        if self.blocked {
            self.blocked = !self.display.flush()?;
        }
        // While the compositor does not read, the newest pictures wait where they are: what is sent would only pile up.
        if !self.blocked && std::mem::take(&mut self.pictures) && self.take_pictures(now) {
            let urgent = self.waits_for_compositor();
            self.watch.picture(&self.handle, now, urgent);
        } else {
            let urgent = self.waits_for_compositor();
            self.watch.refresh(&self.handle, now, urgent);
        }
        self.blocked = !self.display.flush()?;
        self.watch.wait_for_room(&self.handle, self.blocked);
        self.tell_readiness();
        Ok(())
    }

    /// Whether an answer to a client, or a picture's turn, depends on what the compositor says.
    fn waits_for_compositor(&self) -> bool {
        !self.changes.is_empty() || self.display.desktop_ref().holds_pictures()
    }

    /// Shows what an output is to show. The fate of the commit comes back as an event.
    pub(super) fn show(&mut self, id: OutputId) -> Placed {
        let Some(content) = self.screens.get(&id).and_then(|screen| screen.content.clone()) else {
            return Placed::Nowhere;
        };
        let token = self.next_number();
        match self.display.desktop().show(id, &content, token) {
            Ok(placed @ (Placed::Committed | Placed::Held)) => {
                if let Some(screen) = self.screens.get_mut(&id) {
                    screen.stats.presented.committed(token);
                }
                for change in self.changes.values_mut() {
                    change.committed(id, token);
                }
                placed
            }
            Ok(Placed::Nowhere) => Placed::Nowhere,
            Err(error) => {
                tracing::warn!("cannot show the picture: {error}");
                Placed::Nowhere
            }
        }
    }

    /// Shows another picture on an output.
    pub(super) fn show_content(&mut self, id: OutputId, content: Content) {
        if let Some(screen) = self.screens.get_mut(&id) {
            screen.content = Some(content);
            self.show(id);
        }
    }

    /// The result of a job.
    pub(super) fn done(&mut self, done: Done) {
        match done {
            Done::Loaded(change, Ok(loaded)) => self.loaded(change, loaded),
            Done::Loaded(change, Err(error @ LoadError::EndOfList { .. })) => {
                self.playlist_ended(change);
                self.change_refused(change, &error.to_string());
            }
            Done::Loaded(change, Err(error)) => {
                self.change_failed(change, &error.to_string(), error.entry());
            }
            Done::Broken(Some(change), reason) => self.change_failed(change, &reason, None),
            Done::Broken(None, reason) => tracing::error!("a job of the media worker failed: {reason}"),
            Done::Redrawn(output, (spec, source), drawing, result) => {
                self.redrawn(output, (&spec, &source), drawing, result);
            }
            Done::Told => {}
            Done::Sought(seek, result) => self.sought(seek, result),
            Done::Dumped(dump, result) => self.dumped(dump, result),
            Done::Connected(result) => self.connected(*result),
            Done::Closed => self.display.desktop().forget_gone_targets(),
        }
    }

    /// Saves which wallpaper belongs where.
    pub(super) fn save(&self) {
        if let Some(file) = &self.state
            && let Err(error) = file.save(&self.assignments)
        {
            tracing::warn!("{error}; the wallpaper will not come back after a restart");
        }
    }

    /// The end: tears pipelines down and takes the surfaces away.
    pub(super) fn shut_down(&mut self, limit: Duration) {
        self.tell_the_end();
        self.remember_positions();
        for id in self.streams.keys().copied().collect::<Vec<_>>() {
            self.close_stream(id);
        }
        for id in self.screens.keys().copied().collect::<Vec<_>>() {
            self.display.desktop().destroy_surface(id);
        }
        // The compositor may be gone; then there is nothing left to take away.
        let _ = self.display.flush();
        if !self.control.wait_idle(limit) {
            tracing::warn!("a pipeline does not end; leaving it to the kernel");
        }
    }
}
