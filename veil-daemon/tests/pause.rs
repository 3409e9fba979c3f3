//! Pausing: what stands still, what goes on, and where it goes on from.

use anyhow::{Context, Result};
use veil_testkit::{Desk, GENEROUS, Shot, Sway, clips};

const RED: [u8; 3] = [200, 30, 30];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const OUTPUT: &str = "HEADLESS-1";
const NO_ARGUMENTS: [&str; 0] = [];

fn client(desk: &Desk, arguments: &[&str]) -> Result<()> {
    desk.daemon.client(arguments)?.ok().map(drop)
}

/// The number of the frame that an output shows.
fn number(desk: &Desk, output: &str) -> Result<u32> {
    let shot = desk.sway.screenshot(output)?;
    clips::read_number(&shot, shot.all()).context("no whole frame is shown")
}

/// Waits until what was on its way is shown, then looks often enough that something that plays would have moved.
fn stands_still(desk: &Desk, output: &str) -> Result<Shot> {
    let mut last = None;
    let still = desk
        .sway
        .wait_for_picture(output, "stands-still", GENEROUS, |shot| {
            last.replace(shot.clone()).is_some_and(|last| last == *shot)
        })?;
    let look = || -> Result<u64> {
        for _ in 0..10 {
            assert_eq!(desk.sway.screenshot(output)?, still, "it moves");
        }
        desk.daemon.frames_shown(output)
    };
    // The word that the last frame was shown may be on its way while the first pictures are taken.
    assert_eq!(look()?, look()?, "frames are shown");
    Ok(still)
}

#[test]
fn it_goes_on_from_where_it_stood() {
    let clip = clips::numbered(320, 180, 30, 20.0).unwrap();
    let mut desk = Desk::start("320x180", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    desk.wait_frames(OUTPUT, 10).unwrap();
    let mut before = 0;
    for _ in 0..3 {
        client(&desk, &["pause"]).unwrap();
        assert_eq!(desk.first().unwrap()["state"], "paused");
        stands_still(&desk, OUTPUT).unwrap();
        // The time of 60 frames passes: were the clock not held too, it would skip that many.
        std::thread::sleep(std::time::Duration::from_secs(2));
        let held = number(&desk, OUTPUT).unwrap();
        assert!(held > before);
        client(&desk, &["resume"]).unwrap();
        assert_eq!(desk.first().unwrap()["state"], "playing");
        let shot = desk
            .wait_shot("goes-on", |shot| {
                clips::read_number(shot, shot.all()) != Some(held)
            })
            .unwrap();
        let next = clips::read_number(&shot, shot.all()).expect("a whole frame");
        assert!(
            next > held && next < held + 45,
            "stood at {held}, went on with {next}"
        );
        before = next;
    }
}

#[test]
fn a_pause_is_one_state_however_often_it_is_asked_for() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([clips::moving(320, 180, 30, 2.0).unwrap()])
        .unwrap()
        .ok()
        .unwrap();
    for _ in 0..3 {
        client(&desk, &["pause"]).unwrap();
    }
    stands_still(&desk, OUTPUT).unwrap();
    client(&desk, &["resume"]).unwrap();
    desk.wait_frames(OUTPUT, 5).unwrap();
    client(&desk, &["resume"]).unwrap();
    client(&desk, &["toggle"]).unwrap();
    assert_eq!(desk.first().unwrap()["state"], "paused");
    stands_still(&desk, OUTPUT).unwrap();
    client(&desk, &["toggle"]).unwrap();
    assert_eq!(desk.first().unwrap()["state"], "playing");
    desk.wait_frames(OUTPUT, 5).unwrap();
    // As fast as they come.
    for _ in 0..25 {
        client(&desk, &["toggle"]).unwrap();
    }
    stands_still(&desk, OUTPUT).unwrap();
    client(&desk, &["toggle"]).unwrap();
    desk.wait_frames(OUTPUT, 5).unwrap();
}

#[test]
fn a_new_wallpaper_is_shown_though_the_old_one_was_paused() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let video = clips::moving(320, 180, 30, 2.0).unwrap();
    for (next, colour) in [
        (clips::plain(RED).unwrap(), RED),
        (clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(), BLUE),
    ] {
        desk.set([&video]).unwrap().ok().unwrap();
        client(&desk, &["pause"]).unwrap();
        desk.set([&next]).unwrap().ok().unwrap();
        assert!(desk.shot().unwrap().is_plain(colour, NEAR));
        desk.set([&video]).unwrap().ok().unwrap();
        desk.wait_frames(OUTPUT, 5).unwrap();
        assert_eq!(desk.first().unwrap()["state"], "playing");
    }
    // The same file again: it plays too.
    client(&desk, &["pause"]).unwrap();
    desk.set([&video]).unwrap().ok().unwrap();
    desk.wait_frames(OUTPUT, 5).unwrap();
}

#[test]
fn a_bad_file_does_not_end_a_pause() {
    // The first to ask has them made, which may take longer than a video may stand still.
    let bad = clips::inputs().unwrap().join("text.mp4");
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([clips::moving(320, 180, 30, 2.0).unwrap()])
        .unwrap()
        .ok()
        .unwrap();
    client(&desk, &["pause"]).unwrap();
    let before = stands_still(&desk, OUTPUT).unwrap();
    assert_eq!(desk.set([bad]).unwrap().code(), 1);
    assert_eq!(stands_still(&desk, OUTPUT).unwrap(), before);
    assert_eq!(desk.first().unwrap()["state"], "paused");
}

#[test]
fn a_paused_picture_follows_its_outputs_size() {
    let video = clips::quadrants_video(640, 360).unwrap();
    let desk = Desk::start("320x180", ["--input".as_ref(), video.as_os_str()]).unwrap();
    desk.wait_shot("playing", |shot| clips::is_quadrants(shot, shot.all(), 6))
        .unwrap();
    client(&desk, &["pause"]).unwrap();
    for mode in ["640x360", "200x300", "500x100"] {
        desk.sway.output(OUTPUT).mode(mode).unwrap();
        desk.wait_shot(&format!("paused-{mode}"), |shot| {
            clips::is_quadrants(shot, shot.all(), 6)
        })
        .unwrap();
    }
    assert_eq!(desk.first().unwrap()["state"], "paused");
}

#[test]
fn one_output_may_stand_still_alone() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    let clip = clips::numbered(320, 180, 30, 20.0).unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    desk.wait_frames(OUTPUT, 10).unwrap();
    client(&desk, &["pause", "--output", "HEADLESS-2"]).unwrap();
    assert_eq!(desk.daemon.output("HEADLESS-2").unwrap()["state"], "paused");
    assert_eq!(desk.daemon.output(OUTPUT).unwrap()["state"], "playing");
    stands_still(&desk, "HEADLESS-2").unwrap();
    desk.wait_frames(OUTPUT, 60).unwrap();
    let (moving, held) = (
        number(&desk, OUTPUT).unwrap(),
        number(&desk, "HEADLESS-2").unwrap(),
    );
    assert!(moving > held + 30, "{moving} and {held}");
    // Then it is where the other is, at once.
    client(&desk, &["resume", "--output", "HEADLESS-2"]).unwrap();
    desk.sway
        .wait_for_picture("HEADLESS-2", "rejoined", GENEROUS, |shot| {
            clips::read_number(shot, shot.all()).is_some_and(|number| number >= moving)
        })
        .unwrap();
    desk.wait_frames("HEADLESS-2", 5).unwrap();
    // Both, one after the other, and one of them on again.
    client(&desk, &["pause", "--output", OUTPUT]).unwrap();
    client(&desk, &["pause", "--output", "HEADLESS-2"]).unwrap();
    stands_still(&desk, OUTPUT).unwrap();
    stands_still(&desk, "HEADLESS-2").unwrap();
    client(&desk, &["resume", "--output", OUTPUT]).unwrap();
    desk.wait_frames(OUTPUT, 5).unwrap();
    stands_still(&desk, "HEADLESS-2").unwrap();
    client(&desk, &["toggle", "--output", "HEADLESS-2"]).unwrap();
    desk.wait_frames("HEADLESS-2", 5).unwrap();
}

#[test]
fn pausing_where_nothing_moves_does_no_harm() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let picture = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    for command in ["pause", "resume", "toggle", "toggle"] {
        client(&desk, &[command]).unwrap();
    }
    assert_eq!(desk.first().unwrap()["state"], "empty");
    desk.set([&picture]).unwrap().ok().unwrap();
    for command in ["pause", "resume", "toggle", "toggle"] {
        client(&desk, &[command]).unwrap();
        assert_eq!(desk.first().unwrap()["state"], "still");
    }
    assert!(desk.shot().unwrap().is_plain(BLUE, NEAR));
    desk.set([clips::inputs().unwrap().join("oneframe.mp4")])
        .unwrap()
        .ok()
        .unwrap();
    for command in ["pause", "resume", "toggle", "toggle"] {
        client(&desk, &[command]).unwrap();
    }
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    assert!(desk.shot().unwrap().is_plain(RED, NEAR));
}
