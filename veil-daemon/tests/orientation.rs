//! Which way up: turned videos, turned outputs, pixels that are not square.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use veil_testkit::{Desk, Ran, Rect, Sway, clips};

const NEAR: u8 = 5;

/// The four quarters as a video that says that it is to be shown turned against the clock.
fn turned(degrees: u32) -> Result<PathBuf> {
    let upright = clips::quadrants_video(640, 320)?;
    if degrees == 0 {
        return Ok(upright);
    }
    let script = veil_testkit::repository().join("scripts/lib/turn-mp4.py");
    clips::make(&format!("turned-{degrees}.mp4"), "2", |path| {
        let mut turn = Command::new("python3");
        turn.arg(&script).arg(&upright).arg(path).arg(degrees.to_string());
        Ran::new(&mut turn)?.ok().map(drop)
    })
}

fn set_fit(desk: &Desk, file: &Path) -> Result<()> {
    let ran = desk.set(["--mode".as_ref(), "fit".as_ref(), file.as_os_str()])?;
    ran.ok().map(drop)
}

#[test]
fn a_turned_video_is_shown_as_it_says() {
    let desk = Desk::start("640x640", ["--background", "#000000"]).unwrap();
    for degrees in [0, 90, 180, 270] {
        set_fit(&desk, &turned(degrees).unwrap()).unwrap();
        // 640x320 upright, 320x640 on its side; black beside it.
        let (part, outside) = if degrees % 180 == 0 {
            (Rect::new(0, 160, 640, 320), [(320, 80), (320, 560)])
        } else {
            (Rect::new(160, 0, 320, 640), [(80, 320), (560, 320)])
        };
        desk.wait_shot(&format!("turned-by-{degrees}"), |shot| {
            clips::turned_quadrants(shot, part, NEAR) == Some(degrees as usize / 90)
                && outside.iter().all(|(x, y)| shot.is_near(*x, *y, [0; 3], 0))
        })
        .unwrap();
    }
}

#[test]
fn a_turned_video_moves_like_the_upright_one() {
    // The moving picture of which rot90.mp4 is a copy, held at any frame, must be one of base.mp4's frames turned.
    let inputs = clips::inputs().unwrap();
    let desk = Desk::start("720x1280", ["--background", "#ff00ff"]).unwrap();
    desk.set([inputs.join("rot90.mp4")]).unwrap().ok().unwrap();
    desk.daemon.client(["pause"]).unwrap().ok().unwrap();
    let mut last = None;
    let shot = desk
        .wait_shot("held", |shot| {
            last.replace(shot.clone()).is_some_and(|last| last == *shot)
        })
        .unwrap();
    let frames = desk.sway.session().folder().join("frames");
    std::fs::create_dir(&frames).unwrap();
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg
        .args(["-nostdin", "-v", "error", "-t", "2", "-i"])
        .arg(inputs.join("base.mp4"))
        .args(["-vf", "scale=in_color_matrix=bt709,transpose=cclock,format=rgb24"])
        .arg(frames.join("%03d.png"));
    Ran::new(&mut ffmpeg).unwrap().ok().unwrap();
    let nearest = std::fs::read_dir(&frames)
        .unwrap()
        .map(|entry| {
            let image = image::open(entry.unwrap().path()).unwrap().into_rgb8();
            shot.mean_difference(&veil_testkit::Shot::from_image(image))
        })
        .fold(255.0, f64::min);
    assert!(nearest < 3.0, "the nearest frame differs by {nearest} on average");
}

#[test]
fn an_output_may_be_turned_before_and_while() {
    let files = [
        clips::quadrants(640, 320).unwrap(),
        clips::quadrants_video(640, 320).unwrap(),
    ];
    for file in files {
        let sway = Sway::start("480x800").unwrap();
        sway.output("HEADLESS-1").transform("90").unwrap();
        let desk = Desk::on(sway, ["--input".as_ref(), file.as_os_str()]).unwrap();
        let kind = file.extension().unwrap().to_str().unwrap().to_owned();
        for transform in ["90", "270", "normal", "flipped", "180", "flipped-90"] {
            desk.sway.output("HEADLESS-1").transform(transform).unwrap();
            let size = if transform.ends_with("90") || transform == "270" {
                (800, 480)
            } else {
                (480, 800)
            };
            desk.wait_shot(&format!("output-{transform}-{kind}"), |shot| {
                shot.size() == size && clips::is_quadrants(shot, shot.all(), NEAR)
            })
            .unwrap();
            let status = desk.first().unwrap();
            assert_eq!(status["size"], serde_json::json!([size.0, size.1]), "{transform}");
        }
    }
}

#[test]
fn pixels_that_are_not_square() {
    // Stored 320x360, 360x640 and so on; shown 640x360 each.
    let desk = Desk::start("640x480", ["--background", "#000000"]).unwrap();
    for (width, height, ratio) in [(320, 360, "2/1"), (640, 180, "1/2"), (480, 360, "4/3")] {
        let picture = clips::quadrants(width, height).unwrap();
        let video = clips::video_of(&picture, &[&format!("setsar={ratio}")]).unwrap();
        set_fit(&desk, &video).unwrap();
        desk.wait_shot(&format!("pixels-{width}x{height}"), |shot| {
            clips::is_quadrants(shot, Rect::new(0, 60, 640, 360), NEAR)
                && shot.is_near(320, 55, [0; 3], 0)
                && shot.is_near(320, 425, [0; 3], 0)
                && shot.is_near(320, 30, [0; 3], 0)
        })
        .unwrap();
    }
}
