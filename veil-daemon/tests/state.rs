//! What comes back at the next start, and what never does.

use serde_json::{Value, json};
use veil_testkit::{Desk, GENEROUS, Sway, clips};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

#[test]
fn each_output_gets_back_what_it_had() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .output("320x180")
        .start()
        .unwrap();
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    let red = clips::plain(RED).unwrap();
    let square = clips::picture("square-green", 90, 90, |_, _| GREEN).unwrap();
    let blue = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    desk.set([&red]).unwrap().ok().unwrap();
    let second = [
        "--output",
        "HEADLESS-2",
        "--mode",
        "center",
        "--background",
        "#102030",
        square.to_str().unwrap(),
    ];
    desk.set(second).unwrap().ok().unwrap();
    desk.set(["--output", "HEADLESS-3", blue.to_str().unwrap()])
        .unwrap()
        .ok()
        .unwrap();
    desk.daemon
        .client(["clear", "--output", "HEADLESS-3"])
        .unwrap()
        .ok()
        .unwrap();
    let before = desk.daemon.status().unwrap();
    // The second time it is what was restored that is restored.
    for _ in 0..2 {
        desk.restart(NO_ARGUMENTS).unwrap();
        let shows = |output: &str, test: &dyn Fn(&veil_testkit::Shot) -> bool| {
            desk.sway
                .wait_for_picture(output, &format!("restored-{output}"), GENEROUS, |shot| test(shot))
                .unwrap();
        };
        shows("HEADLESS-1", &|shot| shot.is_plain(RED, NEAR));
        shows("HEADLESS-2", &|shot| {
            shot.is_near(160, 90, GREEN, 0) && shot.is_near(50, 90, [0x10, 0x20, 0x30], 0)
        });
        shows("HEADLESS-3", &|shot| shot.is_plain([0; 3], 0));
        let after = desk.daemon.status().unwrap();
        for (one, two) in before["outputs"]
            .as_array()
            .unwrap()
            .iter()
            .zip(after["outputs"].as_array().unwrap())
        {
            for key in ["name", "path", "kind", "mode", "background", "state"] {
                assert_eq!(one[key], two[key], "{key} of {}", one["name"]);
            }
        }
    }
    // An output that comes later gets what is for all.
    let fourth = desk.sway.create_output("320x180").unwrap();
    desk.sway
        .wait_for_picture(&fourth, "for-all", GENEROUS, |shot| shot.is_plain(RED, NEAR))
        .unwrap();
}

#[test]
fn it_comes_back_without_any_further_event() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    for (file, colour) in [
        (clips::plain(RED).unwrap(), RED),
        (clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(), BLUE),
    ] {
        desk.set([&file]).unwrap().ok().unwrap();
        for _ in 0..3 {
            desk.restart(NO_ARGUMENTS).unwrap();
            desk.wait_shot("restored", |shot| shot.is_plain(colour, NEAR))
                .unwrap();
        }
    }
}

#[test]
fn a_bad_file_is_never_remembered() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let good = clips::plain(RED).unwrap();
    desk.set([&good]).unwrap().ok().unwrap();
    let state = desk.state().unwrap();
    assert_eq!(state["all"]["file"], good.to_str().unwrap());
    let inputs = clips::inputs().unwrap();
    for name in [
        "trunc.mp4",
        "nohead.mp4",
        "zero.mp4",
        "text.mp4",
        "audio_only.mp4",
        "trunc.jpg",
        "missing.mp4",
    ] {
        assert_eq!(desk.set([inputs.join(name)]).unwrap().code(), 1, "{name}");
        assert_eq!(desk.state().unwrap(), state, "{name}");
    }
    // Nor one whose daemon was killed while it looked at it.
    let mut client = desk
        .spawn_client(["set".as_ref(), inputs.join("uhd60.mp4").as_os_str()])
        .unwrap();
    desk.daemon.signal(rustix::process::Signal::KILL).unwrap();
    client.wait().unwrap();
    desk.daemon.wait_exit(GENEROUS).unwrap();
    desk.start_again(NO_ARGUMENTS).unwrap();
    desk.wait_first("a wallpaper", |output| output["kind"] == "video")
        .unwrap();
    assert_eq!(desk.state().unwrap(), state);
    desk.wait_shot("the-good-one", |shot| shot.is_plain(RED, NEAR))
        .unwrap();
}

#[test]
fn input_goes_first_and_is_remembered() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let red = clips::plain(RED).unwrap();
    let blue = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    desk.set([&red]).unwrap().ok().unwrap();
    desk.restart([
        "--input".as_ref(),
        blue.as_os_str(),
        "--mode".as_ref(),
        "tile".as_ref(),
    ])
    .unwrap();
    desk.wait_shot("the-input", |shot| shot.is_plain(BLUE, NEAR))
        .unwrap();
    desk.wait_first("the input", |output| output["mode"] == "tile")
        .unwrap();
    desk.restart(NO_ARGUMENTS).unwrap();
    desk.wait_shot("the-input-again", |shot| shot.is_plain(BLUE, NEAR))
        .unwrap();
    assert_eq!(desk.first().unwrap()["mode"], "tile");
}

#[test]
fn a_file_that_is_gone_is_named_and_no_reason_to_end() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let folder = desk.sway.session().folder().to_owned();
    let copy = clips::copy_as(&clips::plain(RED).unwrap(), &folder, "will be gone.mp4").unwrap();
    desk.set([&copy]).unwrap().ok().unwrap();
    // While it plays, it plays on.
    std::fs::remove_file(&copy).unwrap();
    let loops = desk.first().unwrap()["loops"].as_u64().unwrap();
    desk.wait_first("two more rounds", |output| {
        output["loops"].as_u64() >= Some(loops + 2)
    })
    .unwrap();
    assert!(desk.shot().unwrap().is_plain(RED, NEAR));
    // And at the next start there is only the message.
    desk.restart(NO_ARGUMENTS).unwrap();
    desk.daemon
        .wait_log("cannot show it: the file: no such file", GENEROUS)
        .unwrap();
    desk.wait_first("the reason", |output| {
        output["error"]
            .as_str()
            .is_some_and(|error| error.contains("will be gone.mp4"))
    })
    .unwrap();
    // It is still what belongs there: the disk may be mounted later.
    let other = clips::copy_as(&clips::plain(RED).unwrap(), &folder, "will be gone.mp4").unwrap();
    desk.restart(NO_ARGUMENTS).unwrap();
    desk.wait_first("the file", |output| output["path"] == other.to_str().unwrap())
        .unwrap();
    desk.wait_shot("back-again", |shot| shot.is_plain(RED, NEAR))
        .unwrap();
}

#[test]
fn a_cleared_wallpaper_does_not_come_back() {
    let mut desk = Desk::start("320x180", ["--background", "#102030"]).unwrap();
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    desk.daemon.client(["clear"]).unwrap().ok().unwrap();
    desk.restart(NO_ARGUMENTS).unwrap();
    let status = desk.first().unwrap();
    assert_eq!(
        json!([status["kind"], status["state"], status["path"]]),
        json!(["none", "empty", null])
    );
}

#[test]
fn a_state_that_is_not_understood_is_left_alone() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let folder = desk.sway.session().state_dir().join("veil");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("wallpapers.json");
    for text in ["", "{", "[7]", "{\"all\":7}", "\u{0}\u{1}"] {
        std::fs::write(&path, text).unwrap();
        desk.restart(NO_ARGUMENTS).unwrap();
        assert_eq!(desk.first().unwrap()["state"], "empty", "{text:?}");
        assert!(
            desk.daemon.log().contains("wallpapers.json"),
            "{text:?}: {}",
            desk.daemon.log()
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    assert_ne!(desk.state().unwrap()["all"], Value::Null);
}

#[test]
fn without_a_place_for_the_state_it_works_on() {
    let sway = Sway::start("320x180").unwrap();
    let file = sway.session().folder().join("no folder");
    std::fs::write(&file, "").unwrap();
    let mut desk = Desk::with_env(sway, &[("XDG_STATE_HOME", file.to_str().unwrap())], NO_ARGUMENTS).unwrap();
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    desk.wait_shot("without-state", |shot| shot.is_plain(RED, NEAR))
        .unwrap();
    desk.daemon.wait_log("will not come back", GENEROUS).unwrap();
}
