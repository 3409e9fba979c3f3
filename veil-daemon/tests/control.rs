//! What can be asked of the daemon, and how it answers.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use anyhow::Result;
use serde_json::{Value, json};
use veil_testkit::{Daemon, Desk, GENEROUS, Ran, Sway, clips, veil_bin, veilctl_bin, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

fn is_one_line(text: &str) -> bool {
    text.ends_with('\n') && text.lines().count() == 1
}

/// That a command failed as it should: status 1, the reason on one line of stderr, and nothing else.
fn assert_refused(ran: &Ran, reason: &str) {
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stdout.is_empty() && is_one_line(&ran.stderr), "{ran:?}");
    assert!(
        ran.stderr.contains(reason),
        "{reason:?} is not in {:?}",
        ran.stderr
    );
}

#[test]
fn the_status_has_everything() {
    let sway = Sway::builder()
        .output("640x360")
        .output("800x600")
        .start()
        .unwrap();
    sway.output("HEADLESS-2").scale(2.0).unwrap();
    let video = clips::plain(RED).unwrap();
    let mut desk = Desk::on(sway, ["--output", "HEADLESS-1", "--output", "HEADLESS-2"]).unwrap();
    let set = ["--output", "HEADLESS-1", "--mode", "fit", video.to_str().unwrap()];
    desk.set(set).unwrap().ok().unwrap();
    desk.wait_frames("HEADLESS-1", 5).unwrap();
    let status = desk.daemon.status().unwrap();
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<BTreeSet<_>>()
    };
    for key in ["version", "commit", "pid", "outputs"] {
        assert!(keys(&status).contains(key), "{key} is missing: {status}");
    }
    assert_eq!(status["pid"], desk.daemon.process().pid());
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert!(status["commit"].is_string());
    let outputs = status["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 2);
    for output in outputs {
        for key in [
            "name",
            "size",
            "scale",
            "path",
            "kind",
            "mode",
            "state",
            "route",
            "route_reason",
            "decoder",
            "memory",
            "frames",
            "loops",
            "present_interval_ms",
        ] {
            assert!(keys(output).contains(key), "{key} is missing: {output}");
        }
        for key in ["due", "shown", "missed", "dropped"] {
            assert!(output["frames"][key].is_u64(), "frames.{key}: {output}");
        }
        for key in ["mean", "max"] {
            assert!(
                output["present_interval_ms"][key].is_f64(),
                "present_interval_ms.{key}: {output}"
            );
        }
        assert!(output["loops"].is_u64());
    }
    let [first, second] = &outputs[..] else {
        panic!("{status}")
    };
    assert_eq!(
        json!([
            first["name"],
            first["size"],
            first["scale"],
            first["kind"],
            first["mode"],
            first["state"]
        ]),
        json!(["HEADLESS-1", [640, 360], 1.0, "video", "fit", "playing"])
    );
    assert_eq!(first["path"], video.to_str().unwrap());
    assert!(first["decoder"]["element"].is_string() && first["decoder"]["hardware"].is_boolean());
    assert_eq!(
        json!([
            second["name"],
            second["size"],
            second["scale"],
            second["kind"],
            second["state"],
            second["path"]
        ]),
        json!(["HEADLESS-2", [800, 600], 2.0, "none", "empty", null])
    );

    // For people it says the same in words.
    let text = desk.daemon.client(["status"]).unwrap().ok().unwrap().stdout;
    for word in [
        "HEADLESS-1",
        "HEADLESS-2",
        "playing",
        "avdec_h264 (software)",
        video.to_str().unwrap(),
    ] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[test]
fn one_output_is_set_and_cleared_alone() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    let red = clips::plain(RED).unwrap();
    let desk = Desk::on(
        sway,
        [
            "--background".as_ref(),
            "#102030".as_ref(),
            "--input".as_ref(),
            red.as_os_str(),
        ],
    )
    .unwrap();
    let shows = |output: &str, colour| {
        let name = format!("alone-{output}");
        desk.sway
            .wait_for_picture(output, &name, GENEROUS, |shot| shot.is_plain(colour, NEAR))
            .unwrap();
    };
    shows("HEADLESS-1", RED);
    shows("HEADLESS-2", RED);
    let green = clips::plain(GREEN).unwrap();
    desk.set(["--output", "HEADLESS-2", green.to_str().unwrap()])
        .unwrap()
        .ok()
        .unwrap();
    shows("HEADLESS-2", GREEN);
    shows("HEADLESS-1", RED);
    // Both by name, in any order.
    let blue = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    let both = [
        "--output",
        "HEADLESS-2",
        "--output",
        "HEADLESS-1",
        blue.to_str().unwrap(),
    ];
    desk.set(both).unwrap().ok().unwrap();
    shows("HEADLESS-1", BLUE);
    shows("HEADLESS-2", BLUE);
    desk.daemon
        .client(["clear", "--output", "HEADLESS-1"])
        .unwrap()
        .ok()
        .unwrap();
    shows("HEADLESS-1", [0x10, 0x20, 0x30]);
    shows("HEADLESS-2", BLUE);
    let cleared = desk.daemon.output("HEADLESS-1").unwrap();
    assert_eq!(
        json!([cleared["kind"], cleared["state"], cleared["path"]]),
        json!(["none", "empty", null])
    );
    desk.set([&red]).unwrap().ok().unwrap();
    shows("HEADLESS-1", RED);
    shows("HEADLESS-2", RED);
}

#[test]
fn an_unknown_output_is_refused_with_those_that_there_are() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    let red = clips::plain(RED).unwrap();
    let desk = Desk::on(sway, ["--input".as_ref(), red.as_os_str()]).unwrap();
    desk.wait_shot("red", |shot| shot.is_plain(RED, NEAR)).unwrap();
    let file = clips::plain(GREEN).unwrap();
    let file = file.to_str().unwrap();
    for arguments in [
        &["set", "--output", "DP-9", file][..],
        &["set", "--output", "HEADLESS-1", "--output", "DP-9", file],
        &["pause", "--output", "DP-9"],
        &["resume", "--output", "DP-9"],
        &["toggle", "--output", "DP-9"],
        &["clear", "--output", "DP-9"],
    ] {
        let ran = desk.daemon.client(arguments).unwrap();
        assert_refused(&ran, "HEADLESS-1");
        assert!(ran.stderr.contains("HEADLESS-2"), "{}", ran.stderr);
    }
    assert!(desk.shot().unwrap().is_plain(RED, NEAR));
    assert_eq!(desk.first().unwrap()["state"], "playing");
}

#[test]
fn exit_statuses() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let run = |arguments: &[&str]| Ran::new(sway.session().command(&veil).args(arguments)).unwrap();
    let still = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    let still = still.to_str().unwrap();
    // Nobody is there.
    for command in ["status", "pause", "resume", "toggle", "clear", "stop"] {
        assert_refused(&run(&[command]), "not running");
    }
    assert_refused(&run(&["set", still]), "not running");
    // Nobody need be there.
    for usage in [
        &[][..],
        &["sett"],
        &["set"],
        &["set", "--mode", "zoom", still],
        &["set", "--background", "red", still],
        &["set", "--output"],
        &["status", "--jsn"],
        &["pause", "now"],
        &["daemon", "--mode", "zoom"],
        &["daemon", "--nonsense"],
    ] {
        let ran = run(usage);
        assert_eq!(ran.code(), 2, "{usage:?}: {ran:?}");
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{ran:?}");
    }
    let help = run(&["--help"]).ok().unwrap().stdout;
    for command in [
        "daemon", "set", "status", "pause", "resume", "toggle", "clear", "stop",
    ] {
        assert!(help.contains(command), "{help}");
    }

    let daemon = Daemon::start(sway.session(), &veil, NO_ARGUMENTS).unwrap();
    assert_refused(&run(&["set", "/nowhere/at all.png"]), "/nowhere/at all.png");
    for arguments in [
        &["set", still][..],
        &["status"],
        &["pause"],
        &["resume"],
        &["toggle"],
        &["clear"],
        &["stop"],
    ] {
        let ran = run(arguments).ok().unwrap();
        assert!(ran.stderr.is_empty(), "{ran:?}");
    }
    drop(daemon);
}

#[test]
fn veilctl_has_the_same_commands() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let veilctl = veilctl_bin(None).unwrap();
    let run = |arguments: &[&str]| desk.daemon.client_of(&veilctl, arguments);
    let video = clips::plain(RED).unwrap();
    run(&["set", "--mode", "fit", video.to_str().unwrap()])
        .unwrap()
        .ok()
        .unwrap();
    let json = run(&["status", "--json"]).unwrap().ok().unwrap().stdout;
    let status: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(status["outputs"][0]["mode"], "fit");
    for (command, state) in [
        ("pause", "paused"),
        ("resume", "playing"),
        ("toggle", "paused"),
        ("clear", "empty"),
    ] {
        run(&[command]).unwrap().ok().unwrap();
        assert_eq!(desk.first().unwrap()["state"], state, "{command}");
    }
    assert_eq!(run(&["nonsense"]).unwrap().code(), 2);
    assert_refused(&run(&["set", "/nowhere"]).unwrap(), "/nowhere");
    run(&["stop"]).unwrap().ok().unwrap();
    assert_refused(&run(&["status"]).unwrap(), "not running");
}

#[test]
fn a_relative_name_is_the_clients() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let folder = desk.sway.session().folder().join("pictures");
    std::fs::create_dir(&folder).unwrap();
    let picture = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    let copy = clips::copy_as(&picture, &folder, "blue.png").unwrap();
    let mut set = desk.sway.command(veil_bin(None).unwrap().to_str().unwrap());
    set.args(["set", "blue.png"]).current_dir(&folder);
    Ran::new(&mut set).unwrap().ok().unwrap();
    assert_eq!(desk.first().unwrap()["path"], copy.to_str().unwrap());
    // And the daemon's argument is the daemon's.
    desk.daemon.client(["stop"]).unwrap().ok().unwrap();
    std::fs::remove_dir_all(desk.sway.session().state_dir().join("veil")).unwrap();
    let mut command = desk.sway.session().command(veil_bin(None).unwrap());
    command
        .args(["daemon", "--input", "blue.png"])
        .current_dir(&folder);
    let mut daemon = Daemon::spawn(desk.sway.session(), &command).unwrap();
    daemon
        .wait_status("the picture", GENEROUS, |status| {
            status["outputs"][0]["path"] == copy.to_str().unwrap()
        })
        .unwrap();
}

#[test]
fn stop_returns_when_everything_is_gone() {
    let sway = Sway::start("320x180").unwrap();
    let before = sway.screenshot("HEADLESS-1").unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    desk.daemon.client(["stop"]).unwrap().ok().unwrap();
    assert!(!desk.socket().exists(), "the socket is still there");
    assert!(desk.daemon.wait_exit(GENEROUS).unwrap().success());
    desk.wait_shot("as-before", |shot| *shot == before).unwrap();
}

#[test]
fn a_set_that_comes_with_the_daemon_waits_for_it() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let wallpapers = [
        (clips::plain(RED).unwrap(), RED),
        (clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(), BLUE),
    ];
    for round in 0..20 {
        let (file, colour) = &wallpapers[round % 2];
        let mut command = sway.session().command(&veil);
        command.arg("daemon");
        let mut daemon = Daemon::spawn(sway.session(), &command).unwrap();
        daemon
            .client(["set".as_ref(), file.as_os_str()])
            .unwrap()
            .ok()
            .unwrap();
        let shot = sway.screenshot("HEADLESS-1").unwrap();
        assert!(
            shot.is_plain(*colour, NEAR),
            "round {round}: {:?}",
            shot.range(shot.all())
        );
        daemon.client(["stop"]).unwrap().ok().unwrap();
        assert!(daemon.wait_exit(GENEROUS).unwrap().success());
    }
}

/// A client that sends a request and reads the answer later.
struct Asking(BufReader<UnixStream>);

impl Asking {
    fn new(desk: &Desk, request: &Value) -> Result<Self> {
        let mut stream = UnixStream::connect(desk.socket())?;
        stream.set_read_timeout(Some(GENEROUS))?;
        stream.write_all(format!("{request}\n").as_bytes())?;
        Ok(Self(BufReader::new(stream)))
    }

    fn answer(mut self) -> Result<Value> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

#[test]
fn the_last_of_two_sets_wins_and_both_are_answered() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let slow = clips::inputs().unwrap().join("uhd60.mp4");
    let red = clips::plain(RED).unwrap();
    let blue = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    for (file, colour) in [(&red, RED), (&blue, BLUE), (&red, RED)] {
        let request = json!({"version": 1, "command": "set", "file": slow.to_str().unwrap()});
        let first = Asking::new(&desk, &request).unwrap();
        // The daemon takes requests in the order in which they come; this one shows that it has taken the first.
        desk.daemon.status().unwrap();
        desk.set([file]).unwrap().ok().unwrap();
        let answer = first.answer().unwrap();
        assert!(
            answer["ok"].is_object() || answer["error"]["reason"].is_string(),
            "{answer}"
        );
        desk.wait_shot("the-last", |shot| shot.is_plain(colour, NEAR))
            .unwrap();
        assert_eq!(desk.first().unwrap()["path"], file.to_str().unwrap());
    }
    // Many at once: each is answered, and one of them is shown.
    let requests = (0..20).map(|number| {
        let file = if number % 2 == 0 { &red } else { &blue };
        Asking::new(
            &desk,
            &json!({"version": 1, "command": "set", "file": file.to_str().unwrap()}),
        )
    });
    let requests: Vec<Asking> = requests.collect::<Result<_>>().unwrap();
    let answers: Vec<Value> = requests
        .into_iter()
        .map(Asking::answer)
        .collect::<Result<_>>()
        .unwrap();
    assert!(
        answers
            .iter()
            .any(|answer| answer["ok"]["set"]["presented"] == true),
        "{answers:?}"
    );
    desk.wait_shot("one-of-many", |shot| {
        shot.is_plain(RED, NEAR) || shot.is_plain(BLUE, NEAR)
    })
    .unwrap();
    desk.set([&red]).unwrap().ok().unwrap();
    desk.wait_shot("after-many", |shot| shot.is_plain(RED, NEAR))
        .unwrap();
}

#[test]
fn a_clear_takes_back_a_set_that_is_under_way() {
    let desk = Desk::start("320x180", ["--background", "#102030"]).unwrap();
    let slow = clips::inputs().unwrap().join("uhd60.mp4");
    let request = json!({"version": 1, "command": "set", "file": slow.to_str().unwrap()});
    for _ in 0..3 {
        let set = Asking::new(&desk, &request).unwrap();
        desk.daemon.status().unwrap();
        desk.daemon.client(["clear"]).unwrap().ok().unwrap();
        set.answer().unwrap();
        assert_eq!(desk.first().unwrap()["state"], "empty");
    }
    wait_until("the threads of the pipelines to end", GENEROUS, || {
        desk.daemon
            .process()
            .threads()
            .is_ok_and(|threads| threads.len() == 1)
    })
    .unwrap();
    assert_eq!(desk.first().unwrap()["state"], "empty");
    assert_eq!(desk.state().unwrap()["all"], Value::Null);
}

#[test]
fn the_surfaces_lie_in_the_background_and_take_no_input() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    let red = clips::plain(RED).unwrap();
    let arguments = [
        "--input",
        red.to_str().unwrap(),
        "--output",
        "HEADLESS-1",
        "--output",
        "HEADLESS-3",
    ];
    let desk = Desk::with_env(sway, &[("WAYLAND_DEBUG", "1")], arguments).unwrap();
    for output in ["HEADLESS-1", "HEADLESS-3"] {
        desk.sway
            .wait_for_picture(output, output, GENEROUS, |shot| shot.is_plain(RED, NEAR))
            .unwrap();
    }
    let log = desk.daemon.log();
    let requests = |name: &str| {
        log.lines()
            .filter(|line| line.contains("->") && line.contains(name))
            .collect::<Vec<_>>()
    };
    let layers = requests("get_layer_surface(");
    assert_eq!(layers.len(), 2, "{layers:?}");
    // 0 is the background.
    assert!(
        layers
            .iter()
            .all(|line| line.contains(", 0, ") && line.contains("\"veil-wallpaper\"")),
        "{layers:?}"
    );
    // Both surfaces of each output.
    assert!(requests("set_input_region(").len() >= 4);
    assert_eq!(
        requests("wl_region")
            .iter()
            .filter(|line| line.contains(".add("))
            .count(),
        0
    );
    assert!(requests("idle_inhibit").is_empty() && requests("get_xdg_surface").is_empty());
}
