//! One decode and one conversion for all outputs that show the same file.

use std::path::Path;

use anyhow::{Context, Result};
use veil_testkit::{Desk, GENEROUS, Sway, clips, wait_until};

const NO_ARGUMENTS: [&str; 0] = [];

fn two() -> Result<Desk> {
    let sway = Sway::builder().output("320x180").output("320x180").start()?;
    Desk::on(sway, NO_ARGUMENTS)
}

/// How many videos were opened.
fn opened(desk: &Desk) -> usize {
    desk.daemon.log().matches("video decoder:").count()
}

fn threads(desk: &Desk) -> usize {
    desk.daemon.process().threads().map_or(0, |threads| threads.len())
}

fn set_on(desk: &Desk, output: &str, file: &Path) -> Result<()> {
    let ran = desk.set(["--output".as_ref(), output.as_ref(), file.as_os_str()])?;
    ran.ok().map(drop)
}

/// The number of the frame that an output shows.
fn number(desk: &Desk, output: &str) -> Result<u32> {
    let shot = desk.sway.screenshot(output)?;
    clips::read_number(&shot, shot.all()).context("no whole frame is shown")
}

/// That the outputs are at the same place of a clip of many seconds: a picture of the second, taken between two of the
/// first, shows nothing that is not between theirs.
fn together(desk: &Desk, one: &str, two: &str) -> Result<()> {
    let before = number(desk, one)?;
    let between = number(desk, two)?;
    let after = number(desk, one)?;
    // A frame that is committed at one moment reaches two outputs at different ones.
    assert!(
        before <= between + 2 && between <= after + 2,
        "{before}, {between}, {after}"
    );
    Ok(())
}

#[test]
fn outputs_set_together_share() {
    let clip = clips::numbered(320, 180, 30, 20.0).unwrap();
    let mut desk = two().unwrap();
    set_on(&desk, "HEADLESS-1", &clip).unwrap();
    desk.wait_frames("HEADLESS-1", 5).unwrap();
    let alone = threads(&desk);
    desk.set([&clip]).unwrap().ok().unwrap();
    desk.wait_frames("HEADLESS-2", 5).unwrap();
    assert_eq!(opened(&desk), 1, "{}", desk.daemon.log());
    wait_until("no more threads than before", GENEROUS, || {
        threads(&desk) <= alone
    })
    .unwrap();
    together(&desk, "HEADLESS-1", "HEADLESS-2").unwrap();
}

#[test]
fn an_output_that_comes_to_it_later_joins() {
    let clip = clips::numbered(320, 180, 30, 20.0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("another name");
    std::os::unix::fs::symlink(&clip, &link).unwrap();
    let mut desk = two().unwrap();
    set_on(&desk, "HEADLESS-1", &clip).unwrap();
    desk.wait_frames("HEADLESS-1", 30).unwrap();
    let alone = threads(&desk);
    // By name, by another name of the same file, and because it was plugged in.
    set_on(&desk, "HEADLESS-2", &link).unwrap();
    desk.wait_frames("HEADLESS-2", 5).unwrap();
    together(&desk, "HEADLESS-1", "HEADLESS-2").unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    let third = desk.sway.create_output("320x180").unwrap();
    desk.wait_output(&third, "the wallpaper", |output| output["state"] == "playing")
        .unwrap();
    desk.wait_frames(&third, 5).unwrap();
    together(&desk, "HEADLESS-1", &third).unwrap();
    assert_eq!(opened(&desk), 1, "{}", desk.daemon.log());
    wait_until("no more threads than before", GENEROUS, || {
        threads(&desk) <= alone
    })
    .unwrap();
}

#[test]
fn sizes_and_modes_may_differ() {
    let sway = Sway::builder()
        .output("640x360")
        .output("200x300")
        .start()
        .unwrap();
    let clip = clips::quadrants_video(1280, 720).unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    set_on(&desk, "HEADLESS-1", &clip).unwrap();
    let stretched = [
        "--output",
        "HEADLESS-2",
        "--mode",
        "stretch",
        clip.to_str().unwrap(),
    ];
    desk.set(stretched).unwrap().ok().unwrap();
    for output in ["HEADLESS-1", "HEADLESS-2"] {
        desk.sway
            .wait_for_picture(output, &format!("shared-{output}"), GENEROUS, |shot| {
                clips::is_quadrants(shot, shot.all(), 6)
            })
            .unwrap();
        desk.wait_frames(output, 5).unwrap();
    }
    assert_eq!(opened(&desk), 1, "{}", desk.daemon.log());
}

#[test]
fn the_pipeline_ends_with_the_last_that_leaves() {
    let clip = clips::moving(320, 180, 30, 2.0).unwrap();
    let still = clips::quadrants(320, 180).unwrap();
    let mut desk = two().unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    set_on(&desk, "HEADLESS-1", &still).unwrap();
    desk.wait_frames("HEADLESS-2", 10).unwrap();
    assert!(threads(&desk) > 1);
    set_on(&desk, "HEADLESS-2", &still).unwrap();
    wait_until("the threads to end", GENEROUS, || threads(&desk) == 1).unwrap();
    // And begins anew.
    desk.set([&clip]).unwrap().ok().unwrap();
    desk.wait_frames("HEADLESS-1", 5).unwrap();
    desk.wait_frames("HEADLESS-2", 5).unwrap();
    assert_eq!(opened(&desk), 2, "{}", desk.daemon.log());
}

#[test]
fn a_file_that_was_replaced_is_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = clips::copy_as(
        &clips::plain([200, 30, 30]).unwrap(),
        folder.path(),
        "wallpaper.mp4",
    )
    .unwrap();
    let desk = two().unwrap();
    set_on(&desk, "HEADLESS-1", &file).unwrap();
    std::fs::remove_file(&file).unwrap();
    clips::copy_as(
        &clips::plain([40, 60, 200]).unwrap(),
        folder.path(),
        "wallpaper.mp4",
    )
    .unwrap();
    set_on(&desk, "HEADLESS-2", &file).unwrap();
    let shows = |output: &str, colour| {
        desk.sway
            .wait_for_picture(output, &format!("replaced-{output}"), GENEROUS, |shot| {
                shot.is_plain(colour, 4)
            })
            .unwrap();
    };
    shows("HEADLESS-2", [40, 60, 200]);
    shows("HEADLESS-1", [200, 30, 30]);
    assert_eq!(opened(&desk), 2);
}
