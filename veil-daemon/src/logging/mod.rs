//! The log: to stderr, which a session's manager or journal takes, and to a file for each run where that is asked for.
//!
//! Levels: an error is a bug in veil; a warning is about the user's files or machine; an info comes once for a change. What
//! the wallpapers are called is told at debug level only: logs are sent to strangers. Who asked for a file is told
//! its name in the answer.

mod journal;
mod libraries;
mod limit;
mod runs;

use journal::Line;
use limit::Limited;
pub(crate) use runs::RunsError;
use std::{
    io::{self, IsTerminal},
    sync::Mutex,
};
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Starts it. `filter` has the form of `tracing`'s `EnvFilter`, like `debug` or `veil_sink=trace`; with `keep_runs` this
/// run is also written to a file.
///
/// # Errors
/// [`RunsError`]: that file cannot be had. The log goes to stderr all the same.
pub(crate) fn start(filter: Option<&str>, keep_runs: bool) -> Result<(), RunsError> {
    let filter = filter.map(str::trim).filter(|filter| !filter.is_empty());
    let parsed = filter.map(str::parse::<EnvFilter>).transpose();
    let (filter, mistake) = match parsed {
        Ok(filter) => (filter.unwrap_or_else(|| EnvFilter::new("info")), None),
        Err(error) => (EnvFilter::new("info"), Some(error)),
    };
    let (file, failure) = match keep_runs.then(runs::open).transpose() {
        Ok(file) => (file, None),
        Err(error) => (None, Some(error)),
    };
    let to_file = file.map(|file| {
        fmt::layer()
            .with_ansi(false)
            .event_format(Limited::new(Line::plain()))
            .with_writer(Mutex::new(file))
    });
    let to_stderr = fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        .event_format(Limited::new(Line::for_stderr()))
        .with_writer(io::stderr);
    // A second start is refused; then the first one serves.
    let _ = tracing_subscriber::registry()
        .with(filter)
        .with(to_stderr)
        .with(to_file)
        .try_init();
    libraries::listen();
    if let Some(error) = mistake {
        tracing::warn!("the log's filter is not understood, it is as if it were “info”: {error}");
    }
    failure.map_or(Ok(()), Err)
}
