//! The right to answer one request.

use super::connection::Connection;
use super::subscriber::Subscriber;
use crate::protocol::{Answer, Reason, Response};
use std::rc::Weak;

/// Answers one request, once. It may be kept for as long as the answer takes, and does not keep the client: when that has
/// gone, answers go nowhere. Dropped without an answer, it tells the client that there is none.
#[derive(Debug)]
#[must_use = "a request that is not answered is an error to its client"]
pub struct Responder {
    connection: Option<Weak<Connection>>,
}

impl Responder {
    pub(super) fn new(connection: Weak<Connection>) -> Self {
        Self {
            connection: Some(connection),
        }
    }

    /// It was done, and this is what there is to say.
    pub fn answer(self, answer: Answer) {
        self.respond(Response::Ok(answer));
    }

    /// It was not done, for this reason.
    pub fn refuse(self, reason: impl Into<Reason>) {
        self.respond(Response::error(reason));
    }

    /// Answers either way.
    pub fn respond(mut self, response: Response) {
        self.send(&response);
    }

    /// It was done, and from now on the client is told of events. It can't ask for anything more on this connection.
    pub fn subscribe(mut self) -> Subscriber {
        let connection = self.connection.take().unwrap_or_default();
        if let Some(connection) = connection.upgrade() {
            connection.send(&Response::Ok(Answer::Done).to_line());
        }
        Subscriber::new(connection)
    }

    /// Whether the client is still there, as far as the event loop has noticed.
    pub fn is_connected(&self) -> bool {
        let connection = self.connection.as_ref().and_then(Weak::upgrade);
        connection.is_some_and(|connection| connection.is_alive())
    }

    fn send(&mut self, response: &Response) {
        if let Some(connection) = self.connection.take().as_ref().and_then(Weak::upgrade) {
            connection.answer(response);
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if self.connection.is_some() {
            self.send(&Response::error("veil gave up on this request without an answer"));
        }
    }
}
