//! How a file is played: faster or slower, with fewer pictures, once, from a place in it.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{H264, Notes, clip, folder, h264, sink, wait_until};
use veil_playback::{Manner, Player, PlayerEvent, Settings};

const PERIOD: Duration = Duration::from_nanos(33_333_333);

fn open(path: PathBuf, manner: Manner, position: Option<Duration>) -> (Player, Notes) {
    let (sink, notes) = sink(true);
    let settings = Settings {
        path,
        manner,
        position,
        ..Settings::default()
    };
    (Player::open(settings, sink).unwrap(), notes)
}

fn assert_steps(notes: &Notes, expected: Duration) {
    for (step, at) in notes.steps().into_iter().zip(1..) {
        let off = step.abs_diff(expected);
        assert!(off <= Duration::from_micros(2500), "picture {at} after {step:?}");
    }
}

fn at_speed(path: &Path, speed: f64) {
    let manner = Manner {
        speed,
        ..Manner::default()
    };
    let (player, notes) = open(path.to_owned(), manner, None);
    wait_until(&player, "it looped", || player.stats().loops >= 2);
    assert_steps(&notes, PERIOD.div_f64(speed));
    assert!(!notes.saw("FlushStart") && !notes.saw("Eos"), "{notes:?}");
    // Places are the video's, whatever the speed.
    assert!(player.position().unwrap() <= player.duration().unwrap() + PERIOD);
}

#[test]
fn the_speed_is_the_time_between_pictures_over_loops_too() {
    let folder = folder();
    let path = h264(&folder.path().join("x.mp4"), 0.5);
    for speed in [0.25, 0.8, 2.0, 4.0] {
        at_speed(&path, speed);
    }
}

/// Its pictures keep their own timestamps.
#[test]
fn the_speed_of_a_stream_with_alpha() {
    let folder = folder();
    let codec = [
        "-vf",
        "format=yuva420p",
        "-c:v",
        "libvpx-vp9",
        "-deadline",
        "realtime",
    ];
    if let Some(path) = clip(&folder.path().join("x.webm"), 0.5, &codec) {
        at_speed(&path, 2.0);
    }
}

#[test]
fn pictures_beyond_the_rate_are_left_out_evenly() {
    let folder = folder();
    // An odd number of pictures: every second one of a pass is another in the next.
    let path = h264(&folder.path().join("x.mp4"), 0.5);
    for (speed, max_fps, expected) in [(1.0, 15.0, 2), (2.0, 15.0, 4), (1.0, 10.0, 3), (1.0, 60.0, 1)] {
        let manner = Manner {
            speed,
            max_fps: Some(max_fps),
            ..Manner::default()
        };
        let (player, notes) = open(path.clone(), manner, None);
        wait_until(&player, "it looped", || player.stats().loops >= 2);
        assert_steps(&notes, PERIOD.mul_f64(f64::from(expected) / speed));
        // A seek shows its picture, whatever was shown before.
        player.seek_and_wait(Duration::from_millis(200)).unwrap();
        let position = player.position().unwrap();
        assert!(position >= Duration::from_millis(200) - PERIOD, "{position:?}");
    }
}

#[test]
fn once_ends_with_the_last_picture() {
    let folder = folder();
    let manner = Manner {
        once: true,
        ..Manner::default()
    };
    for (name, codec) in [("x.mp4", H264), ("x.mkv", H264), ("x.ivf", &["-c:v", "libvpx"])] {
        let path = clip(&folder.path().join(name), 0.5, codec).unwrap();
        let (player, notes) = open(path, manner, None);
        let mut events = Vec::new();
        wait_until(&player, "it ends", || {
            player.dispatch(|event| events.push(event));
            !events.is_empty()
        });
        assert_eq!(events, [PlayerEvent::Ended], "{name}");
        assert_eq!((notes.shown(), player.stats().loops), (15, 0), "{name}");
    }
    // A picture is a picture.
    let one = clip(&folder.path().join("one.mp4"), 0.03, H264).unwrap();
    let (player, _) = open(one, manner, None);
    let mut events = Vec::new();
    wait_until(&player, "it is told", || {
        player.dispatch(|event| events.push(event));
        !events.is_empty()
    });
    assert_eq!(events, [PlayerEvent::Still]);
}

/// In every container that can be sought in, within a group of pictures too.
#[test]
fn it_starts_where_it_is_told() {
    let folder = folder();
    let vp9 = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"];
    let mpeg2 = ["-c:v", "mpeg2video", "-g", "15"];
    for (name, codec) in [
        ("x.mp4", H264),
        ("x.mov", H264),
        ("x.mkv", H264),
        ("x.ts", H264),
        ("x.avi", H264),
        ("x.webm", &vp9[..]),
        ("y.ts", &mpeg2[..]),
    ] {
        let path = clip(&folder.path().join(name), 4.0, codec).unwrap();
        let (sink, notes) = sink(true);
        let settings = Settings {
            path,
            start_paused: true,
            position: Some(Duration::from_millis(2500)),
            ..Settings::default()
        };
        let player = Player::open(settings, sink).unwrap();
        let position = player.position().unwrap();
        let off = position.abs_diff(Duration::from_millis(2500));
        assert!(off <= 2 * PERIOD, "{name} starts at {position:?}: {notes:?}");
    }
}
