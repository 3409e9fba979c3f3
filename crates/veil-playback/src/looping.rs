//! From the end of the file back to its beginning.
//!
//! The end of a pass is seen in the streaming thread, which cannot seek for itself: GStreamer lends a thread for it
//! (`call_async`). It seeks what lies before the decoder, which takes a millisecond; the decoder and the sink still have
//! pictures then. A file or demuxer that cannot seek, and one that failed on the way, gets a new demuxer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::assembly::{Assembly, lock};
use crate::endless::Pass;
use crate::inbox::Signal;
use crate::opening::SILENCE;

/// A pass that failed and was shorter than this is no gain.
const WORTH_REPEATING: gst::ClockTime = gst::ClockTime::from_seconds(1);

/// So many failed short passes in a row are the end.
const MOST_FAILURES: u32 = 3;

/// The state of going round. Its lock is held while anything seeks.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    /// The demuxer was seen not to seek.
    seekless: bool,
    failures: u32,
}

impl Assembly {
    /// Has the next pass begun by another thread.
    pub(crate) fn go_again(self: &Arc<Self>, pass: Pass) {
        let weak = Arc::downgrade(self);
        self.pipeline.call_async(move |_| {
            if let Some(assembly) = weak.upgrade() {
                assembly.rewind(pass);
            }
        });
    }

    /// Has the pass ended by another thread, as what feeds it has failed.
    pub(crate) fn recover(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        self.pipeline.call_async(move |_| {
            if let Some(assembly) = weak.upgrade().filter(|assembly| !assembly.is_closing()) {
                assembly.endless.break_off();
            }
        });
    }

    fn rewind(self: &Arc<Self>, pass: Pass) {
        let mut loops = lock(&self.loops);
        // Somebody may have sought elsewhere since.
        if self.is_closing() || !self.endless.waits_after(pass.number) {
            return;
        }
        if self.source.has_shrunk() {
            // What is left is not what was chosen, however well it may play.
            self.give_up(Signal::Stuck(String::from(
                "the file was cut off while it played",
            )));
            return;
        }
        let failed = self.reader_failed.swap(false, Ordering::AcqRel);
        if failed {
            self.tell_damage();
        }
        *lock(&self.decoder_failure) = None;
        loops.failures = if failed && pass.length < WORTH_REPEATING {
            loops.failures + 1
        } else {
            0
        };
        if loops.failures >= MOST_FAILURES {
            self.give_up(Signal::Stuck(String::from("the file is damaged")));
            return;
        }
        // A seek to the beginning that led nowhere is none.
        loops.seekless |= pass.frames == 0 && self.endless.began_at_start();
        self.endless.add_loop();
        if !failed && !loops.seekless {
            if self.endless.seek_upstream(gst::ClockTime::ZERO, false) {
                return;
            }
            tracing::debug!("the file cannot be sought in: each loop reads it anew");
            loops.seekless = true;
        }
        if let Err(error) = self.replace_reader() {
            self.give_up(Signal::Stuck(format!("the file cannot be read again: {error}")));
            return;
        }
        drop(loops);
        self.expect_picture();
    }

    /// Sees to it that a new reader is not waited for in vain: one that fails while it is put together may say nothing.
    fn expect_picture(&self) {
        let mut idle = false;
        while !self.is_closing() && !self.endless.comes_within(SILENCE) {
            // Between two of its threads it may seem idle for a moment.
            if std::mem::replace(&mut idle, self.reader_is_idle()) && idle {
                self.give_up(Signal::Stuck(String::from("the file cannot be read again")));
                return;
            }
        }
    }

    /// Goes to a place in the file. The sink is flushed. False where the file cannot be sought in.
    pub(crate) fn seek(&self, position: gst::ClockTime) -> bool {
        let _loops = lock(&self.loops);
        !self.is_closing() && self.endless.seek_upstream(position, true)
    }
}
