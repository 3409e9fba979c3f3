//! `veil doctor`: what it finds, with and without what it looks at.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::Value;
use veil_testkit::{Desk, Ran, Session, Weston, clips, repository, veil_bin, veilctl_bin};

const RED: [u8; 3] = [200, 30, 30];

fn doctor(session: &Session, arguments: &[&Path], variables: &[(&str, &str)]) -> Ran {
    let mut command = session.command(veil_bin(None).unwrap());
    command
        .arg("doctor")
        .args(arguments)
        .envs(variables.iter().copied());
    Ran::new(&mut command).unwrap()
}

fn section<'a>(report: &'a Value, name: &str) -> &'a Value {
    let mut all = report["sections"].as_array().unwrap().iter();
    all.find(|section| section["name"] == name).unwrap()
}

fn broken(section: &Value) -> Vec<&str> {
    let findings = section["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["level"] == "broken")
        .map(|finding| finding["what"].as_str().unwrap())
        .collect()
}

#[test]
fn without_a_compositor_it_says_so_and_looks_at_the_rest() {
    let session = Session::new("wayland-none").unwrap();
    let ran = doctor(&session, &[], &[]);
    assert_eq!(ran.code(), 1, "{ran:?}");
    for words in [
        "BROKEN  no Wayland compositor",
        "GStreamer 1.",
        "H.264: ",
        "/dev/udmabuf",
        "veil is not running in this session",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let mut command = session.command(veil_bin(None).unwrap());
    let ran = Ran::new(
        command
            .args(["doctor", "--json"])
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("WAYLAND_DISPLAY"),
    )
    .unwrap();
    assert_eq!(ran.code(), 1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["broken"], true);
    assert!(broken(section(&report, "compositor"))[0].contains("XDG_RUNTIME_DIR"));
}

#[test]
fn in_a_session_it_tells_what_is_there_and_what_becomes_of_files() {
    let video = clips::plain(RED).unwrap();
    let picture = clips::picture("plain-red", 64, 36, |_, _| RED).unwrap();
    let mut desk = Desk::start("320x180", ["--input".as_ref(), video.as_os_str()]).unwrap();
    desk.wait_frames("HEADLESS-1", 2).unwrap();
    let session = desk.sway.session();
    let ran = doctor(session, &["--json".as_ref(), &video, &picture], &[]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (ran.code(), &report["broken"]),
        (0, &Value::Bool(false)),
        "{report:#}"
    );
    let compositor = &section(&report, "compositor")["facts"];
    assert_eq!(compositor["process"], "sway");
    assert_eq!(compositor["outputs"][0]["name"], "HEADLESS-1");
    assert_eq!(compositor["outputs"][0]["size"], serde_json::json!([320, 180]));
    let layer = |one: &Value| one["interface"] == "zwlr_layer_shell_v1" && one["used"] == true;
    assert!(compositor["protocols"].as_array().unwrap().iter().any(layer));
    let daemon = &section(&report, "daemon")["facts"];
    assert_eq!(
        (&daemon["running"], &daemon["status"]["outputs"][0]["kind"]),
        (&Value::Bool(true), &"video".into())
    );
    let files: Vec<&Value> = report["sections"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|section| section["name"] == "file")
        .map(|section| &section["facts"])
        .collect();
    assert_eq!(
        (&files[0]["kind"], &files[0]["decoder"]["element"]),
        (&"video".into(), &"avdec_h264".into())
    );
    // This sway takes no dmabufs: it draws by pixman.
    assert_eq!(files[0]["route"], "shm");
    assert!(files[0]["route_reason"].is_string());
    assert_eq!(files[1]["kind"], "still");

    let readme = repository().join("README.md");
    let ran = doctor(session, &[&readme], &[]);
    assert_eq!(ran.code(), 1);
    assert!(
        ran.stdout
            .contains("README.md: not a picture or video: text/plain"),
        "{ran:?}"
    );
    // It is the same by way of the client, which finds it beside itself.
    let mut command = session.command(veilctl_bin(None).unwrap());
    let ran = Ran::new(command.arg("doctor").arg(&readme)).unwrap();
    assert_eq!(ran.code(), 1);
    assert!(ran.stdout.contains("text/plain"), "{ran:?}");
    desk.daemon.check_alive().unwrap();
}

#[test]
fn what_a_compositor_lacks_is_named_with_what_it_means() {
    let weston = Weston::start().unwrap();
    let ran = doctor(weston.session(), &["--json".as_ref()], &[]);
    assert_eq!(ran.code(), 1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let found = broken(section(&report, "compositor"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("zwlr_layer_shell_v1 is missing: there is no place behind the windows"),
        "{found:?}"
    );
    assert_eq!(section(&report, "compositor")["facts"]["process"], "weston");
}

#[test]
fn a_codec_without_a_decoder_is_named_with_what_to_install() {
    let session = Session::new("wayland-none").unwrap();
    let ranks = [("GST_PLUGIN_FEATURE_RANK", "avdec_h264:NONE,openh264dec:NONE")];
    let video = clips::plain(RED).unwrap();
    let ran = doctor(&session, &[&video], &ranks);
    for words in [
        "H.264: no decoder may be used; of too low a rank for that is avdec_h264",
        "no decoder for H.264; install gstreamer1.0-libav",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}

#[test]
fn a_state_that_is_not_understood_is_told() {
    let session = Session::new("wayland-none").unwrap();
    let folder = session.state_dir().join("veil");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("wallpapers.json"), "{").unwrap();
    let ran = doctor(&session, &[], &[]);
    assert!(
        ran.stdout
            .contains("wallpapers.json is not a state file of veil's"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_compositor_that_does_not_answer_does_not_hang_it() {
    let session = Session::new("wayland-silent").unwrap();
    // It is connected to, and never says anything.
    let _listener = UnixListener::bind(session.runtime_dir().join("wayland-silent")).unwrap();
    let ran = doctor(&session, &[], &[]);
    assert_eq!(ran.code(), 1);
    assert!(ran.stdout.contains("BROKEN  no answer within"), "{}", ran.stdout);
    assert!(ran.stdout.contains("GStreamer 1."), "{}", ran.stdout);
}

#[test]
fn a_client_without_the_daemons_program_says_so() {
    let session = Session::new("wayland-none").unwrap();
    let folder = session.folder().join("alone");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(veilctl_bin(None).unwrap(), folder.join("veilctl")).unwrap();
    let mut command = session.command(folder.join("veilctl"));
    let ran = Ran::new(command.arg("doctor").env("PATH", &folder)).unwrap();
    assert_eq!(ran.code(), 1);
    assert!(
        ran.stderr.contains("neither beside veilctl nor in PATH"),
        "{ran:?}"
    );
}
