//! The log: to stderr, which a session's manager or journal takes.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts it. `VEIL_LOG` holds filters in the form of `tracing`'s `EnvFilter`, like `debug` or `veil_sink=trace`.
pub(crate) fn start() {
    let filter = EnvFilter::try_from_env("VEIL_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    // A second start is refused; then the first one serves.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .try_init();
}
