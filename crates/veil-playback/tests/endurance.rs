//! Loops without number leave nothing behind. Alone in its process, for it counts what the process holds.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use common::{folder, h264, open, wait_until};

/// Far more loops than pictures in flight, as fast as they go: nothing piles up.
#[test]
fn many_loops_keep_nothing() {
    let folder = folder();
    let (player, notes) = open(&h264(&folder.path().join("x.mp4"), 0.2), false);
    wait_until(&player, "it is warm", || player.stats().loops >= 200);
    let (descriptors, memory) = (descriptors(), resident());
    wait_until(&player, "it looped often", || {
        notes.times.lock().unwrap().clear();
        notes.events.lock().unwrap().clear();
        player.stats().loops >= 2200
    });
    assert_eq!(self::descriptors(), descriptors);
    let rise = resident().saturating_sub(memory);
    assert!(rise < 4 << 20, "{rise} bytes more");
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
