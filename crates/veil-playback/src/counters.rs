//! What a player counts while it plays. Written by streaming threads, read by whoever asks; no locks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters of one player, since it was opened.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    fed: AtomicU64,
    decoded: AtomicU64,
    skipped: AtomicU64,
    /// Pictures that the decoder left out for whatever reason.
    dropped: AtomicU64,
    damaged: AtomicU64,
    loops: AtomicU64,
    still: AtomicBool,
}

/// A snapshot of what a player counted since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Coded pictures given to the decoder.
    pub fed: u64,
    /// Pictures that the decoder gave to the sink.
    pub decoded: u64,
    /// Pictures that the decoder left out because they would have been late.
    pub skipped: u64,
    /// Coded pictures that were visibly broken.
    pub damaged: u64,
    /// How often the beginning of the file was shown after its end.
    pub loops: u64,
}

impl Stats {
    /// Pictures that were due: what the decoder gave, and what it skipped for lateness.
    pub fn due(&self) -> u64 {
        self.decoded + self.skipped
    }
}

impl Counters {
    pub(crate) fn add_fed(&self) {
        self.fed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_decoded(&self) {
        self.decoded.fetch_add(1, Ordering::Relaxed);
    }

    /// So many loops were shown; fewer than before say nothing.
    pub(crate) fn set_loops(&self, loops: u64) {
        self.loops.fetch_max(loops, Ordering::Relaxed);
    }

    /// Counts a broken picture; true for the first one.
    pub(crate) fn add_damaged(&self) -> bool {
        self.damaged.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// The decoder has left out so many pictures until now, the last of them because it was late, or for another reason.
    pub(crate) fn set_dropped(&self, dropped: u64, late: bool) {
        let before = self.dropped.swap(dropped, Ordering::Relaxed);
        if late {
            self.skipped
                .fetch_add(dropped.saturating_sub(before), Ordering::Relaxed);
        }
    }

    pub(crate) fn set_still(&self) {
        self.still.store(true, Ordering::Relaxed);
    }

    pub(crate) fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    pub(crate) fn still(&self) -> bool {
        self.still.load(Ordering::Relaxed)
    }

    pub(crate) fn snapshot(&self) -> Stats {
        Stats {
            fed: self.fed.load(Ordering::Relaxed),
            decoded: self.decoded(),
            skipped: self.skipped.load(Ordering::Relaxed),
            damaged: self.damaged.load(Ordering::Relaxed),
            loops: self.loops.load(Ordering::Relaxed),
        }
    }
}
