//! Folders, patterns, playlists and several files: one after the other, by time and by hand, over restarts and bad entries.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use std::{fs, path::Path};
use veil_testkit::{Desk, GENEROUS, Ran, Sway, clips};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const BLUE: [u8; 3] = [30, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

/// A red picture, a green video and a blue picture, and what is none of them; by their names in this order.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let add = |name: &str, file: &Path| clips::copy_as(file, folder.path(), name).unwrap();
    add(
        "2 red.png",
        &clips::picture("list-red", 64, 36, |_, _| RED).unwrap(),
    );
    add("9 green.mp4", &clips::plain(GREEN).unwrap());
    add(
        "10 blue.png",
        &clips::picture("list-blue", 64, 36, |_, _| BLUE).unwrap(),
    );
    fs::write(folder.path().join("notes.txt"), "none").unwrap();
    folder
}

fn two_outputs() -> Sway {
    let sway = Sway::builder().output("320x180").output("320x180");
    sway.start().unwrap()
}

fn shows_on(desk: &Desk, output: &str, colour: [u8; 3]) {
    let name = format!("playlists-{output}");
    desk.sway
        .wait_for_picture(output, &name, GENEROUS, |shot| shot.is_plain(colour, NEAR))
        .unwrap();
}

fn shows(desk: &Desk, colour: [u8; 3]) {
    shows_on(desk, "HEADLESS-1", colour);
}

fn run(desk: &Desk, command: &str) -> Ran {
    desk.daemon.client([command]).unwrap()
}

fn assert_refused(ran: &Ran, words: &str) {
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stderr.contains(words), "{ran:?}");
}

#[test]
fn a_folder_forth_and_back_and_after_a_restart() {
    let folder = folder();
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let set = [folder.path().as_os_str(), "--interval=0".as_ref()];
    desk.set(set).unwrap().ok().unwrap();
    shows(&desk, RED);
    for colour in [GREEN, BLUE, RED, GREEN] {
        run(&desk, "next").ok().unwrap();
        shows(&desk, colour);
    }
    run(&desk, "previous").ok().unwrap();
    shows(&desk, RED);
    run(&desk, "previous").ok().unwrap();
    shows(&desk, BLUE);
    let status = desk.first().unwrap();
    let list = &status["playlist"];
    assert_eq!(list["name"], folder.path().to_str().unwrap());
    assert_eq!((&list["number"], &list["length"]), (&3.into(), &3.into()));
    assert!(status["path"].as_str().unwrap().ends_with("/10 blue.png"));
    let text = run(&desk, "status").ok().unwrap().stdout;
    assert!(text.contains("3 of 3, until `next`"), "{text}");
    // The place is remembered, and the list is gone on in from there.
    desk.restart(NO_ARGUMENTS).unwrap();
    shows(&desk, BLUE);
    run(&desk, "next").ok().unwrap();
    shows(&desk, RED);
    // Names are for the debug log.
    assert!(!desk.daemon.log().contains("red.png"), "{}", desk.daemon.log());
}

#[test]
fn by_its_own_clock_which_stands_while_the_wallpaper_does() {
    let folder = folder();
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([folder.path().as_os_str(), "--interval=1s".as_ref()])
        .unwrap()
        .ok()
        .unwrap();
    for colour in [GREEN, BLUE, RED, GREEN] {
        shows(&desk, colour);
    }
    run(&desk, "pause").ok().unwrap();
    let before = desk.first().unwrap()["playlist"]["number"].clone();
    // Three of its intervals: it would be somewhere else.
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(desk.first().unwrap()["playlist"]["number"], before);
    // By hand it goes on, and stays paused.
    run(&desk, "next").ok().unwrap();
    let after = desk.first().unwrap();
    assert_ne!(after["playlist"]["number"], before);
    assert_eq!(after["holds"][0], "user");
    run(&desk, "resume").ok().unwrap();
    let after = after["playlist"]["number"].clone();
    desk.wait_first("the next one", |output| output["playlist"]["number"] != after)
        .unwrap();
}

#[test]
fn outputs_that_show_one_list_go_together_and_share_one_decoder() {
    let folder = folder();
    let desk = Desk::on(two_outputs(), NO_ARGUMENTS).unwrap();
    desk.set([folder.path().as_os_str(), "--interval=0".as_ref()])
        .unwrap()
        .ok()
        .unwrap();
    run(&desk, "next").ok().unwrap();
    for output in ["HEADLESS-1", "HEADLESS-2"] {
        shows_on(&desk, output, GREEN);
    }
    let opened = desk.daemon.log().matches("video decoder").count();
    assert_eq!(opened, 1, "{}", desk.daemon.log());
    // One alone.
    desk.daemon
        .client(["next", "--output", "HEADLESS-2"])
        .unwrap()
        .ok()
        .unwrap();
    shows_on(&desk, "HEADLESS-2", BLUE);
    shows_on(&desk, "HEADLESS-1", GREEN);
}

#[test]
fn bad_and_vanished_entries_are_skipped_and_named() {
    let folder = folder();
    fs::write(folder.path().join("3 bad.png"), "this is no picture").unwrap();
    fs::write(folder.path().join("4 empty.mp4"), "").unwrap();
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([folder.path().as_os_str(), "--interval=0".as_ref()])
        .unwrap()
        .ok()
        .unwrap();
    shows(&desk, RED);
    run(&desk, "next").ok().unwrap();
    shows(&desk, GREEN);
    let skipped = desk.first().unwrap()["playlist"]["skipped"].to_string();
    assert!(
        skipped.contains("3 bad.png") && skipped.contains("4 empty.mp4"),
        "{skipped}"
    );
    let log = desk.daemon.log();
    assert!(
        log.contains("one of a list is skipped: the file: is empty"),
        "{log}"
    );
    assert!(!log.contains("bad.png"), "{log}");
    // What is shown may go: the one after it comes next. And what is new is found.
    fs::remove_file(folder.path().join("9 green.mp4")).unwrap();
    run(&desk, "next").ok().unwrap();
    shows(&desk, BLUE);
    fs::rename(folder.path().join("2 red.png"), folder.path().join("11 red.png")).unwrap();
    for colour in [RED, BLUE] {
        run(&desk, "next").ok().unwrap();
        shows(&desk, colour);
    }
    // Nothing is left that can be shown: what is on the screen stays.
    for name in ["10 blue.png", "11 red.png"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    assert_refused(&run(&desk, "next"), "none of 2 can be shown");
    shows(&desk, BLUE);
    desk.wait_first("the reason", |output| output["error"].as_str().is_some())
        .unwrap();
    assert!(!desk.daemon.log().contains("bad.png"), "{}", desk.daemon.log());
}

#[test]
fn a_folder_with_a_text_file_that_is_called_a_video() {
    let folder = clips::inputs().unwrap().join("dir");
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([folder.as_os_str(), "--interval=0".as_ref()])
        .unwrap()
        .ok()
        .unwrap();
    let first = desk.first().unwrap();
    assert!(first["path"].as_str().unwrap().ends_with("/exif6.jpg"), "{first}");
    let mut skipped = String::new();
    for _ in 1..first["playlist"]["length"].as_u64().unwrap() {
        run(&desk, "next").ok().unwrap();
        let status = desk.first().unwrap();
        assert!(
            !status["path"].as_str().unwrap().ends_with("/text.mp4"),
            "{status}"
        );
        skipped += &status["playlist"]["skipped"].to_string();
    }
    assert!(skipped.contains("text.mp4"), "{skipped}");
}

#[test]
fn what_is_taken_out_of_a_playlist_is_not_played_again() {
    let folder = folder();
    let list = folder.path().join("my.m3u");
    fs::write(&list, "10 blue.png\n9 green.mp4\n").unwrap();
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([list.as_os_str(), "--interval=0".as_ref()])
        .unwrap()
        .ok()
        .unwrap();
    shows(&desk, BLUE);
    fs::write(&list, "10 blue.png\n2 red.png\n").unwrap();
    for colour in [RED, BLUE, RED] {
        run(&desk, "next").ok().unwrap();
        shows(&desk, colour);
    }
}

#[test]
fn once_and_then_the_last_one_stays() {
    let folder = folder();
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([
        folder.path().as_os_str(),
        "--interval=1".as_ref(),
        "--once".as_ref(),
    ])
    .unwrap()
    .ok()
    .unwrap();
    shows(&desk, BLUE);
    let refused = run(&desk, "next");
    assert_refused(&refused, "gone through once");
    shows(&desk, BLUE);
    assert_eq!(desk.first().unwrap()["error"], serde_json::Value::Null);
    run(&desk, "previous").ok().unwrap();
    // And it goes on from there.
    shows(&desk, GREEN);
    shows(&desk, BLUE);
}

#[test]
fn files_patterns_and_playlists() {
    let folder = folder();
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let file = |name: &str| folder.path().join(name);
    desk.set([&file("10 blue.png"), &file("2 red.png")])
        .unwrap()
        .ok()
        .unwrap();
    shows(&desk, BLUE);
    run(&desk, "next").ok().unwrap();
    shows(&desk, RED);
    desk.set([file("*.mp4")]).unwrap().ok().unwrap();
    shows(&desk, GREEN);
    assert_eq!(desk.first().unwrap()["playlist"]["length"], 1);
    fs::write(file("my.m3u"), "#EXTM3U\r\n10 blue.png\r\n9 green.mp4\r\n").unwrap();
    desk.set([file("my.m3u")]).unwrap().ok().unwrap();
    shows(&desk, BLUE);
    // Impatience: each press counts.
    let mut presses: Vec<_> = (0..2).map(|_| desk.spawn_client(["next"]).unwrap()).collect();
    for press in &mut presses {
        press.wait().unwrap();
    }
    shows(&desk, BLUE);
    for (name, words) in [("*.gif", "no picture"), ("[a", "pattern"), ("none", "none")] {
        assert_refused(&desk.set([file(name)]).unwrap(), words);
    }
    let empty = tempfile::tempdir().unwrap();
    assert_refused(&desk.set([empty.path()]).unwrap(), "--recursive");
    shows(&desk, BLUE);
    // What is no list has no next one.
    desk.set([file("2 red.png")]).unwrap().ok().unwrap();
    assert_refused(&run(&desk, "next"), "list");
    assert_eq!(desk.first().unwrap()["playlist"], serde_json::Value::Null);
}

#[test]
fn by_the_configuration_and_by_the_command_line() {
    let folder = folder();
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let config = desk.sway.session().config_dir().join("veil/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let pattern = folder.path().join("*.png");
    let text = format!(
        "[defaults]\ninterval = \"2h\"\n[[output]]\nmatch = \"*\"\nshuffle = true\nglob = {pattern:?}\n"
    );
    fs::write(&config, text).unwrap();
    desk.restart(NO_ARGUMENTS).unwrap();
    let status = desk
        .wait_first("the list", |output| output["playlist"]["length"] == 2)
        .unwrap();
    assert_eq!(status["playlist"]["options"]["interval_s"], 7200);
    assert_eq!(status["playlist"]["options"]["shuffle"], true);
    let input = ["--input".as_ref(), folder.path().as_os_str(), "--once".as_ref()];
    desk.restart(input).unwrap();
    shows(&desk, RED);
    let status = desk.first().unwrap();
    assert_eq!(status["playlist"]["length"], 3);
    assert_eq!(status["playlist"]["options"]["once"], true);
}
