//! Several outputs: which have a wallpaper, who shares a decode, who comes and goes.

use anyhow::Result;
use serde_json::Value;
use veil_testkit::{Desk, Sway, clips};

fn video_on(output: &Value) -> bool {
    output["state"] == "playing" && output["frames"]["shown"].as_u64() > Some(5)
}

/// Waits until one pipeline is left: a thread that reads the file. Those of the look ahead end a second after it.
fn one_pipeline(desk: &Desk) -> Result<()> {
    veil_testkit::wait_until("one pipeline plays", veil_testkit::GENEROUS, || {
        let threads = desk.daemon.process().threads().unwrap_or_default();
        threads
            .iter()
            .filter(|thread| thread.name.starts_with("typefind"))
            .count()
            == 1
    })
}

#[test]
fn one_decode_serves_all_also_those_that_come_later() -> Result<()> {
    let sway = Sway::builder().output("640x360").output("1280x720").start()?;
    let mut desk = Desk::on(sway, [""; 0])?;
    desk.set([clips::moving(640, 360, 30, 2.0)?])?.ok()?;
    desk.wait_output("HEADLESS-1", "the first", video_on)?;
    desk.wait_output("HEADLESS-2", "the second", video_on)?;
    one_pipeline(&desk)?;
    let third = desk.sway.create_output("800x600")?;
    desk.wait_output(&third, "the third", video_on)?;
    one_pipeline(&desk)?;
    // Other modes share it, too.
    let clip = clips::moving(640, 360, 30, 2.0)?;
    let arguments = [
        "--output".as_ref(),
        "HEADLESS-2".as_ref(),
        "--mode".as_ref(),
        "tile".as_ref(),
        clip.as_os_str(),
    ];
    desk.set(arguments)?.ok()?;
    desk.wait_output("HEADLESS-2", "tiles", |output| {
        video_on(output) && output["mode"] == "tile"
    })?;
    desk.wait_output("HEADLESS-1", "still there", video_on)?;
    one_pipeline(&desk)?;
    // One of them alone stands still, and joins again.
    desk.daemon.client(["pause", "--output", "HEADLESS-1"])?.ok()?;
    desk.wait_output("HEADLESS-1", "paused alone", |output| output["state"] == "paused")?;
    let still = desk.sway.screenshot("HEADLESS-1")?;
    desk.wait_frames("HEADLESS-2", 20)?;
    assert_eq!(desk.sway.screenshot("HEADLESS-1")?.max_difference(&still), 0);
    desk.daemon.client(["resume"])?.ok()?;
    desk.wait_frames("HEADLESS-1", 5)?;
    Ok(())
}

#[test]
fn each_output_may_have_its_own() -> Result<()> {
    let sway = Sway::builder().output("640x360").output("640x360").start()?;
    let mut desk = Desk::on(sway, [""; 0])?;
    let picture = clips::quadrants(640, 360)?;
    desk.set([clips::moving(320, 180, 30, 2.0)?])?.ok()?;
    desk.set(["--output".as_ref(), "HEADLESS-2".as_ref(), picture.as_os_str()])?
        .ok()?;
    assert_eq!(desk.daemon.output("HEADLESS-1")?["kind"], "video");
    assert_eq!(desk.daemon.output("HEADLESS-2")?["kind"], "still");
    desk.restart([""; 0])?;
    desk.wait_output("HEADLESS-1", "restored", |output| output["kind"] == "video")?;
    desk.wait_output("HEADLESS-2", "restored", |output| output["kind"] == "still")?;
    Ok(())
}

#[test]
fn outputs_that_are_not_named_are_left_alone() -> Result<()> {
    let sway = Sway::builder()
        .output("640x360")
        .output("640x360")
        .output("640x360")
        .start()?;
    let picture = clips::quadrants(640, 360)?;
    let desk = Desk::on(sway, ["--output", "HEADLESS-1", "--output", "HEADLESS-3"])?;
    desk.set([&picture])?.ok()?;
    let status = desk.daemon.status()?;
    let names: Vec<_> = status["outputs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|output| &output["name"])
        .collect();
    assert_eq!(names, ["HEADLESS-1", "HEADLESS-3"]);
    assert!(clips::is_quadrants(
        &desk.sway.screenshot("HEADLESS-3")?,
        veil_testkit::Rect::new(0, 0, 640, 360),
        4
    ));
    let ran = desk.set(["--output".as_ref(), "HEADLESS-2".as_ref(), picture.as_os_str()])?;
    assert_eq!(ran.code(), 1);
    Ok(())
}

#[test]
fn an_output_that_goes_leaves_the_others_and_comes_back() -> Result<()> {
    let sway = Sway::builder().output("640x360").pluggable().start()?;
    let mut desk = Desk::on(sway, [""; 0])?;
    desk.set([clips::moving(320, 180, 30, 2.0)?])?.ok()?;
    let first = desk.sway.output_names()?[0].clone();
    let before = desk.daemon.process().descriptors()?.len();
    for _ in 0..10 {
        let name = desk.sway.create_output("640x360")?;
        desk.wait_output(&name, "the new one shows it", video_on)?;
        desk.sway.output(&name).unplug()?;
        desk.daemon
            .wait_status("it is gone", veil_testkit::GENEROUS, |status| {
                status["outputs"]
                    .as_array()
                    .is_some_and(|outputs| outputs.len() == 1)
            })?;
    }
    desk.wait_frames(&first, 10)?;
    assert!(desk.daemon.process().descriptors()?.len() <= before + 1);
    // And the last one: nothing is left, and then it is back.
    desk.sway.output(&first).unplug()?;
    desk.daemon
        .wait_status("none is left", veil_testkit::GENEROUS, |status| {
            status["outputs"].as_array().is_some_and(Vec::is_empty)
        })?;
    let back = desk.sway.create_output("640x360")?;
    desk.wait_output(&back, "it is back", video_on)?;
    desk.daemon.check_alive()
}

#[test]
fn a_change_of_mode_is_followed() -> Result<()> {
    let mut desk = Desk::start("640x360", [""; 0])?;
    desk.set([clips::quadrants(640, 360)?])?.ok()?;
    desk.sway.output("HEADLESS-1").mode("800x600")?;
    desk.wait_first("the new size", |output| {
        output["size"] == Value::from(vec![800, 600])
    })?;
    desk.wait_shot("resized", |shot| {
        shot.size() == (800, 600) && clips::is_quadrants(shot, shot.all(), 6)
    })?;
    desk.sway.output("HEADLESS-1").transform("90")?;
    desk.wait_first("turned", |output| output["size"] == Value::from(vec![600, 800]))?;
    desk.set([clips::quadrants_video(640, 360)?])?.ok()?;
    desk.wait_shot("turned", |shot| {
        shot.size() == (600, 800) && clips::is_quadrants(shot, shot.all(), 8)
    })?;
    Ok(())
}
