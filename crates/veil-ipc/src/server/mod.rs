//! The daemon's side of the control protocol.
//!
//! [`Instance`] decides who the daemon is and makes the socket; [`Server`] is the sources on the daemon's event loop that
//! serve it; a [`Responder`] is the right to answer one request, now or later, and a [`Subscriber`] is a client that wants to be
//! told what changes.
//!
//! All of it runs on the loop's thread and blocks nowhere: the same thread shows frames. Nothing is polled and there are
//! no timers, so a client that says nothing costs nothing, and one that misbehaves costs only itself: lines, unsent
//! answers and the number of clients are bounded.

mod connection;
mod instance;
mod listener;
mod responder;
mod source;
mod subscriber;

pub use instance::{Instance, InstanceError};
pub use listener::{Server, ServerError};
pub use responder::Responder;
pub use subscriber::Subscriber;

/// How many clients may be connected at once. When one more comes, the one that has been idle longest is let go.
pub const MAX_CLIENTS: usize = 256;

/// How many bytes of answers wait for a client that does not read them; then it is let go.
pub const MAX_UNSENT: usize = 256 * 1024;
