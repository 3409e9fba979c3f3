//! What libraries have to say goes the way of veil's own messages, so that it has their form and their limits.

use gstreamer::glib::{LogLevel, log_set_default_handler};

/// Listens to GLib, and by that to GStreamer and its plugins. Starts neither.
pub(super) fn listen() {
    log_set_default_handler(|domain, level, message| {
        let domain = domain.unwrap_or("a library");
        match level {
            // GLib ends the program after it.
            LogLevel::Error => tracing::error!("{domain}: {message}"),
            LogLevel::Critical | LogLevel::Warning => tracing::warn!("{domain}: {message}"),
            LogLevel::Message | LogLevel::Info | LogLevel::Debug => tracing::debug!("{domain}: {message}"),
        }
    });
}
