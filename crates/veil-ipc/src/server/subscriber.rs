//! A client that is told what changes.

use super::connection::Connection;
use crate::protocol::Event;
use std::rc::Weak;

/// Tells one client of events. It does not keep the client: one that has gone, or does not read, is told nothing more.
#[derive(Debug)]
pub struct Subscriber {
    connection: Weak<Connection>,
}

impl Subscriber {
    pub(super) fn new(connection: Weak<Connection>) -> Self {
        Self { connection }
    }

    /// Sends an event, as far as the socket takes it now; the rest goes when there is room. A client for which more than
    /// [`super::MAX_UNSENT`] bytes wait is let go. Whether it is still there.
    pub fn tell(&self, event: &Event) -> bool {
        let Some(connection) = self.connection.upgrade() else {
            return false;
        };
        connection.send(&event.to_line());
        connection.is_alive()
    }

    /// Whether the client is still there, as far as the event loop has noticed.
    pub fn is_connected(&self) -> bool {
        self.connection
            .upgrade()
            .is_some_and(|connection| connection.is_alive())
    }
}
