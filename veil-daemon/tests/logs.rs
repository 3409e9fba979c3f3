//! The log: what is in it, what is not, and where it is kept.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use veil_testkit::{Daemon, Desk, GENEROUS, Ran, Sway, clips, veil_bin, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const NAME: &str = "nobodys-business";

/// Files of all kinds whose names tell something: good ones, then bad ones.
fn files(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let at = |name: &str| folder.join(format!("{NAME}-{name}"));
    let (picture, video) = (at("picture"), at("video"));
    std::fs::copy(clips::picture("plain-red", 64, 36, |_, _| RED).unwrap(), &picture).unwrap();
    std::fs::copy(clips::plain(RED).unwrap(), &video).unwrap();
    let (text, cut, short) = (at("text"), at("cut"), at("short.png"));
    std::fs::write(&text, "text\n".repeat(200)).unwrap();
    let bytes = std::fs::read(&video).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 3]).unwrap();
    std::fs::write(&short, b"\x89PNG\r\n\x1a\n....").unwrap();
    (vec![picture, video], vec![text, cut, short, at("missing")])
}

fn play_all(desk: &mut Desk) {
    let (good, bad) = files(desk.sway.session().folder());
    for file in &good {
        desk.set([file]).unwrap().ok().unwrap();
    }
    for file in &bad {
        let ran = desk.set([file]).unwrap();
        assert!(
            ran.code() != 0 && ran.stderr.contains(NAME),
            "who asks is told: {ran:?}"
        );
    }
    desk.daemon.client(["pause"]).unwrap().ok().unwrap();
    desk.restart(["--input", bad[0].to_str().unwrap()]).unwrap();
    desk.daemon
        .wait_log("cannot show it: the file: ", GENEROUS)
        .unwrap();
}

#[test]
fn names_of_wallpapers_are_not_in_it() {
    let mut desk = Desk::start("320x180", [""; 0]).unwrap();
    play_all(&mut desk);
    // Both runs have their logs in this folder.
    let folder = desk.sway.session().folder().join("log");
    let mut warnings = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("veil-") {
            let log = std::fs::read_to_string(path).unwrap();
            assert!(!log.contains(NAME), "{log}");
            warnings += log.matches(" WARN cannot show it: ").count();
        }
    }
    assert!(warnings >= 5, "{warnings}");
}

#[test]
fn who_looks_for_a_fault_finds_the_names() {
    let desk = Desk::start("320x180", ["--log", "debug"]).unwrap();
    let (_, bad) = files(desk.sway.session().folder());
    assert_eq!(desk.set([&bad[0]]).unwrap().code(), 1);
    assert!(desk.daemon.log().contains(NAME), "{}", desk.daemon.log());
}

#[test]
fn a_filter_that_is_none_is_told_and_the_environment_has_its_say() {
    let sway = Sway::start("320x180").unwrap();
    let mut desk = Desk::with_env(sway, &[("VEIL_LOG", "veil=loud")], [""; 0]).unwrap();
    desk.daemon
        .wait_log("filter is not understood", GENEROUS)
        .unwrap();
    desk.daemon.client(["stop"]).unwrap().ok().unwrap();
    desk.daemon.wait_exit(GENEROUS).unwrap();
    let mut command = desk.sway.session().command(veil_bin(None).unwrap());
    command.arg("daemon").env("VEIL_LOG", "error");
    let daemon = Daemon::spawn(desk.sway.session(), &command)
        .unwrap()
        .ready()
        .unwrap();
    assert_eq!(daemon.log(), "");
}

#[test]
fn runs_are_kept_when_asked_for() {
    let sway = Sway::start("320x180").unwrap();
    let runs = sway.session().state_dir().join("veil/runs");
    let mut desk = Desk::on(sway, [""; 0]).unwrap();
    assert!(!runs.exists(), "nobody asked");
    for _ in 0..2 {
        desk.restart(["--log-runs"]).unwrap();
    }
    let latest = std::fs::read_to_string(runs.join("latest.log")).unwrap();
    assert!(latest.contains("listens on"), "{latest}");
    // Two runs and the link.
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 3);
    // A folder that cannot be had is no reason to end.
    std::fs::remove_dir_all(&runs).unwrap();
    std::fs::write(&runs, "").unwrap();
    desk.restart(["--log-runs"]).unwrap();
    desk.daemon
        .wait_log("the log of this run is not kept", GENEROUS)
        .unwrap();
}

#[test]
fn what_goes_wrong_again_and_again_does_not_fill_it() {
    let sway = Sway::start("320x180").unwrap();
    // Where the state belongs there is a file, so nothing can be saved.
    std::fs::write(sway.session().state_dir().join("veil"), "").unwrap();
    let desk = Desk::on(sway, [""; 0]).unwrap();
    for _ in 0..60 {
        desk.daemon.client(["clear"]).unwrap().ok().unwrap();
    }
    let log = desk.daemon.log();
    assert_eq!(log.matches("will not come back").count(), 20, "{log}");
    assert!(
        log.contains("(more like this are left out for a minute)"),
        "{log}"
    );
}

#[test]
fn the_journal_gets_priorities() {
    let sway = Sway::start("320x180").unwrap();
    let session = sway.session();
    let path = session.folder().join("journal");
    let journal = std::fs::File::create(&path).unwrap();
    let found = journal.metadata().unwrap();
    let veil = veil_bin(None).unwrap();
    let mut command = session.command(&veil);
    let mut daemon = command
        .args(["daemon", "--input", "/nonexistent"])
        .env("JOURNAL_STREAM", format!("{}:{}", found.dev(), found.ino()))
        .stderr(journal)
        .spawn()
        .unwrap();
    let told = || std::fs::read_to_string(&path).unwrap_or_default();
    wait_until("the warning", GENEROUS, || told().contains("cannot show it")).unwrap();
    Ran::new(session.command(&veil).arg("stop"))
        .unwrap()
        .ok()
        .unwrap();
    daemon.wait().unwrap();
    let log = told();
    assert!(
        log.lines()
            .any(|line| line == "<4>cannot show it: the file: no such file"),
        "{log}"
    );
    assert!(
        log.lines()
            .all(|line| line.starts_with("<4>") || line.starts_with("<6>")),
        "{log}"
    );
}
