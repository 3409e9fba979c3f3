//! The end of a pipeline.

use std::sync::atomic::Ordering;

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::assembly::{Assembly, lock};

impl Assembly {
    /// Stops everything, and frees the sink. Blocks until no thread is in the pipeline.
    pub(crate) fn close(&self) {
        if !self.closing.swap(true, Ordering::AcqRel) {
            self.free_sink();
            self.stop();
        }
    }

    /// Takes the sink out. From now on what would be shown is refused, so nothing waits in the sink any more.
    fn free_sink(&self) {
        self.sink.set_locked_state(true);
        let _ = self.sink.set_state(gst::State::Null);
        // Refused only where it never got in.
        let _ = self.pipeline.remove(&self.sink);
        self.sink.set_locked_state(false);
    }

    fn stop(&self) {
        // No flush may cross the way down: what is in progress ends first, and nothing is begun any more.
        drop(lock(&self.loops));
        self.endless.end_flushes();
        let _ = self.pipeline.set_state(gst::State::Null);
    }
}

impl Drop for Assembly {
    /// For one that was never closed. The sink of one that was may serve another by now.
    fn drop(&mut self) {
        self.close();
    }
}
