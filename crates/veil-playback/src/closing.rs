//! The end of a pipeline, which must not become the end of whoever asks for it.
//!
//! An element may hang on its way down, for ever: a driver that does not answer, a queue that waits for its own thread.
//! So a thread of its own takes the pipeline down and owns it, and only a while is waited for it. The sink is taken out
//! before: it is the caller's, who may give it to the next pipeline at once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::assembly::{Assembly, lock};

/// How long the end is waited for. It usually takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

impl Assembly {
    /// Stops everything, and frees the sink. Blocks until no thread is in the pipeline, but not for ever: one that does
    /// not stop in time is left to end when it can.
    pub(crate) fn close(self: &Arc<Self>) {
        if self.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        self.free_sink();
        let assembly = Arc::clone(self);
        let (to_whom, over) = channel();
        let thread = std::thread::Builder::new().name(String::from("veil-close"));
        let thread = thread.spawn(move || {
            assembly.stop();
            // Nobody listens where it took too long.
            let _ = to_whom.send(());
        });
        match thread {
            Ok(thread) if over.recv_timeout(PATIENCE).is_ok() => {
                // It has nothing left to do. A panic was reported where it happened.
                let _ = thread.join();
            }
            Ok(_) => tracing::warn!(
                "a pipeline does not stop (decoder {:?}); it is left alone",
                self.decoder().map(|decoder| decoder.info.element)
            ),
            // No thread, no choice.
            Err(_) => self.stop(),
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
        if !self.closing.swap(true, Ordering::AcqRel) {
            self.free_sink();
            self.stop();
        }
    }
}
