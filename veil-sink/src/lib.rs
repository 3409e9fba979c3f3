//! veil's GStreamer sink: decoded frames become presentable buffers, and these go to whoever shows them.
//!
//! The sink knows its target only as a [`Presenter`]. A frame is drawn in `prepare`, before the wait for its time; at its
//! time it is only handed over. See [`VeilSink`].

#![deny(unsafe_code)]

use gstreamer as gst;
use gstreamer_base as gst_base;
use gstreamer_video as gst_video;

use gst::{glib, subclass::prelude::*};
use std::sync::Arc;

mod caps;
mod colorimetry;
mod description;
mod dmabuf_memory;
mod drm;
mod frame;
mod gpu;
mod imp;
mod mailbox;
mod painter;
mod planner;
mod pool;
mod presenter;
mod properties;
mod ring;
mod route;
mod standalone;
mod stats;
mod tags;
mod unpack;
mod upstream;

pub use description::{Description, RouteDescription, RouteKind, StreamDescription};
pub use mailbox::{Mailbox, Submitted};
pub use painter::Redraw;
pub use presenter::{Capabilities, LoopPresenter, Presenter, SharedCapabilities};
pub use route::{RouteChoice, UnknownRoute};
pub use standalone::{LayerKind, Mode};
pub use stats::{SinkStats, StatsSnapshot};

glib::wrapper! {
    /// A `GstVideoSink` that gives its frames to a [`Presenter`], or to one of its own.
    ///
    /// With [`VeilSink::new`] it is made by type, has no factory and no rank, so no other sink and no installed plugin can
    /// take its place. Without a presenter, as the plugin's element `veilsink`, it shows its frames itself: in a window or
    /// as a wallpaper, by its properties `layer`, `output`, `mode`, `background-color`, `fullscreen`, `title`, `namespace`
    /// and `display`; it is connected to the compositor from NULL→READY to READY→NULL.
    ///
    /// How frames get to the compositor is chosen by the sink, or by its property `route`; the GPU that converts, by `device`.
    ///
    /// The other properties are those of `GstVideoSink`, with `enable-last-sample` off, so that no buffer of the decoder
    /// is pinned, `qos` and `sync` on, and a `max-lateness` of 20 ms.
    ///
    /// A paused sink has given its first frame to the presenter, as `GstVideoSink` has it.
    pub struct VeilSink(ObjectSubclass<imp::VeilSink>)
        @extends gst_video::VideoSink, gst_base::BaseSink, gst::Element, gst::Object;
}

impl VeilSink {
    /// A sink for this presenter. GStreamer must be initialised.
    pub fn new(presenter: Arc<dyn Presenter>) -> Self {
        let sink: Self = glib::Object::new();
        sink.imp().set_presenter(presenter);
        sink
    }

    /// The counters of its frames; they may be kept and read at any time, from any thread.
    pub fn stats(&self) -> Arc<SinkStats> {
        self.imp().stats()
    }

    /// What it takes, and what it makes of it.
    pub fn description(&self) -> Description {
        self.imp().description()
    }

    /// Gives the presenter the frame that the sink is paused with once more, as [`Capabilities`] want it now: to be
    /// called when these have changed while the pipeline is paused.
    ///
    /// While the sink plays this does nothing, since the next frame follows the new demand by itself. At the end of a
    /// stream no frame is kept: there, only a seek gives another picture. A pause that begins at the same time misses
    /// nothing: a frame that was drawn for an old demand is drawn again before it is shown.
    ///
    /// Any thread may call it except from a function of the [`Presenter`]. It draws on the calling thread, which takes
    /// as long as any frame (milliseconds), and may have to wait for a frame that is being drawn, or at most a frame
    /// period for a free target. So it is for a worker rather than for the loop that shows pictures.
    pub fn redraw(&self) -> Redraw {
        self.imp().redraw()
    }
}

/// Registers the elements of a plugin: `veilsink` and, under its other name, `veil-sink`. Neither has a rank, so nothing
/// picks them by itself.
///
/// # Errors
/// When GStreamer refuses to register them.
pub fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    use gst::prelude::*;
    for name in ["veilsink", "veil-sink"] {
        gst::Element::register(Some(plugin), name, gst::Rank::NONE, VeilSink::static_type())?;
    }
    Ok(())
}
