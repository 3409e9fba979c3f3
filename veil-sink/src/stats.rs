//! What became of a sink's frames: counters that any thread may read while frames flow.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the sink was made; state changes and flushes do not reset them.
///
/// Each frame that the sink got is counted once in `received` or in `late`, and what was received later once in
/// `submitted`, `no_target` or `unseen`, unless a flush took it away.
#[derive(Debug, Default)]
pub struct SinkStats {
    received: AtomicU64,
    late: AtomicU64,
    submitted: AtomicU64,
    no_target: AtomicU64,
    unseen: AtomicU64,
    replaced: AtomicU64,
    redrawn: AtomicU64,
    bytes: AtomicU64,
}

/// The counters at one moment. They are read one after the other, so a frame on its way may be in one and not yet in
/// another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatsSnapshot {
    /// Frames that the decoder gave in time to be drawn.
    pub received: u64,
    /// Frames that the base class dropped undrawn, because they came too late. Counted by its QoS messages, so only
    /// while the property `qos` is on, as it is unless changed.
    pub late: u64,
    /// Frames that were handed to the presenter.
    pub submitted: u64,
    /// Frames that were dropped since the presenter held all targets.
    pub no_target: u64,
    /// Frames that were not due: nobody wanted to see them, so they were not even drawn.
    pub unseen: u64,
    /// Frames that were submitted, but lay in the presenter's mailbox still when the next one came.
    pub replaced: u64,
    /// Frames that were drawn again, while paused, for another demand.
    pub redrawn: u64,
    /// Bytes that the CPU wrote into targets: conversion, and repetition of tiles.
    pub bytes: u64,
}

impl StatsSnapshot {
    /// Frames that were due and cannot be shown any more.
    pub const fn dropped(&self) -> u64 {
        self.late + self.no_target + self.replaced
    }
}

/// One thing to count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Received,
    Late,
    Submitted,
    NoTarget,
    Unseen,
    Replaced,
    Redrawn,
}

impl SinkStats {
    pub(crate) fn count(&self, what: Count) {
        let counter = match what {
            Count::Received => &self.received,
            Count::Late => &self.late,
            Count::Submitted => &self.submitted,
            Count::NoTarget => &self.no_target,
            Count::Unseen => &self.unseen,
            Count::Replaced => &self.replaced,
            Count::Redrawn => &self.redrawn,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn wrote(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The counters now.
    pub fn snapshot(&self) -> StatsSnapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StatsSnapshot {
            received: read(&self.received),
            late: read(&self.late),
            submitted: read(&self.submitted),
            no_target: read(&self.no_target),
            unseen: read(&self.unseen),
            replaced: read(&self.replaced),
            redrawn: read(&self.redrawn),
            bytes: read(&self.bytes),
        }
    }
}
