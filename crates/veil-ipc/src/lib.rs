//! How programs talk to the veil daemon: JSON lines over a unix socket.
//!
//! The types of the protocol, the place of the socket, a client, and the client commands are for everybody; the
//! `server` feature adds the daemon's side. All of it is in one crate so that a request is described once, and so that
//! `veil` and `veilctl` have the same commands because they are the same code.

#![forbid(unsafe_code)]

pub mod client;
pub mod commands;
pub mod line;
pub mod path;
pub mod protocol;
pub mod render;
#[cfg(feature = "server")]
pub mod server;
pub mod veilctl;

pub use client::{Client, ClientError};
pub use path::{Location, LocationError};
pub use protocol::{
    Answer, Command, Reason, Request, RequestError, Response, Source, WirePath, parse_request,
};
