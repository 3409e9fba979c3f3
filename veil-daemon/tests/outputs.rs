//! Outputs that come, change and go.

use veil_testkit::{Desk, GENEROUS, Sway, clips};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

#[test]
fn an_output_that_comes_later_shows_the_wallpaper_too() {
    let video = clips::quadrants_video(320, 180).unwrap();
    let still = clips::quadrants(320, 180).unwrap();
    for file in [&video, &still] {
        let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
        desk.set([file]).unwrap().ok().unwrap();
        for mode in ["640x360", "333x187"] {
            let new = desk.sway.create_output(mode).unwrap();
            let kind = desk.first().unwrap()["kind"].clone();
            desk.wait_output(&new, "the wallpaper", |output| output["kind"] == kind)
                .unwrap();
            desk.sway
                .wait_for_picture(&new, &format!("new-{mode}-{kind}"), GENEROUS, |shot| {
                    clips::is_quadrants(shot, shot.all(), 6)
                })
                .unwrap();
        }
        // A new wallpaper is for them all, and the mode with it.
        let plain = clips::plain(GREEN).unwrap();
        desk.set(["--mode".as_ref(), "stretch".as_ref(), plain.as_os_str()])
            .unwrap()
            .ok()
            .unwrap();
        for name in desk.sway.output_names().unwrap() {
            desk.sway
                .wait_for_picture(&name, "all-green", GENEROUS, |shot| shot.is_plain(GREEN, NEAR))
                .unwrap();
        }
    }
}

#[test]
fn a_picture_follows_its_output_to_another_size_and_scale() {
    let files = [
        clips::quadrants(640, 360).unwrap(),
        clips::quadrants_video(640, 360).unwrap(),
    ];
    for file in files {
        let desk = Desk::start("640x360", ["--input".as_ref(), file.as_os_str()]).unwrap();
        let kind = file.extension().unwrap().to_string_lossy();
        for (mode, scale) in [
            ("800x450", 1.0),
            ("1366x768", 1.0),
            ("640x360", 2.0),
            ("641x361", 1.0),
            ("1280x720", 1.5),
            ("200x500", 1.0),
        ] {
            let output = desk.sway.output("HEADLESS-1");
            output.mode(mode).unwrap();
            output.scale(scale).unwrap();
            desk.wait_shot(&format!("size-{mode}-{kind}"), |shot| {
                let (width, height) = shot.size();
                format!("{width}x{height}") == mode && clips::is_quadrants(shot, shot.all(), 6)
            })
            .unwrap();
            let status = desk.first().unwrap();
            let (width, height) = mode.split_once('x').unwrap();
            assert_eq!(format!("[{width},{height}]"), status["size"].to_string());
            assert!(
                (status["scale"].as_f64().unwrap() - scale).abs() < 0.02,
                "{status}"
            );
        }
    }
}

#[test]
fn outputs_differ_in_size_and_mode() {
    let sway = Sway::builder()
        .output("640x360")
        .output("300x400")
        .output("200x200")
        .start()
        .unwrap();
    let desk = Desk::on(sway, ["--background", "#102030"]).unwrap();
    let file = clips::quadrants_video(320, 180).unwrap();
    let file = file.to_str().unwrap();
    desk.set(["--mode", "fill", file]).unwrap().ok().unwrap();
    desk.set(["--output", "HEADLESS-2", "--mode", "center", file])
        .unwrap()
        .ok()
        .unwrap();
    desk.set(["--output", "HEADLESS-3", "--mode", "stretch", file])
        .unwrap()
        .ok()
        .unwrap();
    let shows = |output: &str, test: &dyn Fn(&veil_testkit::Shot) -> bool| {
        desk.sway
            .wait_for_picture(output, &format!("differ-{output}"), GENEROUS, |shot| test(shot))
            .unwrap();
    };
    shows("HEADLESS-1", &|shot| clips::is_quadrants(shot, shot.all(), 6));
    // 300 of 320 columns, and 180 of 400 rows in the middle.
    shows("HEADLESS-2", &|shot| {
        clips::is_quadrants(shot, veil_testkit::Rect::new(0, 110, 300, 180), 6)
            && shot.is_near(150, 100, [0x10, 0x20, 0x30], 0)
            && shot.is_near(150, 300, [0x10, 0x20, 0x30], 0)
    });
    shows("HEADLESS-3", &|shot| clips::is_quadrants(shot, shot.all(), 6));
}

#[test]
fn only_the_named_outputs_get_a_surface() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    let bare = sway.screenshot("HEADLESS-2").unwrap();
    let red = clips::plain(RED).unwrap();
    let arguments = [
        "--input",
        red.to_str().unwrap(),
        "--output",
        "HEADLESS-3",
        "--output",
        "HEADLESS-1",
        "--output",
        "DP-9",
    ];
    let desk = Desk::on(sway, arguments).unwrap();
    for output in ["HEADLESS-1", "HEADLESS-3"] {
        desk.sway
            .wait_for_picture(output, output, GENEROUS, |shot| shot.is_plain(RED, NEAR))
            .unwrap();
    }
    let green = clips::plain(GREEN).unwrap();
    desk.set([&green]).unwrap().ok().unwrap();
    let ran = desk
        .set(["--output".as_ref(), "HEADLESS-2".as_ref(), green.as_os_str()])
        .unwrap();
    assert_eq!(ran.code(), 1, "{ran:?}");
    // One that comes later and was not named gets none either.
    let fourth = desk.sway.create_output("320x180").unwrap();
    let status = desk.daemon.status().unwrap();
    let names: Vec<&str> = status["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|output| output["name"].as_str())
        .collect();
    assert_eq!(names, ["HEADLESS-1", "HEADLESS-3"]);
    for output in ["HEADLESS-2", &fourth] {
        assert_eq!(desk.sway.screenshot(output).unwrap(), bare, "{output}");
    }
    for output in ["HEADLESS-1", "HEADLESS-3"] {
        assert!(desk.sway.screenshot(output).unwrap().is_plain(GREEN, NEAR));
    }
}

#[test]
fn one_output_may_go_while_another_plays_on() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .pluggable()
        .start()
        .unwrap();
    let names = sway.output_names().unwrap();
    let clip = clips::moving(640, 360, 30, 2.0).unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    desk.wait_frames(&names[0], 5).unwrap();
    desk.wait_frames(&names[1], 5).unwrap();
    desk.sway.output(&names[1]).unplug().unwrap();
    desk.daemon
        .wait_status("one output", GENEROUS, |status| {
            status["outputs"].as_array().map(Vec::len) == Some(1)
        })
        .unwrap();
    desk.wait_frames(&names[0], 10).unwrap();
    assert!(
        !desk.daemon.log().contains("protocol error"),
        "{}",
        desk.daemon.log()
    );
    let new = desk.sway.create_output("320x180").unwrap();
    desk.wait_output(&new, "the wallpaper", |output| output["state"] == "playing")
        .unwrap();
    desk.wait_frames(&new, 5).unwrap();
}

#[test]
fn outputs_come_and_go_and_nothing_is_left_of_them() {
    let sway = Sway::builder().output("320x180").pluggable().start().unwrap();
    let first = sway.output_names().unwrap().remove(0);
    let clip = clips::moving(640, 360, 30, 2.0).unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    let mut held = Vec::new();
    for round in 0..10 {
        let new = desk.sway.create_output("320x180").unwrap();
        // Every second one goes before anything was shown on it.
        if round % 2 == 0 {
            desk.wait_output(&new, "the wallpaper", |output| {
                output["frames"]["shown"].as_u64() > Some(2)
            })
            .unwrap();
        }
        desk.sway.output(&new).unplug().unwrap();
        desk.daemon
            .wait_status("one output", GENEROUS, |status| {
                status["outputs"].as_array().map(Vec::len) == Some(1)
            })
            .unwrap();
        desk.wait_frames(&first, 3).unwrap();
        let process = desk.daemon.process();
        held.push((
            process.descriptors().unwrap().len(),
            process.threads().unwrap().len(),
        ));
    }
    // The ring of targets may have grown once or twice, and a worker may be at work just then; not with every output.
    let most = |held: &[(usize, usize)]| {
        held.iter()
            .fold((0, 0), |most, now| (most.0.max(now.0), most.1.max(now.1)))
    };
    let (early, late) = (most(&held[..5]), most(&held[5..]));
    assert!(
        late.0 <= early.0 + 2 && late.1 <= early.1 + 1,
        "descriptors and threads: {held:?}"
    );
    assert!(
        !desk.daemon.log().contains("protocol error"),
        "{}",
        desk.daemon.log()
    );
}

#[test]
fn the_last_output_may_go_and_another_come() {
    let sway = Sway::builder().output("320x180").pluggable().start().unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    let wallpapers = [
        (clips::plain(RED).unwrap(), RED),
        (clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(), BLUE),
    ];
    desk.set([&wallpapers[0].0]).unwrap().ok().unwrap();
    for (file, colour) in [&wallpapers[0], &wallpapers[1], &wallpapers[0]] {
        let name = desk.sway.output_names().unwrap().remove(0);
        desk.sway.output(&name).unplug().unwrap();
        desk.daemon
            .wait_status("no output", GENEROUS, |status| {
                status["outputs"].as_array().is_some_and(Vec::is_empty)
            })
            .unwrap();
        // A wallpaper that is set meanwhile is kept, and it is said that it is on no screen.
        let ran = desk.set([file]).unwrap().ok().unwrap();
        assert!(ran.stdout.contains("output"), "{ran:?}");
        let new = desk.sway.create_output("320x180").unwrap();
        desk.sway
            .wait_for_picture(&new, "after-the-last", GENEROUS, |shot| {
                shot.is_plain(*colour, NEAR)
            })
            .unwrap();
    }
    // A bad one is refused all the same.
    let name = desk.sway.output_names().unwrap().remove(0);
    desk.sway.output(&name).unplug().unwrap();
    let bad = clips::inputs().unwrap().join("text.mp4");
    assert_eq!(desk.set([&bad]).unwrap().code(), 1);
    let new = desk.sway.create_output("320x180").unwrap();
    desk.sway
        .wait_for_picture(&new, "after-a-bad-one", GENEROUS, |shot| shot.is_plain(RED, NEAR))
        .unwrap();
}

#[test]
fn a_daemon_may_start_before_there_is_an_output() {
    let sway = Sway::builder().output("320x180").pluggable().start().unwrap();
    let name = sway.output_names().unwrap().remove(0);
    sway.output(&name).unplug().unwrap();
    let red = clips::plain(RED).unwrap();
    let desk = Desk::on(sway, ["--input".as_ref(), red.as_os_str()]).unwrap();
    let new = desk.sway.create_output("320x180").unwrap();
    desk.sway
        .wait_for_picture(&new, "first-output", GENEROUS, |shot| shot.is_plain(RED, NEAR))
        .unwrap();
}

#[test]
fn a_window_over_one_output_stops_nothing_on_another() {
    if std::process::Command::new("foot")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("left out: there is no foot, which would be the window");
        return;
    }
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    let clip = clips::moving(640, 360, 30, 2.0).unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    desk.sway.run("focus output HEADLESS-1").unwrap();
    desk.sway.run("exec foot --fullscreen sleep 1000").unwrap();
    veil_testkit::wait_until("the window", GENEROUS, || {
        desk.sway.query("get_tree").is_ok_and(|tree| {
            tree.to_string().contains("\"app_id\": \"foot\"")
                || tree.to_string().contains("\"app_id\":\"foot\"")
        })
    })
    .unwrap();
    desk.wait_frames("HEADLESS-2", 10).unwrap();
    let before = desk.sway.screenshot("HEADLESS-2").unwrap();
    desk.sway
        .wait_for_picture("HEADLESS-2", "moves-on", GENEROUS, |shot| *shot != before)
        .unwrap();
    // Neither a new wallpaper nor the daemon's end waits for what nobody sees.
    desk.set([clips::plain(BLUE).unwrap()]).unwrap().ok().unwrap();
    desk.sway
        .wait_for_picture("HEADLESS-2", "blue", GENEROUS, |shot| shot.is_plain(BLUE, NEAR))
        .unwrap();
}

#[test]
fn outputs_may_refresh_at_different_rates() {
    let sway = Sway::builder()
        .output("320x180@60")
        .output("320x180@144")
        .output("320x180@30")
        .start()
        .unwrap();
    let clip = clips::moving(320, 180, 60, 2.0).unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    let before = desk.daemon.frames_shown("HEADLESS-3").unwrap();
    desk.wait_frames("HEADLESS-2", 120).unwrap();
    // The slow one shows what it can and holds nobody up.
    let frames = |output: &str| desk.daemon.output(output).unwrap()["frames"].clone();
    let (fast, slow) = (frames("HEADLESS-2"), frames("HEADLESS-3"));
    assert!(slow["shown"].as_u64().unwrap() > before + 20, "{slow}");
    assert!(
        slow["shown"].as_u64() < fast["shown"].as_u64(),
        "{slow} and {fast}"
    );
    assert!(slow["missed"].as_u64().unwrap() > 20, "{slow}");
    assert!(
        fast["missed"].as_u64() < slow["missed"].as_u64(),
        "{slow} and {fast}"
    );
}
