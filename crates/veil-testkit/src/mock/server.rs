//! The thread that speaks for the compositor.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wayland_server::backend::{ClientData, ClientId, DisconnectReason};
use wayland_server::{Display, ListeningSocket};

use super::state::State;

/// What the test's thread and the compositor's share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    wake: UnixStream,
    stop: AtomicBool,
}

impl Shared {
    pub(super) fn new(state: State, wake: UnixStream) -> Self {
        Self {
            state: Mutex::new(state),
            wake,
            stop: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the state, and sends what it has to say to the clients.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = work(&mut state);
        // A client that does not read is its own fault; it is found out by what it does not do.
        let _ = state.display.flush_clients();
        drop(state);
        self.wake();
        result
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    pub(super) fn end(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        // If it is full there is a wake-up in it already.
        let _ = std::io::Write::write(&mut &self.wake, &[1]);
    }
}

/// Serves until it is told to end, or the display fails.
pub(super) fn serve(
    shared: &Arc<Shared>,
    mut display: Display<State>,
    listener: &ListeningSocket,
    woken: &UnixStream,
) -> anyhow::Result<()> {
    let mut next = None;
    let mut reading = true;
    while !shared.stop.load(Ordering::Acquire) {
        wait(&display, listener, woken, next, reading)?;
        let mut drain = [0; 64];
        while matches!(std::io::Read::read(&mut &*woken, &mut drain), Ok(1..)) {}
        let mut state = shared.lock();
        while let Some(stream) = listener.accept()? {
            let client = state
                .display
                .clone()
                .insert_client(stream, Arc::new(Connection))?;
            state.clients.push(client);
        }
        for client in std::mem::take(&mut state.ended) {
            // Fails, since it was ended; but connections are closed only by way of this.
            let _ = display.backend().dispatch_single_client(&mut state, client);
        }
        reading = state.reading;
        if reading {
            display.dispatch_clients(&mut state)?;
        }
        next = state.tick();
        let _ = display.flush_clients();
    }
    Ok(())
}

fn wait(
    display: &Display<State>,
    listener: &ListeningSocket,
    woken: &UnixStream,
    until: Option<Instant>,
    reading: bool,
) -> anyhow::Result<()> {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()) + Duration::from_micros(10));
    let timeout = left.map(|left| Timespec {
        tv_sec: left.as_secs() as i64,
        tv_nsec: left.subsec_nanos().into(),
    });
    let mut all = [
        PollFd::new(woken, PollFlags::IN),
        PollFd::new(listener, PollFlags::IN),
        PollFd::from_borrowed_fd(display.as_fd(), PollFlags::IN),
    ];
    let watched = if reading { 3 } else { 2 };
    match poll(&mut all[..watched], timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[derive(Debug)]
struct Connection;

impl ClientData for Connection {
    fn initialized(&self, _: ClientId) {}
    fn disconnected(&self, _: ClientId, _: DisconnectReason) {}
}
