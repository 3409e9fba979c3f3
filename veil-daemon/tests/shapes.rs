//! Outputs in every shape, on a real compositor: whatever the scale and the transform, a pixel of a picture that is as
//! large as the mode is a pixel of the screen.
//!
//! That is so where the mode's size divided by the scale is whole. Where it is not, sway gives surfaces the next smaller
//! logical size, and grim takes a picture of that many pixels: there it is only seen that all of the picture is there.

use std::path::{Path, PathBuf};

use anyhow::Result;
use veil_testkit::{Desk, GENEROUS, Shot, Sway, clips, wait_until};

const OUTPUT: &str = "HEADLESS-1";
const NO_ARGUMENTS: [&str; 0] = [];
const TRANSFORMS: [&str; 8] = [
    "normal",
    "90",
    "180",
    "270",
    "flipped",
    "flipped-90",
    "flipped-180",
    "flipped-270",
];

/// A picture that no two neighbours are alike in, and no turn of it either.
fn fine(width: u32, height: u32) -> Result<PathBuf> {
    clips::picture("every-pixel-differs", width, height, |x, y| {
        [(x * 7) as u8, (y * 11) as u8, (x ^ y) as u8]
    })
}

/// A video of that size whose pictures are all alike.
fn video(width: u32, height: u32) -> Result<PathBuf> {
    clips::video_of(&clips::quadrants(width, height)?, &[])
}

fn picture(path: &Path) -> Shot {
    Shot::from_image(image_of(path))
}

fn image_of(path: &Path) -> veil_testkit::RgbImage {
    image::open(path)
        .map(|image| image.into_rgb8())
        .unwrap_or_default()
}

/// Whether an output of this size has a whole logical size at this scale.
fn is_whole(size: (u32, u32), scale: f64) -> bool {
    [size.0, size.1]
        .iter()
        .all(|length| (f64::from(*length) / scale).fract() == 0.0)
}

/// A desk with an output of this size that shows a file.
fn showing(size: (u32, u32), file: &Path) -> Result<Desk> {
    Desk::start(
        &format!("{}x{}", size.0, size.1),
        ["--input".as_ref(), file.as_os_str()],
    )
}

fn turned(transform: &str) -> bool {
    transform.ends_with("90") || transform.ends_with("270")
}

fn set(desk: &Desk, file: &Path) -> Result<()> {
    desk.set([file])?.ok().map(drop)
}

/// What an upright output of this many pixels at scale 1 shows of a file, once it stands.
fn plainly(size: (u32, u32), file: &Path) -> Result<Shot> {
    showing(size, file)?.wait_shot("plainly", |shot| clips::is_quadrants(shot, shot.all(), 6))
}

#[test]
fn a_still_is_exact_at_every_scale() {
    // Full HD, a notebook's panel, one upright, one that 1.75 divides, one that nothing divides.
    for size in [(1920, 1080), (2880, 1800), (1200, 1920), (1344, 756), (801, 601)] {
        let file = fine(size.0, size.1).unwrap();
        let exact = picture(&file);
        let desk = showing(size, &file).unwrap();
        let mut scales = vec![1.0, 2.0, 1.25, 1.5, 1.75, 1.0];
        scales.retain(|scale| is_whole(size, *scale));
        for scale in scales {
            desk.sway.output(OUTPUT).scale(scale).unwrap();
            let name = format!("still-{}x{}-{scale}", size.0, size.1);
            desk.wait_shot(&name, |shot| *shot == exact).unwrap();
        }
    }
}

#[test]
fn a_video_is_as_sharp_at_every_scale() {
    for size in [(1200, 600), (600, 1200), (1344, 756)] {
        let file = video(size.0, size.1).unwrap();
        let plain = plainly(size, &file).unwrap();
        let desk = showing(size, &file).unwrap();
        let mut scales = vec![1.5, 2.0, 1.25, 1.75, 1.0];
        scales.retain(|scale| is_whole(size, *scale));
        for scale in scales {
            desk.sway.output(OUTPUT).scale(scale).unwrap();
            let name = format!("video-{}x{}-{scale}", size.0, size.1);
            desk.wait_shot(&name, |shot| *shot == plain).unwrap();
        }
    }
}

#[test]
fn sizes_that_no_scale_divides() {
    for (width, height) in [(1366, 768), (801, 601), (2256, 1504)] {
        let desk = Desk::start(&format!("{width}x{height}"), NO_ARGUMENTS).unwrap();
        for file in [clips::quadrants(640, 360).unwrap(), video(640, 360).unwrap()] {
            set(&desk, &file).unwrap();
            for scale in [1.75, 1.5, 1.25, 2.0, 1.0] {
                desk.sway.output(OUTPUT).scale(scale).unwrap();
                let name = format!("undivided-{width}x{height}-{scale}");
                desk.wait_shot(&name, |shot| {
                    clips::is_quadrants(shot, shot.all(), 6)
                        && shot.size().0.abs_diff(width) <= 2
                        && shot.size().1.abs_diff(height) <= 2
                })
                .unwrap();
                // Pictures are made for the mode, not for a rounded size.
                assert_eq!(desk.first().unwrap()["size"], serde_json::json!([width, height]));
            }
        }
    }
}

#[test]
fn every_transform_shows_the_same_upright() {
    let mode = (640, 360);
    for moving in [false, true] {
        let file = |size: (u32, u32)| {
            if moving {
                video(size.0, size.1)
            } else {
                fine(size.0, size.1)
            }
        };
        for transform in TRANSFORMS {
            let size = if turned(transform) { (mode.1, mode.0) } else { mode };
            let file = file(size).unwrap();
            let plain = if moving {
                plainly(size, &file).unwrap()
            } else {
                picture(&file)
            };
            // Turned before veil starts, and again while it runs: both are the same.
            let sway = Sway::start(&format!("{}x{}", mode.0, mode.1)).unwrap();
            sway.output(OUTPUT).transform(transform).unwrap();
            let desk = Desk::on(sway, ["--input".as_ref(), file.as_os_str()]).unwrap();
            desk.wait_shot(&format!("before-{transform}-{moving}"), |shot| *shot == plain)
                .unwrap();
            // On its side, or not any more: seen by the size.
            let other = if turned(transform) {
                "flipped-180"
            } else {
                "flipped-270"
            };
            desk.sway.output(OUTPUT).transform(other).unwrap();
            desk.wait_shot("turned-away", |shot| shot.size() == (size.1, size.0))
                .unwrap();
            desk.sway.output(OUTPUT).transform(transform).unwrap();
            desk.wait_shot(&format!("while-{transform}-{moving}"), |shot| *shot == plain)
                .unwrap();
        }
    }
}

#[test]
fn scale_and_transform_together() {
    for (mode, scale, transform) in [
        ((1920, 1080), 1.5, "90"),
        ((1200, 1920), 1.25, "270"),
        ((1344, 756), 1.75, "flipped"),
        ((642, 362), 2.0, "flipped-90"),
        ((2880, 1440), 1.5, "180"),
    ] {
        let size = if turned(transform) { (mode.1, mode.0) } else { mode };
        let file = fine(size.0, size.1).unwrap();
        let exact = picture(&file);
        let desk = Desk::start(
            &format!("{}x{}", mode.0, mode.1),
            ["--input".as_ref(), file.as_os_str()],
        )
        .unwrap();
        let output = desk.sway.output(OUTPUT);
        output.scale(scale).unwrap();
        output.transform(transform).unwrap();
        desk.wait_shot(
            &format!("both-{}x{}-{scale}-{transform}", mode.0, mode.1),
            |shot| *shot == exact,
        )
        .unwrap();
    }
}

#[test]
fn outputs_of_all_shapes_at_once() {
    let shapes = [
        ("640x360@60", 1.0, "normal"),
        ("360x640@144", 1.5, "normal"),
        ("800x600@30", 2.0, "90"),
        ("333x187@75", 1.0, "flipped"),
    ];
    let mut builder = Sway::builder();
    for (mode, ..) in shapes {
        builder = builder.output(mode);
    }
    let mut desk = Desk::on(builder.start().unwrap(), NO_ARGUMENTS).unwrap();
    let names = desk.sway.output_names().unwrap();
    for (name, (_, scale, transform)) in names.iter().zip(shapes) {
        desk.sway.output(name).scale(scale).unwrap();
        desk.sway.output(name).transform(transform).unwrap();
    }
    for file in [clips::quadrants(640, 360).unwrap(), video(640, 360).unwrap()] {
        // Not cut: wlroots 0.15 without a GPU takes the part of a buffer from the wrong place.
        desk.set(["--mode".as_ref(), "stretch".as_ref(), file.as_os_str()])
            .unwrap()
            .ok()
            .unwrap();
        for name in &names {
            desk.sway
                .wait_for_picture(name, &format!("all-shapes-{name}"), GENEROUS, |shot| {
                    clips::is_quadrants(shot, shot.all(), 6)
                })
                .unwrap();
        }
    }
    // Each goes on at its own rate.
    for name in &names {
        desk.wait_frames(name, 20).unwrap();
    }
}

#[test]
fn a_shape_may_change_at_any_moment() {
    let moving = clips::moving(640, 360, 30, 2.0).unwrap();
    let mut desk = Desk::start("640x360", ["--input".as_ref(), moving.as_os_str()]).unwrap();
    let modes = ["640x360", "1366x768", "200x500", "641x361", "1920x1080"];
    for round in 0..30 {
        let output = desk.sway.output(OUTPUT);
        // Nobody waits for anything in between.
        output
            .set(&format!("mode --custom {}@60Hz", modes[round % modes.len()]))
            .unwrap();
        output
            .set(&format!("scale {}", [1.0, 1.5, 2.0, 1.25][round % 4]))
            .unwrap();
        output
            .set(&format!("transform {}", TRANSFORMS[round % TRANSFORMS.len()]))
            .unwrap();
    }
    let output = desk.sway.output(OUTPUT);
    output.mode("640x360").unwrap();
    output.scale(1.0).unwrap();
    output.transform("normal").unwrap();
    desk.wait_frames(OUTPUT, 10).unwrap();
    assert!(
        !desk.daemon.log().contains("protocol error"),
        "{}",
        desk.daemon.log()
    );
    let file = fine(640, 360).unwrap();
    let exact = picture(&file);
    set(&desk, &file).unwrap();
    desk.wait_shot("after-many-shapes", |shot| *shot == exact)
        .unwrap();
    wait_until("rest", GENEROUS, || {
        desk.daemon
            .process()
            .threads()
            .is_ok_and(|threads| threads.len() == 1)
    })
    .unwrap();
}
