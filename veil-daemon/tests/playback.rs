//! Videos: colours, orientation, loops.

use anyhow::{Context, Result};
use veil_testkit::{Desk, Shot, clips};

#[test]
fn high_dynamic_range_is_mapped_and_ten_bits_play() -> Result<()> {
    let inputs = clips::inputs()?;
    let mut desk = Desk::start("1280x720", [""; 0])?;
    for name in ["main10.mp4", "av1_10.mkv", "hdr10.mp4", "hlg.mkv"] {
        desk.set([inputs.join(name)])?.ok()?;
        desk.wait_first(name, |output| {
            output["state"] == "playing" && output["frames"]["shown"].as_u64() > Some(3)
        })?;
    }
    Ok(())
}

#[test]
fn a_turned_video_stands_upright() -> Result<()> {
    let inputs = clips::inputs()?;
    let mut desk = Desk::start("720x1280", ["--mode", "fit"])?;
    // Grey, since only the places matter: the first frame of the clip, turned by hand.
    let shown = |desk: &mut Desk, name: &str| -> Result<Shot> {
        desk.set([inputs.join(name)])?.ok()?;
        desk.daemon.client(["pause"])?.ok()?;
        desk.shot()
    };
    let turned = shown(&mut desk, "rot90.mp4")?;
    let upside_down = shown(&mut desk, "rot270.mp4")?;
    let turn = |shot: &Shot| Shot::from_image(image_turned(shot));
    let difference = turn(&upside_down).mean_difference(&turned);
    assert!(
        difference < 12.0,
        "a half turn lies between the two: {difference}"
    );
    assert!(
        turned.mean_difference(&upside_down) > 30.0,
        "they are not the same"
    );
    Ok(())
}

fn image_turned(shot: &Shot) -> veil_testkit::RgbImage {
    let image = shot.image();
    let (w, h) = image.dimensions();
    veil_testkit::RgbImage::from_fn(w, h, |x, y| *image.get_pixel(w - 1 - x, h - 1 - y))
}

#[test]
fn loops_have_no_gap() -> Result<()> {
    let inputs = clips::inputs()?;
    let mut desk = Desk::start("640x360", [""; 0])?;
    for (name, loops) in [("half.mp4", 12), ("av_longer_audio.mp4", 2)] {
        desk.set([inputs.join(name)])?.ok()?;
        let output = desk.wait_first(&format!("{loops} loops of {name}"), |output| {
            output["loops"].as_u64() >= Some(loops)
        })?;
        let frames = &output["frames"];
        let shown = frames["shown"].as_u64().context("no shown")?;
        let due = frames["due"].as_u64().context("no due")?;
        assert!(shown * 10 >= due * 9, "{name}: {frames}");
        // The sound is longer than the video, which goes round at its own length: 2 s of 30 frames, or 0.5 s.
        let length = if name == "half.mp4" { 15 } else { 60 };
        let rounds = output["loops"].as_u64().context("no loops")?;
        assert!(due <= (rounds + 2) * length, "{name}: {frames} in {rounds} loops");
    }
    Ok(())
}

#[test]
fn a_single_frame_stands_still() -> Result<()> {
    let inputs = clips::inputs()?;
    let mut desk = Desk::start("640x360", [""; 0])?;
    desk.set([inputs.join("oneframe.mp4")])?.ok()?;
    let before = desk.first()?;
    desk.set([clips::quadrants(64, 64)?])?.ok()?;
    assert_eq!(before["loops"], 0);
    desk.daemon.check_alive()
}

#[test]
fn odd_and_large_sizes_fill_the_screen() -> Result<()> {
    let inputs = clips::inputs()?;
    let desk = Desk::start("1366x768", [""; 0])?;
    for name in [
        "1366x768.mp4",
        "1920x1080.mp4",
        "odd1367x769.webm",
        "tiny16.mp4",
        "5120x1440.mp4",
        "vertical.mp4",
    ] {
        desk.set([inputs.join(name)])?.ok()?;
        // The edges are picture: neither black, as without one, nor green, as what pads a decoder's rows.
        desk.wait_shot(name, |shot| {
            let (w, h) = shot.size();
            let edges = [
                (w - 1, h / 3),
                (w / 3, h - 1),
                (w - 1, h - 1),
                (0, h / 3),
                (w / 3, 0),
            ];
            edges.iter().all(|(x, y)| {
                let pixel = shot.pixel(*x, *y);
                pixel.iter().any(|channel| *channel > 40) && pixel != [0, 135, 0]
            })
        })?;
    }
    Ok(())
}
