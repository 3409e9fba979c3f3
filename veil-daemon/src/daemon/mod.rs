//! The daemon: one loop that owns the connection to the compositor, the surfaces, the control socket and the state.
//!
//! The loop never decodes, never changes a pipeline's state, never loads a picture and never waits: that is the media
//! worker's part, and streaming threads hand over finished pictures. See docs/design.md, Threads.

pub(crate) mod app;
pub(crate) mod assignments;
mod change;
mod changes;
mod commands;
mod config;
mod desktop;
pub(crate) mod dump;
mod events;
mod holds;
mod hooks;
mod listing;
mod phase;
mod playlists;
mod positions;
mod privacy;
mod readiness;
pub(crate) mod reconnect;
mod releasing;
mod restoring;
mod screen;
pub(crate) mod seek;
mod status;
pub(crate) mod stream;
mod streams;

use crate::{args::DaemonArgs, config::ConfigFile, media::worker::Worker};
use anyhow::Context;
use app::App;
use assignments::{Assignments, StateFile};
use calloop::{
    EventLoop, channel,
    ping::make_ping,
    signals::{Signal, Signals},
};
use config::{ConfigWatch, Rules};
use std::time::{Duration, Instant};
use veil_ipc::{
    Location,
    server::{Instance, Server},
};
use veil_wayland::Display;

/// How long the end waits for pipelines to be torn down before it leaves them to the kernel.
const FAREWELL: Duration = Duration::from_secs(2);

/// Runs the daemon until it is told to end, or cannot go on.
pub(crate) fn run(args: DaemonArgs) -> anyhow::Result<()> {
    let mut event_loop: EventLoop<'static, App> =
        EventLoop::try_new().context("cannot make an event loop")?;
    let handle = event_loop.handle();

    let rules = Rules::at_start(ConfigFile::locate(args.config.as_deref()))?;
    let mut instance = Instance::acquire(Location::from_env()?)?;
    // A compositor may let it wait here. Until then signals simply end the program.
    let display = Display::connect()?;

    // Before any thread is made, so that every thread inherits the mask and only the loop sees these signals.
    let signals =
        Signals::new(&[Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]).context("cannot watch signals")?;
    handle
        .insert_source(signals, |event, (), app: &mut App| {
            tracing::info!("ending: got {:?}", event.signal());
            app.stop();
        })
        .map_err(|error| error.error)
        .context("cannot watch signals")?;

    let listener = instance.bind()?;

    let state = match StateFile::locate() {
        Ok(file) => Some(file),
        Err(error) => {
            tracing::warn!("{error}");
            None
        }
    };
    let assignments = match state.as_ref().map(StateFile::load) {
        Some(Ok(assignments)) => assignments,
        Some(Err(error)) => {
            tracing::warn!("{error}");
            Assignments::default()
        }
        None => Assignments::default(),
    };

    let (sender, results) = channel::channel();
    let loading = Worker::new("veil-load", sender.clone());
    let connecting = Worker::new("veil-connect", sender.clone());
    let control = Worker::new("veil-media", sender);
    handle
        .insert_source(results, |event, (), app: &mut App| {
            if let channel::Event::Msg(done) = event {
                app.done(done);
            }
        })
        .map_err(|error| error.error)
        .context("cannot hear of finished work")?;
    let (ping, pinged) = make_ping().context("cannot make a wake-up for pictures")?;
    handle
        .insert_source(pinged, |(), (), app: &mut App| app.pictures_arrived())
        .map_err(|error| error.error)
        .context("cannot hear of pictures")?;
    let _server = Server::insert(&handle, listener, |command, responder, app: &mut App| {
        app.command(command, responder)
    })
    .context("cannot serve the control socket")?;

    if let Some(file) = &rules.file
        && let Err(error) = ConfigWatch::insert(&handle, &file.path)
    {
        tracing::warn!("changes of the configuration are not seen: {error:#}");
    }

    let mut app = App::new(
        handle,
        display,
        args,
        rules,
        (assignments, state),
        (loading, control, connecting),
        ping,
    )?;
    tracing::info!(
        "veil {} listens on {}",
        env!("CARGO_PKG_VERSION"),
        instance.location().socket().display()
    );

    let ended = go_round(&mut event_loop, &mut app);
    // The socket first: whoever sees it gone may start the next daemon.
    drop(instance);
    app.shut_down(FAREWELL);
    ended
}

fn go_round(event_loop: &mut EventLoop<'static, App>, app: &mut App) -> anyhow::Result<()> {
    // What starting up has asked for is sent before the first sleep.
    app.after_dispatch().or_else(|error| app.connection_lost(error))?;
    while !app.is_stopping() {
        let timeout = app.watch_timeout(Instant::now());
        event_loop
            .dispatch(timeout, app)
            .context("the event loop failed")?;
        app.after_dispatch().or_else(|error| app.connection_lost(error))?;
    }
    app.failure()
}
