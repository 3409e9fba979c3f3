//! The GStreamer plugin `veil`, with the element `veilsink` and the same under the name `veil-sink`.

// What the macro makes has no documentation.
#![allow(missing_docs)]

use gstreamer as gst;

fn plugin_init(plugin: &gst::Plugin) -> Result<(), gst::glib::BoolError> {
    veil_sink::register(plugin)
}

gst::plugin_define!(
    veil,
    env!("CARGO_PKG_DESCRIPTION"),
    plugin_init,
    env!("CARGO_PKG_VERSION"),
    "MIT/X11",
    env!("CARGO_PKG_NAME"),
    env!("CARGO_PKG_NAME"),
    env!("CARGO_PKG_REPOSITORY")
);
