//! Outputs that go at the worst moment, come back, and change, by a mock compositor.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use veil_testkit::mock::{Mock, MockOutput, Pace, Releases, Stage};
use veil_testkit::{GENEROUS, clips, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

fn output(name: &str) -> MockOutput {
    MockOutput::new(name, 320, 180)
}

fn stage(names: &[&str]) -> Result<Stage> {
    let mock = names
        .iter()
        .fold(Mock::builder(), |mock, name| mock.output(output(name)));
    Stage::start(mock, NO_ARGUMENTS)
}

fn set(stage: &Stage, arguments: &[&str], file: &Path) -> Result<()> {
    let file = file.to_string_lossy();
    let arguments = arguments.iter().copied().chain([&*file]);
    stage.daemon.set(arguments)?.ok().map(drop)
}

fn outputs(stage: &mut Stage, count: usize) -> Result<()> {
    let is = |status: &serde_json::Value| status["outputs"].as_array().map(Vec::len) == Some(count);
    stage
        .daemon
        .wait_status("that many outputs", GENEROUS, is)
        .map(drop)
}

fn plain(stage: &Stage, output: &str, colour: [u8; 3]) -> Result<()> {
    stage
        .mock
        .wait_for_picture(output, &format!("plain-{output}"), |shot| {
            shot.is_plain(colour, NEAR)
        })
        .map(drop)
}

fn stands(stage: &mut Stage) -> Result<()> {
    assert_eq!(stage.mock.complaints(), Vec::<String>::new());
    stage.daemon.check_alive()
}

/// The number of the frame that is on an output.
fn number(stage: &Stage, output: &str) -> Result<u32> {
    let mut number = None;
    stage.mock.wait_for_picture(output, "a whole frame", |shot| {
        number = clips::read_number(shot, shot.all());
        number.is_some()
    })?;
    Ok(number.unwrap_or_default())
}

/// Nothing that was committed to an output is ever answered from now on, and something was.
fn freeze(stage: &Stage, output: &str) -> Result<()> {
    stage.mock.set_releases(Releases::Never);
    stage.mock.change(output, |output| output.pace = Pace::ByHand)?;
    wait_until("a frame in flight", GENEROUS, || {
        let parts = stage.mock.parts(output);
        parts.iter().any(|part| part.feedback > 0 && part.held > 0)
    })
}

#[test]
fn an_output_goes_with_a_frame_in_flight_and_comes_back() {
    let clip = clips::numbered(320, 180, 30, 20.0).unwrap();
    for silently in [false, true] {
        let mut stage = stage(&["DP-1"]).unwrap();
        set(&stage, &[], &clip).unwrap();
        stage.daemon.wait_frames("DP-1", 45).unwrap();
        for gone in [0, 3] {
            freeze(&stage, "DP-1").unwrap();
            let before = number(&stage, "DP-1").unwrap();
            if silently {
                stage.mock.unplug_silently("DP-1").unwrap();
            } else {
                stage.mock.unplug("DP-1").unwrap();
            }
            outputs(&mut stage, 0).unwrap();
            // Long enough that a video that went on would be somewhere else.
            std::thread::sleep(Duration::from_secs(gone));
            stage.mock.set_releases(Releases::AtRefresh);
            stage.mock.plug(output("DP-1"));
            stage
                .daemon
                .wait_output("DP-1", "frames", |output| {
                    output["frames"]["shown"].as_u64() > Some(5)
                })
                .unwrap();
            // It stood still meanwhile, and goes on from there.
            let after = number(&stage, "DP-1").unwrap();
            assert!((before..before + 60).contains(&after), "{before}, {after}");
        }
        assert_eq!(stage.daemon.log().matches("video decoder:").count(), 1);
        stands(&mut stage).unwrap();
    }
}

#[test]
fn one_of_two_goes_with_a_frame_in_flight() {
    let clip = clips::numbered(320, 180, 30, 20.0).unwrap();
    let mut stage = stage(&["DP-1", "DP-2"]).unwrap();
    set(&stage, &[], &clip).unwrap();
    stage.daemon.wait_frames("DP-2", 15).unwrap();
    for round in 0..4 {
        freeze(&stage, "DP-2").unwrap();
        if round % 2 == 0 {
            stage.mock.unplug("DP-2").unwrap();
        } else {
            stage.mock.unplug_silently("DP-2").unwrap();
        }
        stage.mock.set_releases(Releases::AtRefresh);
        outputs(&mut stage, 1).unwrap();
        // What DP-2 had held back is free again.
        stage.daemon.wait_frames("DP-1", 15).unwrap();
        stage.mock.plug(output("DP-2"));
        stage
            .daemon
            .wait_output("DP-2", "frames", |output| {
                output["frames"]["shown"].as_u64() > Some(5)
            })
            .unwrap();
        let (one, two) = (number(&stage, "DP-1").unwrap(), number(&stage, "DP-2").unwrap());
        assert!(one <= two + 3 && two <= one + 10, "{one}, {two}");
    }
    assert_eq!(stage.daemon.log().matches("video decoder:").count(), 1);
    stands(&mut stage).unwrap();
}

#[test]
fn outputs_come_and_go_faster_than_veil_can_look() {
    let clip = clips::moving(320, 180, 30, 1.0).unwrap();
    let mut stage = stage(&["DP-1"]).unwrap();
    set(&stage, &[], &clip).unwrap();
    stage.daemon.wait_frames("DP-1", 10).unwrap();
    let churn = |stage: &mut Stage| {
        for round in 0..50 {
            stage.mock.plug(output("DP-2"));
            // From "before the client can have bound it" to "something is on it".
            std::thread::sleep(Duration::from_millis(round % 10 * 3));
            if round % 2 == 0 {
                stage.mock.unplug("DP-2").unwrap();
            } else {
                stage.mock.unplug_silently("DP-2").unwrap();
            }
        }
        outputs(stage, 1).unwrap();
        stage.daemon.wait_frames("DP-1", 10).unwrap();
        stage.daemon.process().descriptors().unwrap().len()
    };
    let before = churn(&mut stage);
    let after = churn(&mut stage);
    assert!(after <= before + 2, "{before} descriptors, then {after}");
    assert_eq!(stage.mock.surfaces().len(), 2);
    stage.mock.plug(output("DP-2"));
    stage
        .daemon
        .wait_output("DP-2", "frames", |output| {
            output["frames"]["shown"].as_u64() > Some(5)
        })
        .unwrap();
    stands(&mut stage).unwrap();
}

#[test]
fn the_last_output_is_gone_for_a_moment() {
    let still = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    for (file, colour) in [(clips::plain(RED).unwrap(), RED), (still, BLUE)] {
        let mut stage = stage(&["DP-1"]).unwrap();
        set(&stage, &[], &file).unwrap();
        plain(&stage, "DP-1", colour).unwrap();
        for wait in [0, 5, 300] {
            stage.mock.unplug("DP-1").unwrap();
            std::thread::sleep(Duration::from_millis(wait));
            stage.mock.plug(output("DP-1"));
            plain(&stage, "DP-1", colour).unwrap();
        }
        stands(&mut stage).unwrap();
    }
}

#[test]
fn each_output_gets_back_what_was_its_own() {
    let mut stage = stage(&["DP-1", "DP-2"]).unwrap();
    set(&stage, &["--output", "DP-1"], &clips::plain(RED).unwrap()).unwrap();
    let still = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    set(&stage, &["--output", "DP-2"], &still).unwrap();
    stage.mock.unplug("DP-1").unwrap();
    stage.mock.unplug("DP-2").unwrap();
    outputs(&mut stage, 0).unwrap();
    // One of another name has nothing, since nothing was set for all.
    for name in ["HDMI-1", "DP-2", "DP-1"] {
        stage.mock.plug(output(name));
    }
    plain(&stage, "DP-1", RED).unwrap();
    plain(&stage, "DP-2", BLUE).unwrap();
    assert!(stage.mock.picture("HDMI-1").unwrap().is_plain([0; 3], 0));
    // What is set for all is for whatever comes.
    set(&stage, &[], &clips::plain(GREEN).unwrap()).unwrap();
    for name in ["HDMI-1", "DP-2", "DP-1"] {
        stage.mock.unplug(name).unwrap();
    }
    outputs(&mut stage, 0).unwrap();
    for name in ["DP-3", "DP-4"] {
        stage.mock.plug(output(name));
        plain(&stage, name, GREEN).unwrap();
    }
    stands(&mut stage).unwrap();
}

#[test]
fn who_waits_for_an_output_that_goes_is_told() {
    for file in [clips::plain(RED).unwrap(), clips::quadrants(640, 360).unwrap()] {
        let mut stage = stage(&["DP-1"]).unwrap();
        stage
            .mock
            .change("DP-1", |output| output.pace = Pace::ByHand)
            .unwrap();
        let ran = std::thread::scope(|scope| {
            let client = scope.spawn(|| stage.daemon.set([&file]));
            wait_until("the commit", GENEROUS, || stage.mock.pictures("DP-1") > 0).unwrap();
            stage.mock.unplug("DP-1").unwrap();
            client.join().unwrap().unwrap().ok().unwrap()
        });
        assert!(!ran.stdout.is_empty(), "nobody has seen it: {ran:?}");
        // It is kept for the output that comes.
        stage.mock.plug(output("DP-1"));
        stage
            .daemon
            .wait_output("DP-1", "the wallpaper", |output| {
                output["frames"]["shown"].as_u64() >= Some(1)
            })
            .unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn an_output_changes_while_it_plays() {
    let video = clips::quadrants_video(640, 360).unwrap();
    for file in [clips::quadrants(640, 360).unwrap(), video.clone()] {
        let mut stage = stage(&["DP-1"]).unwrap();
        set(&stage, &[], &file).unwrap();
        let kind = file.extension().unwrap().to_string_lossy();
        for (mode, scale, transform) in [
            ((640, 360), 1.0, 0),
            ((1366, 768), 1.0, 1),
            ((1366, 768), 1.25, 3),
            ((641, 361), 1.5, 0),
            ((641, 361), 1.5, 5),
            ((300, 900), 1.75, 2),
            ((300, 900), 2.0, 7),
            ((1280, 720), 1.5, 4),
            ((320, 180), 1.0, 6),
        ] {
            stage
                .mock
                .change("DP-1", |output| {
                    output.mode = Some(mode);
                    output.scale = scale;
                    output.transform = transform;
                })
                .unwrap();
            let pixels = if transform % 2 == 1 {
                (mode.1, mode.0)
            } else {
                mode
            };
            let name = format!("changed-{}x{}-{scale}-{transform}-{kind}", mode.0, mode.1);
            stage
                .mock
                .wait_for_picture("DP-1", &name, |shot| {
                    shot.size() == pixels && clips::is_quadrants(shot, shot.all(), 6)
                })
                .unwrap();
            let logical = |pixels: u32| (f64::from(pixels) / scale) as i32;
            let covered = Some((logical(pixels.0), logical(pixels.1)));
            wait_until("the whole output covered", GENEROUS, || {
                stage.mock.parts("DP-1")[0].destination == covered
                    && stage.mock.layers("DP-1")[0].0.destination == covered
            })
            .unwrap();
            // A still is drawn for these very pixels.
            let drawn = (pixels.0 as i32, pixels.1 as i32);
            wait_until("a picture of that size", GENEROUS, || {
                let part = &stage.mock.parts("DP-1")[0];
                part.buffer == Some(drawn) || (file == video && part.buffer.is_some())
            })
            .unwrap();
        }
        stands(&mut stage).unwrap();
    }
}

#[test]
fn one_stream_for_outputs_of_every_shape() {
    let sizes = [(640, 360), (360, 640), (1366, 768), (641, 361), (200, 900)];
    let scales = [1.0, 1.25, 1.5, 1.75, 2.0];
    let mut mock = Mock::builder();
    for transform in 0..8 {
        let at = transform as usize;
        let (width, height) = sizes[at % sizes.len()];
        let output = MockOutput::new(&format!("DP-{transform}"), width, height)
            .scale(scales[(at + at / 5) % scales.len()])
            .transform(transform);
        mock = mock.output(output);
    }
    let mut stage = Stage::start(mock, NO_ARGUMENTS).unwrap();
    for file in [
        clips::quadrants(640, 360).unwrap(),
        clips::quadrants_video(640, 360).unwrap(),
    ] {
        for mode in ["fill", "stretch"] {
            set(&stage, &["--mode", mode], &file).unwrap();
            for transform in 0..8 {
                let name = format!("DP-{transform}");
                stage
                    .mock
                    .wait_for_picture(&name, &format!("every-{mode}-{name}"), |shot| {
                        clips::is_quadrants(shot, shot.all(), 6)
                    })
                    .unwrap();
            }
        }
    }
    for transform in 0..8 {
        stage.daemon.wait_frames(&format!("DP-{transform}"), 5).unwrap();
    }
    assert_eq!(stage.daemon.log().matches("video decoder:").count(), 1);
    stands(&mut stage).unwrap();
}

#[test]
fn an_output_goes_in_the_middle_of_a_change() {
    let files = [
        clips::plain(RED).unwrap(),
        clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(),
        clips::plain(GREEN).unwrap(),
    ];
    let mut stage = stage(&["DP-1", "DP-2"]).unwrap();
    std::thread::scope(|scope| {
        for round in 0..50 {
            let file = &files[round % files.len()];
            let daemon = &stage.daemon;
            let client = scope.spawn(move || daemon.set([file]));
            std::thread::sleep(Duration::from_millis(round as u64 * 7 % 60));
            let gone = ["DP-1", "DP-2"][round / 3 % 2];
            stage.mock.unplug(gone).unwrap();
            stage.mock.plug(output(gone));
            // It is shown, or kept: either way that is said, and nobody waits for what is gone.
            client.join().unwrap().unwrap().ok().unwrap();
        }
    });
    set(&stage, &[], &files[0]).unwrap();
    for name in ["DP-1", "DP-2"] {
        plain(&stage, name, RED).unwrap();
    }
    assert_eq!(stage.mock.surfaces().len(), 4);
    stands(&mut stage).unwrap();
}

#[test]
fn an_output_may_have_no_pixels_at_first() {
    for file in [
        clips::quadrants(640, 360).unwrap(),
        clips::quadrants_video(640, 360).unwrap(),
    ] {
        let mut nothing = output("DP-1");
        nothing.mode = Some((0, 0));
        let mut stage = Stage::start(Mock::builder().output(nothing), NO_ARGUMENTS).unwrap();
        set(&stage, &[], &file).unwrap();
        stage
            .mock
            .change("DP-1", |output| output.mode = Some((320, 180)))
            .unwrap();
        stage
            .mock
            .wait_for_picture("DP-1", "pixels at last", |shot| {
                clips::is_quadrants(shot, shot.all(), 6)
            })
            .unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn an_output_that_comes_while_a_wallpaper_is_on_its_way() {
    for (before, file, colour) in [
        (None, clips::plain(RED).unwrap(), RED),
        (
            Some(clips::plain(GREEN).unwrap()),
            clips::plain(RED).unwrap(),
            RED,
        ),
        (
            Some(clips::plain(GREEN).unwrap()),
            clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(),
            BLUE,
        ),
    ] {
        let mut stage = stage(&["DP-1"]).unwrap();
        if let Some(before) = &before {
            set(&stage, &[], before).unwrap();
        }
        // Nobody says that it was seen, so it takes until veil gives up waiting.
        stage
            .mock
            .change("DP-1", |output| output.pace = Pace::ByHand)
            .unwrap();
        std::thread::scope(|scope| {
            let daemon = &stage.daemon;
            let seen = stage.mock.pictures("DP-1");
            let client = scope.spawn(|| daemon.set([&file]));
            wait_until("it on its way", GENEROUS, || stage.mock.pictures("DP-1") > seen).unwrap();
            stage.mock.plug(output("DP-2"));
            client.join().unwrap().unwrap().ok().unwrap();
        });
        plain(&stage, "DP-2", colour).unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn what_is_newer_for_one_output_outlives_what_is_older_for_all() {
    let green = clips::plain(GREEN).unwrap();
    let green = green.to_str().unwrap();
    let bad = clips::inputs().unwrap().join("text.mp4");
    let only = ["--output", "DP-2"];
    for (newer, colour) in [
        ([&["set"], &only[..], &[green]].concat(), GREEN),
        ([&["clear"], &only[..]].concat(), [0; 3]),
        // What fails leaves the older one.
        ([&["set"], &only[..], &[bad.to_str().unwrap()]].concat(), RED),
    ] {
        let mut stage = stage(&["DP-1", "DP-2"]).unwrap();
        stage
            .mock
            .change("DP-1", |output| output.pace = Pace::ByHand)
            .unwrap();
        std::thread::scope(|scope| {
            let daemon = &stage.daemon;
            let client = scope.spawn(|| daemon.set([clips::plain(RED)?]));
            plain(&stage, "DP-2", RED).unwrap();
            // The older one still waits for DP-1.
            let ran = daemon.client(&newer).unwrap();
            assert_eq!(ran.code(), i32::from(colour == RED), "{ran:?}");
            client.join().unwrap().unwrap().ok().unwrap();
        });
        plain(&stage, "DP-1", RED).unwrap();
        plain(&stage, "DP-2", colour).unwrap();
        stage.mock.unplug("DP-2").unwrap();
        for (name, colour) in [("DP-3", RED), ("DP-2", colour)] {
            stage.mock.plug(output(name));
            stage.daemon.wait_output(name, "it", |_| true).unwrap();
            plain(&stage, name, colour).unwrap();
        }
        stands(&mut stage).unwrap();
    }
}
