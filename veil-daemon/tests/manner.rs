//! How a video plays: its speed, its rate, where it begins, and what comes after its end.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use serde_json::Value;
use std::path::Path;
use veil_testkit::{Desk, GENEROUS, Shot, clips, wait_until};

const OUTPUT: &str = "HEADLESS-1";
const NO_ARGUMENTS: [&str; 0] = [];

fn set(desk: &Desk, file: &Path, options: &[&str]) {
    let words = options.iter().map(AsRef::as_ref).chain([file.as_os_str()]);
    desk.set(words).unwrap().ok().unwrap();
}

/// Frames that were due for each second of the video, after some of them.
fn rate(desk: &mut Desk) -> f64 {
    let at = |status: &Value| {
        let due = status["frames"]["due"].as_f64().unwrap();
        (due, status["position"].as_f64().unwrap())
    };
    desk.wait_frames(OUTPUT, 3).unwrap();
    let before = at(&desk.first().unwrap());
    let later = desk.wait_first("three seconds of the video", |output| {
        output["position"].as_f64() > Some(before.1 + 3.0)
    });
    let after = at(&later.unwrap());
    (after.0 - before.0) / (after.1 - before.1)
}

#[test]
fn a_rate_and_a_speed_are_those_that_were_asked_for() {
    let clip = clips::moving(320, 180, 30, 30.0).unwrap();
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    set(&desk, &clip, &[]);
    let all = rate(&mut desk);
    assert!((25.0..=35.0).contains(&all), "{all} frames for a second of 30");
    set(&desk, &clip, &["--max-fps", "10"]);
    let some = rate(&mut desk);
    assert!(
        (8.0..=12.0).contains(&some),
        "{some} frames for a second of at most 10"
    );
    // Twice as fast, so each second of the video has half as many.
    set(&desk, &clip, &["--max-fps", "10", "--speed", "2"]);
    let fast = rate(&mut desk);
    assert!(
        (4.0..=6.0).contains(&fast),
        "{fast} frames for a second of at most 5"
    );
    // It is remembered, and does not hold for the next one.
    desk.restart(NO_ARGUMENTS).unwrap();
    let status = desk
        .wait_first("the video", |output| output["state"] == "playing")
        .unwrap();
    assert_eq!((&status["speed"], &status["max_fps"]), (&2.0.into(), &10.into()));
    set(&desk, &clip, &[]);
    assert_eq!(desk.first().unwrap()["speed"], Value::Null);
}

#[test]
fn it_begins_where_it_is_told() {
    let clip = clips::moving(320, 180, 30, 30.0).unwrap();
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    for (start, least) in [("0:10", 10.0), ("20", 20.0)] {
        set(&desk, &clip, &["--start", start]);
        let position = desk.first().unwrap()["position"].as_f64().unwrap();
        assert!(
            (least..least + 5.0).contains(&position),
            "{position} after {start}"
        );
    }
    // Past its end there is nothing.
    let words = ["--start".as_ref(), "1:00".as_ref(), clip.as_os_str()];
    let ran = desk.set(words).unwrap();
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(desk.first().unwrap()["position"].as_f64() >= Some(20.0));
}

#[test]
fn what_plays_once_keeps_its_last_picture_and_no_decoder() {
    let clip = clips::numbered(320, 180, 30, 2.0).unwrap();
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    set(&desk, &clip, &["--loop", "none"]);
    desk.wait_first("its end", |output| output["state"] == "released")
        .unwrap();
    let process = desk.daemon.process();
    wait_until("the pipeline to be gone", GENEROUS, || {
        process.threads().is_ok_and(|threads| threads.len() == 1)
    })
    .unwrap();
    let last = |shot: &Shot| clips::read_number(shot, shot.all()) == Some(59);
    desk.wait_shot("the-last-picture", last).unwrap();
    // Again, at its beginning.
    set(&desk, &clip, &["--loop", "none"]);
    assert_eq!(desk.first().unwrap()["state"], "playing");
}
