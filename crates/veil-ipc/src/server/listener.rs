//! The socket on which clients come, and who of them is there.

use super::MAX_CLIENTS;
use super::connection::Connection;
use super::responder::Responder;
use super::source::{ConnectionSource, Event};
use crate::protocol::{Command, Response};
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, Mode, PostAction, RegistrationToken};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketFlags, accept_with, send, sockopt::socket_peercred};
use rustix::process::geteuid;
use std::cell::{Cell, OnceCell, RefCell};
use std::convert::Infallible;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::rc::{Rc, Weak};

/// How many clients are accepted before other sources have their turn.
const ACCEPTS_A_TURN: usize = 32;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The socket can't be made non-blocking.
    #[error("the control socket can't be used: {0}")]
    Socket(#[source] io::Error),
    /// The event loop does not take the socket.
    #[error("the event loop does not take the control socket: {0}")]
    Loop(#[source] calloop::Error),
}

/// What the daemon does with a request.
type OnRequest<D> = dyn FnMut(Command, Responder, &mut D);

/// A control server on an event loop whose data is `D`. Dropping it closes the socket and all connections; what was
/// answered before still reaches the clients.
#[must_use = "the server ends when this is dropped"]
pub struct Server<D: 'static> {
    shared: Rc<Shared<D>>,
}

/// What the listener's and the connections' sources share.
struct Shared<D: 'static> {
    /// The loop owns sources that own this: a circle, which dropping the server breaks.
    handle: LoopHandle<'static, D>,
    listener: OnceCell<RegistrationToken>,
    clients: RefCell<Vec<Client>>,
    on_request: RefCell<Box<OnRequest<D>>>,
    /// Counts what clients do, to know who has been idle longest without asking for the time.
    count: Cell<u64>,
    /// A client waits to be accepted, and there was no descriptor for it.
    starved: Cell<bool>,
}

/// A client in the list: weak, because its source ends by itself.
struct Client {
    token: RegistrationToken,
    connection: Weak<Connection>,
}

impl<D: 'static> Server<D> {
    /// Serves the clients of `listener`. Each request goes to `on_request`, with the right to answer it.
    pub fn insert(
        handle: &LoopHandle<'static, D>,
        listener: UnixListener,
        on_request: impl FnMut(Command, Responder, &mut D) + 'static,
    ) -> Result<Self, ServerError> {
        listener.set_nonblocking(true).map_err(ServerError::Socket)?;
        let shared = Rc::new(Shared {
            handle: handle.clone(),
            listener: OnceCell::new(),
            clients: RefCell::default(),
            on_request: RefCell::new(Box::new(on_request)),
            count: Cell::new(0),
            starved: Cell::new(false),
        });
        // Edge-triggered: when a client can't be accepted for want of descriptors it stays in the queue, and a level
        // would wake the loop for it without end.
        let source = Generic::new_with_error::<Infallible>(listener, Interest::READ, Mode::Edge);
        let accepting = Rc::clone(&shared);
        let token = handle
            .insert_source(source, move |_, listener, _| {
                Ok(accepting.accept(listener.as_ref()))
            })
            .map_err(|refused| ServerError::Loop(refused.error))?;
        let _ = shared.listener.set(token);
        Ok(Self { shared })
    }
}

impl<D: 'static> Drop for Server<D> {
    fn drop(&mut self) {
        let handle = &self.shared.handle;
        if let Some(token) = self.shared.listener.get() {
            handle.remove(*token);
        }
        for client in self.shared.clients.take() {
            if let Some(connection) = client.connection.upgrade() {
                connection.let_go();
                handle.remove(client.token);
            }
        }
    }
}

impl<D: 'static> std::fmt::Debug for Server<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("clients", &self.shared.clients.borrow().len())
            .finish_non_exhaustive()
    }
}

impl<D: 'static> Shared<D> {
    /// Accepts who waits.
    fn accept(self: &Rc<Self>, listener: &UnixListener) -> PostAction {
        self.starved.set(false);
        for _ in 0..ACCEPTS_A_TURN {
            match accept_with(listener, SocketFlags::CLOEXEC) {
                Ok(socket) => self.admit(socket.into()),
                Err(Errno::AGAIN) => return PostAction::Continue,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                // The kernel takes a descriptor before it looks whether anybody waits.
                Err(Errno::MFILE | Errno::NFILE) if !somebody_waits(listener) => return PostAction::Continue,
                // One who has nothing to say makes room for one who has.
                Err(Errno::MFILE) if self.dismiss_idle() => {}
                Err(error) => {
                    tracing::warn!("a client of the control socket can't be accepted: {error}");
                    self.starved.set(true);
                    return PostAction::Continue;
                }
            }
        }
        // Registering again reports who is still waiting, after the other sources.
        PostAction::Reregister
    }

    /// After a client has gone: accepts one for whom there was no descriptor.
    fn accept_starved(&self) {
        if self.starved.get()
            && let Some(token) = self.listener.get()
        {
            // Registering again reports those who wait. Where it fails, the next client's coming does.
            let _ = self.handle.update(token);
        }
    }

    /// Takes a client in, unless it is another user's or there is no room.
    fn admit(self: &Rc<Self>, stream: UnixStream) {
        // The folder keeps other users out already; this holds also where its mode was changed.
        if !socket_peercred(&stream).is_ok_and(|peer| peer.uid == geteuid()) {
            return;
        }
        self.clients
            .borrow_mut()
            .retain(|client| client.connection.strong_count() > 0);
        if self.clients.borrow().len() >= MAX_CLIENTS && !self.dismiss_idle() {
            // As much as fits at once, to a socket that has just been opened: all of it.
            let line = Response::error("veil is busy with too many requests; try again later").to_line();
            let _ = send(&stream, &line, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            return;
        }
        let connection = Rc::new(Connection::new(stream));
        connection.last_heard.set(self.tick());
        let watched = Rc::downgrade(&connection);
        let (serving, heard) = (Rc::clone(self), watched.clone());
        let source = ConnectionSource::new(connection);
        let inserted = self
            .handle
            .insert_source(source, move |event, (), data| match event {
                Event::Request(command, responder) => {
                    if let Some(connection) = heard.upgrade() {
                        connection.last_heard.set(serving.tick());
                    }
                    (serving.on_request.borrow_mut())(command, responder, data);
                    // The one who asked may be the one that makes room now.
                    serving.accept_starved();
                }
                Event::Ended => serving.accept_starved(),
            });
        match inserted {
            Ok(token) => self.watch(token, watched),
            Err(error) => tracing::warn!("a client of the control socket can't be served: {error}"),
        }
    }

    /// Keeps a client in the list, and lets its answers wake the loop.
    fn watch(self: &Rc<Self>, token: RegistrationToken, connection: Weak<Connection>) {
        if let Some(connection) = connection.upgrade() {
            let handle = self.handle.clone();
            let failing = Rc::downgrade(&connection);
            connection.set_rearm(move || {
                if handle.update(&token).is_err()
                    && let Some(connection) = failing.upgrade()
                {
                    connection.let_go();
                }
            });
        }
        self.clients.borrow_mut().push(Client { token, connection });
    }

    /// Lets the client go that has been idle longest; false when there is none.
    fn dismiss_idle(&self) -> bool {
        let mut clients = self.clients.borrow_mut();
        let heard = |client: &Client| {
            let connection = client.connection.upgrade()?;
            connection.is_idle().then(|| connection.last_heard.get())
        };
        let idle = clients
            .iter()
            .enumerate()
            .filter_map(|(at, client)| Some((heard(client)?, at)));
        let Some((_, at)) = idle.min() else { return false };
        let client = clients.swap_remove(at);
        if let Some(connection) = client.connection.upgrade() {
            connection.let_go();
            self.handle.remove(client.token);
        }
        true
    }

    fn tick(&self) -> u64 {
        self.count.set(self.count.get() + 1);
        self.count.get()
    }
}

/// Whether a client is waiting to be accepted.
fn somebody_waits(listener: &UnixListener) -> bool {
    let mut waiting = [PollFd::new(listener, PollFlags::IN)];
    // A poll that fails says nothing; then somebody may.
    poll(
        &mut waiting,
        Some(&Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        }),
    )
    .is_ok_and(|count| count > 0)
}
