//! Reasons to stand still: kept apart, told, and what becomes of a video that stands still for long.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::{fs, path::PathBuf, time::Duration};
use veil_testkit::{Desk, GENEROUS, Sway, clips, wait_until};

const OUTPUT: &str = "HEADLESS-1";
const NO_ARGUMENTS: [&str; 0] = [];

fn client(desk: &Desk, arguments: &[&str]) -> Result<()> {
    desk.daemon.client(arguments)?.ok().map(drop)
}

/// Writes the configuration of a session, as most editors do.
fn configure(sway: &Sway, text: &str) {
    let path: PathBuf = sway.session().config_dir().join("veil/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

/// A desk of one small output that plays a long numbered clip, with this configuration.
fn playing(configuration: &str) -> Desk {
    let sway = Sway::start("320x180").unwrap();
    configure(&sway, configuration);
    let clip = clips::numbered(320, 180, 30, 20.0).unwrap();
    let mut desk = Desk::on(sway, ["--input".as_ref(), clip.as_os_str()]).unwrap();
    desk.wait_frames(OUTPUT, 10).unwrap();
    desk
}

/// Waits until the first output is in this state for these reasons.
fn becomes(desk: &mut Desk, state: &str, holds: &[&str]) -> Value {
    let what = format!("{state} for {holds:?}");
    let is = |status: &Value| status["state"] == state && status["holds"] == json!(holds);
    desk.wait_first(&what, is).unwrap()
}

/// The number of the frame that the first output shows.
fn number(desk: &Desk) -> Result<u32> {
    let shot = desk.shot()?;
    clips::read_number(&shot, shot.all()).context("no whole frame is shown")
}

/// Waits until only the loop's thread is left.
fn alone(desk: &Desk) {
    let process = desk.daemon.process();
    wait_until("the pipeline's threads to end", GENEROUS, || {
        process.threads().is_ok_and(|threads| threads.len() == 1)
    })
    .unwrap();
}

#[test]
fn a_long_pause_lets_the_pipeline_go_and_resume_brings_it_back_at_its_place() {
    let mut desk = playing("[holds]\nrelease_after = 0.2\n");
    for _ in 0..2 {
        client(&desk, &["pause"]).unwrap();
        let released = becomes(&mut desk, "released", &["user"]);
        alone(&desk);
        let (held, position) = (number(&desk).unwrap(), released["position"].as_f64().unwrap());
        assert!(
            (position * 30.0 - f64::from(held)).abs() < 3.0,
            "{position} s, frame {held}"
        );
        let process = desk.daemon.process();
        let before = process.cpu_ticks().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(number(&desk).unwrap(), held, "the last picture stays");
        let ticks = process.cpu_ticks().unwrap() - before;
        assert!(ticks <= 2, "{ticks} clock ticks in 2 s");
        let refusal = desk.daemon.client(["seek", "1"]).unwrap();
        assert_eq!(refusal.code(), 1);
        client(&desk, &["resume"]).unwrap();
        becomes(&mut desk, "playing", &[]);
        let shot = desk
            .wait_shot("goes-on", |shot| {
                clips::read_number(shot, shot.all()).is_some_and(|number| number != held)
            })
            .unwrap();
        let next = clips::read_number(&shot, shot.all()).unwrap();
        assert!(
            next + 2 > held && next < held + 60,
            "stood at {held}, went on with {next}"
        );
        desk.wait_frames(OUTPUT, 10).unwrap();
    }
}

#[test]
fn the_time_until_release_changes_with_the_configuration() {
    let mut desk = playing("[holds]\nrelease_after = false\n");
    client(&desk, &["pause"]).unwrap();
    assert_eq!(desk.first().unwrap()["state"], "paused");
    configure(&desk.sway, "[holds]\nrelease_after = 0.1\n");
    becomes(&mut desk, "released", &["user"]);
}

#[test]
fn what_was_let_go_is_replaced_by_a_new_wallpaper_and_not_by_a_bad_one() {
    let mut desk = playing("[holds]\nrelease_after = 0\n");
    client(&desk, &["pause"]).unwrap();
    becomes(&mut desk, "released", &["user"]);
    let bad = clips::inputs().unwrap().join("text.mp4");
    assert_eq!(desk.set([bad]).unwrap().code(), 1);
    becomes(&mut desk, "released", &["user"]);
    desk.set([clips::moving(320, 180, 30, 2.0).unwrap()])
        .unwrap()
        .ok()
        .unwrap();
    becomes(&mut desk, "playing", &[]);
    desk.wait_frames(OUTPUT, 5).unwrap();
}

#[test]
fn one_of_two_outputs_comes_back_and_the_other_joins_it() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    configure(&sway, "[holds]\nrelease_after = 0\n");
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    desk.set([clips::numbered(320, 180, 30, 20.0).unwrap()])
        .unwrap()
        .ok()
        .unwrap();
    client(&desk, &["pause"]).unwrap();
    for output in [OUTPUT, "HEADLESS-2"] {
        desk.wait_output(output, "released", |status| status["state"] == "released")
            .unwrap();
    }
    client(&desk, &["resume", "--output", OUTPUT]).unwrap();
    desk.wait_frames(OUTPUT, 10).unwrap();
    assert_eq!(desk.daemon.output("HEADLESS-2").unwrap()["state"], "released");
    client(&desk, &["resume"]).unwrap();
    desk.wait_frames("HEADLESS-2", 10).unwrap();
    assert_eq!(desk.daemon.output("HEADLESS-2").unwrap()["holds"], json!([]));
}
