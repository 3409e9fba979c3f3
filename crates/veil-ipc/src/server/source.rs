//! A connection as a source of the event loop.

use super::connection::Connection;
use super::responder::Responder;
use crate::protocol::{Command, Reason, Response, parse_request};
use calloop::generic::Generic;
use calloop::{EventSource, Interest, Mode, Poll, PostAction, Readiness, Token, TokenFactory};
use std::convert::Infallible;
use std::rc::Rc;

/// How many requests of one client are taken up before other sources have their turn.
const REQUESTS_A_TURN: usize = 16;

/// What a connection tells the server.
#[derive(Debug)]
pub(super) enum Event {
    /// A request, and the right to answer it.
    Request(Command, Responder),
    /// It ends, and will have given its descriptor back when the loop goes on.
    Ended,
}

/// Reads requests from a connection, and waits for just what the connection waits for. It ends by itself with the
/// connection, and never with an error: an error would end the daemon's loop.
#[derive(Debug)]
pub(super) struct ConnectionSource {
    socket: Generic<Rc<Connection>, Infallible>,
}

impl ConnectionSource {
    pub(super) fn new(connection: Rc<Connection>) -> Self {
        Self {
            socket: Generic::new_with_error(connection, Interest::READ, Mode::Level),
        }
    }
}

impl EventSource for ConnectionSource {
    type Event = Event;
    type Metadata = ();
    type Ret = ();
    type Error = Infallible;

    fn process_events<F>(
        &mut self,
        readiness: Readiness,
        token: Token,
        mut callback: F,
    ) -> Result<PostAction, Infallible>
    where
        F: FnMut(Event, &mut ()),
    {
        let awaited = self.socket.interest;
        self.socket
            .process_events(readiness, token, |readiness, connection| {
                connection.set_in_source(true);
                serve(connection, readiness, awaited, |event| callback(event, &mut ()));
                connection.set_in_source(false);
                Ok(if connection.is_finished() {
                    connection.let_go();
                    callback(Event::Ended, &mut ());
                    PostAction::Remove
                } else if differ(connection.interest(), awaited) {
                    PostAction::Reregister
                } else {
                    PostAction::Continue
                })
            })
    }

    fn register(&mut self, poll: &mut Poll, factory: &mut TokenFactory) -> calloop::Result<()> {
        self.socket.register(poll, factory)
    }

    fn reregister(&mut self, poll: &mut Poll, factory: &mut TokenFactory) -> calloop::Result<()> {
        self.socket.interest = self.socket.get_ref().interest();
        self.socket.reregister(poll, factory)
    }

    fn unregister(&mut self, poll: &mut Poll) -> calloop::Result<()> {
        self.socket.unregister(poll)
    }
}

fn differ(one: Interest, other: Interest) -> bool {
    one.readable != other.readable || one.writable != other.writable
}

/// One turn of a client's. `awaited` is what the system was asked to report.
fn serve(connection: &Rc<Connection>, readiness: Readiness, awaited: Interest, mut tell: impl FnMut(Event)) {
    if readiness.readable && !awaited.readable {
        // Nobody asked for input, so this is the one thing that is always reported: the client has hung up.
        connection.let_go();
        return;
    }
    connection.flush();
    if readiness.readable {
        connection.receive();
    }
    for _ in 0..REQUESTS_A_TURN {
        let Some(line) = connection.next_request() else {
            return;
        };
        match parse_request(&line) {
            Ok(command) => tell(Event::Request(command, Responder::new(Rc::downgrade(connection)))),
            Err(error) => connection.answer(&Response::error(Reason::new(error.to_string()))),
        }
    }
}
