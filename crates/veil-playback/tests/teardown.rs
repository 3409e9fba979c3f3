//! A player that is dropped leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use common::{folder, h264, open, wait_until};

/// The threads by name, without GLib's own: pool threads end a second after their last work, and a pool's spawner stays
/// for the life of the process.
fn threads() -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let Ok(name) = std::fs::read_to_string(task.path().join("comm")) else {
            continue;
        };
        if name.trim() != "pool-spawner" {
            *names.entry(name.trim().to_owned()).or_default() += 1;
        }
    }
    names
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn fifty_players_leave_no_thread_and_no_descriptor() {
    let folder = folder();
    let good = h264(&folder.path().join("x.mp4"), 0.2);
    let bad = folder.path().join("bad.mp4");
    std::fs::write(&bad, "text\n").unwrap();
    let before = threads();
    // The first one brings what GStreamer keeps for the process.
    drop(open(&good, true));
    let descriptors_before = descriptors();
    for round in 0..50 {
        let (player, notes) = open(&good, true);
        // At every point of a loop.
        wait_until(&player, "it plays", || notes.shown() > round % 10);
        if round % 3 == 0 {
            player.pause();
        }
        drop(player);
        let (sink, _notes) = common::sink(true);
        let settings = veil_playback::Settings {
            path: bad.clone(),
            ..Default::default()
        };
        assert!(veil_playback::Player::open(settings, sink).is_err());
    }
    // The look ahead's pipeline may still be ending.
    let soon = Instant::now() + Duration::from_secs(30);
    while descriptors() > descriptors_before {
        assert!(
            Instant::now() < soon,
            "{} descriptors, {descriptors_before} before",
            descriptors()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let end = Instant::now() + Duration::from_secs(30);
    while threads() != before {
        assert!(Instant::now() < end, "{:?}, before {before:?}", threads());
        std::thread::sleep(Duration::from_millis(50));
    }
}
