//! A mock compositor with veil in it.

use std::ffi::OsStr;

use anyhow::Result;

use super::{Mock, MockBuilder};
use crate::veil::{Daemon, veil_bin};

/// A mock compositor and a `veil daemon` that is its client.
#[derive(Debug)]
pub struct Stage {
    /// The daemon; it ends before its compositor.
    pub daemon: Daemon,
    /// The compositor.
    pub mock: Mock,
}

impl Stage {
    /// Starts the compositor, and a daemon with these arguments, which answers already.
    pub fn start<A: AsRef<OsStr>>(mock: MockBuilder, arguments: impl IntoIterator<Item = A>) -> Result<Self> {
        Self::on(mock.start()?, arguments)
    }

    /// Starts a daemon with these arguments, which answers already.
    pub fn on<A: AsRef<OsStr>>(mock: Mock, arguments: impl IntoIterator<Item = A>) -> Result<Self> {
        let daemon = Daemon::start(mock.session(), &veil_bin(None)?, arguments)?;
        Ok(Self { daemon, mock })
    }
}
