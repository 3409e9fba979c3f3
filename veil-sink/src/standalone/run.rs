//! The loop's thread: what wakes it, and the order in which it does things.

use super::{Command, Settings, StandaloneError, scene::Scene, shared::Shared};
use crate::VeilSink;
use calloop::{
    EventLoop,
    channel::{self, Sender},
    ping::make_ping,
};
use gstreamer::glib;
use std::{
    ffi::OsStr,
    sync::{Arc, mpsc::SyncSender},
    time::Instant,
};
use veil_wayland::{Display, DisplayError, WaylandWatch};

type Started = Result<(Arc<Shared>, Sender<Command>), StandaloneError>;

/// What the loop knows.
struct State {
    scene: Scene,
    watch: WaylandWatch<State>,
    readable: bool,
    pictures: bool,
    ending: bool,
}

/// Connects, answers how that went, and goes round until it is told to end or the connection does.
pub(super) fn thread(settings: Settings, sink: glib::WeakRef<VeilSink>, answer: &SyncSender<Started>) {
    let (mut event_loop, mut state, commands) = match set_up(settings, sink) {
        Ok(all) => all,
        Err(error) => {
            // Nobody waits any more if this took too long.
            let _ = answer.send(Err(error));
            return;
        }
    };
    let shared = Arc::clone(state.scene.shared());
    if answer.send(Ok((shared, commands))).is_err() {
        return;
    }
    while !state.ending {
        let timeout = state.watch.timeout(Instant::now());
        let gone = event_loop
            .dispatch(timeout, &mut state)
            .map_err(|error| format!("the loop failed: {error}"))
            .and_then(|()| {
                state
                    .after_dispatch(&event_loop)
                    .map_err(|error| error.to_string())
            });
        if let Err(reason) = gone {
            state.scene.lose(&reason);
            return;
        }
    }
    state.scene.take_down();
}

fn set_up(
    settings: Settings,
    sink: glib::WeakRef<VeilSink>,
) -> Result<(EventLoop<'static, State>, State, Sender<Command>), StandaloneError> {
    let display = Display::connect_to(
        settings.display.as_deref().map(OsStr::new),
        settings.layer.shell(),
    )?;
    let event_loop: EventLoop<'static, State> =
        EventLoop::try_new().map_err(|error| StandaloneError::Loop(error.to_string()))?;
    let handle = event_loop.handle();
    let watch = WaylandWatch::new(&handle, &display, |state: &mut State| state.readable = true)
        .map_err(|error| StandaloneError::Loop(error.to_string()))?;
    let (ping, pinged) = make_ping()?;
    handle
        .insert_source(pinged, |(), (), state: &mut State| state.pictures = true)
        .map_err(|error| StandaloneError::Loop(error.to_string()))?;
    let (commands, told) = channel::channel();
    handle
        .insert_source(told, |event, (), state: &mut State| match event {
            channel::Event::Msg(Command::Quit) | channel::Event::Closed => state.ending = true,
            channel::Event::Msg(command) => state.scene.command(command),
        })
        .map_err(|error| StandaloneError::Loop(error.to_string()))?;
    let mut state = State {
        scene: Scene::new(display, settings, ping, sink)?,
        watch,
        readable: true,
        pictures: false,
        ending: false,
    };
    state
        .scene
        .display
        .flush()
        .map_err(veil_wayland::ConnectError::from)?;
    Ok((event_loop, state, commands))
}

impl State {
    /// Once in each round: first what the compositor says, so that targets are free; then the new picture; then
    /// everything is sent.
    fn after_dispatch(&mut self, event_loop: &EventLoop<'static, Self>) -> Result<(), DisplayError> {
        let now = Instant::now();
        let handle = event_loop.handle();
        let timed_out = self.watch.timeout(now).is_some_and(|left| left.is_zero());
        if self.readable || self.pictures || timed_out {
            self.readable = false;
            self.scene.pump()?;
        }
        let shown = std::mem::take(&mut self.pictures) && self.scene.take_picture();
        let urgent = self.scene.waits_for_compositor();
        if shown {
            self.watch.picture(&handle, now, urgent);
        } else {
            self.watch.refresh(&handle, now, urgent);
        }
        let sent = self.scene.display.flush()?;
        self.watch.wait_for_room(&handle, !sent);
        Ok(())
    }
}
