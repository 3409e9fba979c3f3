//! Videos: what plays, that it moves, how one wallpaper follows on another, and what is not in the pipeline.

use std::collections::BTreeSet;
use std::process::{Child, Command};

use anyhow::Result;
use veil_testkit::{Desk, GENEROUS, Ran, Shot, Sway, clips};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

#[test]
fn a_video_moves_on_the_screen() {
    let clip = clips::numbered(640, 360, 30, 5.0).unwrap();
    let mut desk = Desk::start("640x360", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    desk.daemon
        .wait_log("video decoder: avdec_h264 (software)", GENEROUS)
        .unwrap();
    let mut seen = BTreeSet::new();
    desk.wait_shot("ten-different-frames", |shot| {
        // Never a frame that is put together from two.
        let number = clips::read_number(shot, shot.all()).expect("a whole frame");
        seen.insert(number);
        seen.len() >= 10
    })
    .unwrap();
    assert!(*seen.last().unwrap() < 150, "{seen:?}");

    let status = desk.first().unwrap();
    assert_eq!(status["state"], "playing");
    assert_eq!(status["kind"], "video");
    assert_eq!(status["route"], "shm");
    assert!(
        status["route_reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty()),
        "{status}"
    );
    assert_eq!(
        status["decoder"],
        serde_json::json!({"element": "avdec_h264", "hardware": false})
    );
    assert_eq!(status["memory"], "system");
}

#[test]
fn frames_are_accounted_for() {
    let clip = clips::moving(640, 360, 30, 2.0).unwrap();
    let mut desk = Desk::start("640x360", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    for _ in 0..5 {
        let status = desk.wait_frames("HEADLESS-1", 15).unwrap();
        let frames = |name: &str| status["frames"][name].as_u64().unwrap();
        let (due, shown, missed, dropped) = (
            frames("due"),
            frames("shown"),
            frames("missed"),
            frames("dropped"),
        );
        assert!(dropped <= missed, "{status}");
        assert!(shown + missed <= due, "{status}");
        // What is neither is on its way to the screen: at most a ring of four and one in the mailbox.
        assert!(due - shown - missed <= 5, "{status}");
        let interval = |name: &str| status["present_interval_ms"][name].as_f64().unwrap();
        assert!(
            interval("mean") > 0.0 && interval("mean") <= interval("max"),
            "{status}"
        );
    }
    // A new wallpaper starts to count anew.
    let shown = desk.daemon.frames_shown("HEADLESS-1").unwrap();
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    assert!(desk.daemon.frames_shown("HEADLESS-1").unwrap() < shown);
}

#[test]
fn every_kind_of_video_plays() {
    let inputs = clips::inputs().unwrap();
    let mut desk = Desk::start("640x360", ["--background", "#7f3f1f"]).unwrap();
    for name in [
        "base.mp4",
        "1366x768.mp4",
        "1920x1080.mp4",
        "5120x1440.mp4",
        "vertical.mp4",
        "tiny16.mp4",
        "half.mp4",
        "odd1367x769.webm",
        "uhd60.mp4",
        "main10.mp4",
        "hdr10.mp4",
        "hlg.mkv",
        "av1_10.mkv",
        "av_longer_audio.mp4",
        "bars_unspec.mp4",
        "long2h.mp4",
        "rot180.mp4",
    ] {
        let path = inputs.join(name);
        if !path.exists() {
            eprintln!("{name} is left out: this ffmpeg cannot make it");
            continue;
        }
        desk.set([&path]).unwrap().ok().unwrap();
        let status = desk.wait_frames("HEADLESS-1", 5).unwrap();
        assert_eq!(status["path"], path.to_str().unwrap());
        assert_eq!(
            (&status["kind"], &status["state"], &status["error"]),
            (&"video".into(), &"playing".into(), &serde_json::Value::Null),
            "{name}"
        );
        let shot = desk.shot().unwrap();
        let background = shot
            .image()
            .pixels()
            .filter(|pixel| pixel.0 == [0x7f, 0x3f, 0x1f])
            .count();
        // Some pixels of any test picture are like the background; bars would be more.
        assert!(
            background < 20_000,
            "{name}: {background} pixels of the background"
        );
    }
}

#[test]
fn a_single_frame_is_shown_and_stays() {
    let clip = clips::inputs().unwrap().join("oneframe.mp4");
    let mut desk = Desk::start("640x360", ["--background", "#7f3f1f"]).unwrap();
    for _ in 0..3 {
        desk.set([&clip]).unwrap().ok().unwrap();
        let shots: Vec<Shot> = (0..5).map(|_| desk.shot().unwrap()).collect();
        let background = shots[0]
            .image()
            .pixels()
            .filter(|pixel| pixel.0 == [0x7f, 0x3f, 0x1f]);
        assert!(
            background.count() < 20_000,
            "{:?}",
            shots[0].keep("a-single-frame")
        );
        assert!(shots.iter().all(|shot| *shot == shots[0]), "it moves");
        desk.daemon.check_alive().unwrap();
        desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    }
}

#[test]
fn set_returns_when_the_picture_is_on_the_screen() {
    let desk = Desk::start("640x360", ["--background", "#ff00ff"]).unwrap();
    let still = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    let files = [
        (clips::plain(RED).unwrap(), RED),
        (still, BLUE),
        (clips::plain(GREEN).unwrap(), GREEN),
    ];
    for round in 0..4 {
        for (file, colour) in &files {
            desk.set([file]).unwrap().ok().unwrap();
            let shot = desk.shot().unwrap();
            assert!(
                shot.is_plain(*colour, NEAR),
                "round {round}: {:?}",
                shot.range(shot.all())
            );
        }
    }
}

/// Takes pictures until the client has ended, and one more.
fn while_running(desk: &Desk, mut client: Child, mut look: impl FnMut(Shot)) -> Result<()> {
    loop {
        let status = client.try_wait()?;
        look(desk.shot()?);
        if let Some(status) = status {
            assert!(status.success(), "{status}");
            return Ok(());
        }
    }
}

#[test]
fn nothing_is_seen_between_two_wallpapers() {
    // The background would be seen where neither is.
    let desk = Desk::start("640x360", ["--background", "#ff00ff"]).unwrap();
    let still = |name: &str, colour| clips::picture(name, 64, 36, move |_, _| colour).unwrap();
    let order = [
        (clips::plain(RED).unwrap(), RED),
        (clips::plain(GREEN).unwrap(), GREEN),
        (still("plain-blue", BLUE), BLUE),
        (still("plain-red", RED), RED),
        (clips::plain(BLUE).unwrap(), BLUE),
        (clips::inputs().unwrap().join("zero.mp4"), BLUE),
    ];
    let mut before = RED;
    desk.set([&order[0].0]).unwrap().ok().unwrap();
    for _ in 0..3 {
        for (file, colour) in &order {
            if file.ends_with("zero.mp4") {
                // One that fails leaves everything as it is.
                assert_eq!(desk.set([file]).unwrap().code(), 1);
                assert!(desk.shot().unwrap().is_plain(before, NEAR));
                continue;
            }
            let client = desk.spawn_client(["set".as_ref(), file.as_os_str()]).unwrap();
            let mut changed = false;
            while_running(&desk, client, |shot| {
                let new = shot.is_plain(*colour, NEAR);
                if !new && (changed || !shot.is_plain(before, NEAR)) {
                    let kept = shot.keep("between-two-wallpapers").unwrap();
                    panic!("neither {before:?} nor then {colour:?}: {}", kept.display());
                }
                changed |= new && *colour != before;
            })
            .unwrap();
            assert!(changed || *colour == before);
            before = *colour;
        }
    }
}

#[test]
fn nothing_converts_and_no_sound_is_decoded() {
    let sway = Sway::start("640x360").unwrap();
    let log = sway.session().folder().join("elements.log");
    let variables = [
        ("GST_DEBUG", "GST_STATES:4"),
        ("GST_DEBUG_NO_COLOR", "1"),
        ("GST_DEBUG_FILE", log.to_str().unwrap()),
    ];
    let mut desk = Desk::with_env(sway, &variables, NO_ARGUMENTS).unwrap();
    let inputs = clips::inputs().unwrap();
    for name in [
        "av_longer_audio.mp4",
        "uhd60.mp4",
        "odd1367x769.webm",
        "main10.mp4",
        "rot90.mp4",
    ] {
        let path = inputs.join(name);
        if path.exists() {
            desk.set([&path]).unwrap().ok().unwrap();
            desk.wait_frames("HEADLESS-1", 3).unwrap();
        }
    }
    desk.daemon.client(["stop"]).unwrap().ok().unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    // Every element changes its state, and says so as <avdec_h264-0> or <h264parse1>.
    let made: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.split_once('<')?.1.split('>').next())
        .map(|name| {
            name.trim_end_matches(|c: char| c.is_ascii_digit())
                .trim_end_matches('-')
        })
        .collect();
    assert!(
        made.contains("avdec_h264"),
        "not the log that was expected: {made:?}"
    );
    for unwanted in [
        "videoconvert",
        "videoscale",
        "videoconvertscale",
        "videoflip",
        "videocrop",
        "videorate",
        "autovideosink",
        "waylandsink",
        "playbin",
        "playbin3",
        "avdec_aac",
        "faad",
        "audioconvert",
        "autoaudiosink",
        "pulsesink",
    ] {
        assert!(!made.contains(unwanted), "{unwanted} is among {made:?}");
    }
}

#[test]
fn a_still_in_between_leaves_no_thread() {
    let desk = Desk::start("640x360", NO_ARGUMENTS).unwrap();
    let still = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    for colour in [RED, GREEN] {
        desk.set([clips::plain(colour).unwrap()]).unwrap().ok().unwrap();
        assert!(desk.daemon.process().threads().unwrap().len() > 1);
        desk.set([&still]).unwrap().ok().unwrap();
        veil_testkit::wait_until("the loop to be alone", GENEROUS, || {
            desk.daemon
                .process()
                .threads()
                .is_ok_and(|threads| threads.len() == 1)
        })
        .unwrap();
    }
}

#[test]
fn the_size_may_change_in_mid_stream() {
    // Two transport streams, one behind the other: red at 320x180, then blue at 640x360.
    let desk = Desk::start("320x180", ["--background", "#00ff00"]).unwrap();
    let folder = desk.sway.session().folder().to_owned();
    let mut bytes = Vec::new();
    for (colour, size) in [("0xc81e1e", "320x180"), ("0x283cc8", "640x360")] {
        let part = folder.join("part.ts");
        let source = format!("color=c={colour}:s={size}:r=25:d=1");
        let filter = "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=colorspace=bt709";
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args([
            "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", &source, "-vf", filter,
        ]);
        ffmpeg
            .args(["-c:v", "libx264", "-g", "5", "-f", "mpegts"])
            .arg(&part);
        Ran::new(&mut ffmpeg).unwrap().ok().unwrap();
        bytes.extend(std::fs::read(&part).unwrap());
    }
    let both = folder.join("both.ts");
    std::fs::write(&both, bytes).unwrap();
    desk.set([&both]).unwrap().ok().unwrap();
    let (mut changes, mut last) = (0, None);
    desk.wait_shot("both-sizes", |shot| {
        let is_red = shot.is_plain(RED, 8);
        assert!(is_red || shot.is_plain(BLUE, 8), "{:?}", shot.range(shot.all()));
        changes += u32::from(last.replace(is_red).is_some_and(|last| last != is_red));
        changes >= 4
    })
    .unwrap();
}

#[test]
fn the_ranks_of_decoders_are_honoured() {
    let clip = clips::inputs().unwrap().join("odd1367x769.webm");
    let exists = |name: &str| {
        let mut inspect = Command::new("gst-inspect-1.0");
        inspect
            .arg("--exists")
            .arg(name)
            .status()
            .is_ok_and(|status| status.success())
    };
    let decoders = ["vp9dec", "avdec_vp9"];
    if !clip.exists() || !decoders.iter().all(|name| exists(name)) {
        eprintln!("left out: there are no two decoders for VP9 to choose from");
        return;
    }
    for name in decoders {
        let sway = Sway::start("320x180").unwrap();
        let rank = format!("{name}:MAX");
        let mut desk = Desk::with_env(sway, &[("GST_PLUGIN_FEATURE_RANK", &rank)], NO_ARGUMENTS).unwrap();
        desk.set([&clip]).unwrap().ok().unwrap();
        assert_eq!(desk.first().unwrap()["decoder"]["element"], name);
        desk.wait_frames("HEADLESS-1", 5).unwrap();
    }
}
