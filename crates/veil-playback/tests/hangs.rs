//! A decoder that hangs while it is stopped takes nobody with it.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use common::{broken, folder, h264, open, wait_until};
use veil_playback::{Player, Settings};

/// Has another thread do it, so that a test of what must not hang ends.
fn within_reason<T: Send + 'static>(what: &str, job: impl FnOnce() -> T + Send + 'static) -> T {
    let (to_whom, done) = channel();
    std::thread::spawn(move || to_whom.send(job()));
    done.recv_timeout(Duration::from_secs(60))
        .unwrap_or_else(|_| panic!("{what}: no end"))
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All of it in one test, for the decoder is the process's.
#[test]
fn nobody_waits_for_a_decoder_that_does_not_stop() {
    let folder = folder();
    let path = h264(&folder.path().join("x.mp4"), 0.4);
    let usual = open(&path, true).0.decoder().clone();
    broken::register();
    broken::STARTS.store(true, Ordering::Relaxed);
    broken::EXIT.shut();
    let settings = Settings {
        path,
        ..Settings::default()
    };

    // It fails at the first picture, and hangs: the next decoder takes its place, in the same sink, time after time.
    let (sink, notes) = common::sink(true);
    for hanging in 1..=2 {
        let (settings, sink) = (settings.clone(), sink.clone());
        let player = within_reason("open", move || Player::open(settings, sink).unwrap());
        assert_eq!((player.decoder(), broken::EXIT.waiting()), (&usual, hanging));
        let shown = notes.shown();
        wait_until(&player, "it looped", || {
            player.stats().loops >= 2 && notes.shown() > shown + 20
        });
        within_reason("drop", move || drop(player));
    }

    // It plays, and hangs when it is to stop.
    broken::PICTURES.store(u64::MAX, Ordering::Relaxed);
    let (settings, kept) = (settings.clone(), sink.clone());
    let player = within_reason("open", move || Player::open(settings, kept).unwrap());
    assert_eq!(player.decoder().element, broken::NAME);
    let shown = notes.shown();
    wait_until(&player, "it plays", || notes.shown() > shown + 5);
    within_reason("drop", move || drop(player));
    assert_eq!(broken::EXIT.waiting(), 3);

    // A late end does not disturb whoever has the sink now.
    broken::PICTURES.store(0, Ordering::Relaxed);
    let settings = Settings {
        path: folder.path().join("x.mp4"),
        excluded: vec![broken::NAME.to_owned()],
        ..Settings::default()
    };
    let player = within_reason("open", move || Player::open(settings, sink).unwrap());
    broken::EXIT.open();
    wait_for("the hanging ones end", || broken::EXIT.waiting() == 0);
    wait_for("their threads end", || !threads().contains("veil-close"));
    let shown = notes.shown();
    wait_until(&player, "it plays on", || notes.shown() > shown + 20);
}

/// The names of this process's threads.
fn threads() -> String {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .collect()
}
