//! Names of files: any bytes that a file system takes are played, shown in the status, and come back after a restart.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use veil_testkit::{Desk, clips};

const RED: [u8; 3] = [200, 30, 30];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

fn names() -> Vec<OsString> {
    let mut names: Vec<OsString> = [
        "a b #1 100%25 壁紙 \"q\" (x),y;$(id).mp4",
        "-dash.mp4",
        "--output",
        "%",
        "%2F%00.png",
        "#fragment?query=1&x",
        "back\\slash 'single' `tick`",
        "new\nline\tand\u{1b}[31mescape",
        " blanks ",
        "!location=x ! fakesink",
        "file:",
        "http:x.mp4",
        "{a,b}*?[c]~",
        "עברית العربية é e\u{301} 🎬",
        ".hidden",
    ]
    .map(Into::into)
    .to_vec();
    names.push(OsString::from_vec(b"latin1-\xe9.mp4".to_vec()));
    names.push(OsString::from_vec(b"\xff\xfe \x80\x81".to_vec()));
    // As long as a name may be.
    names.push("ü".repeat(127).into());
    names
}

/// A path as it stands in the status: a string, or its bytes where those are no UTF-8.
fn wire(path: &Path) -> Value {
    path.to_str()
        .map_or_else(|| json!(path.as_os_str().as_bytes()), |text| json!(text))
}

/// A copy of a file under this name; `None`, with a word, where the file system does not take it.
fn copy(file: &Path, folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let copied = clips::copy_as(file, folder, name);
    copied
        .inspect_err(|error| eprintln!("{} is left out: {error}", name.display()))
        .ok()
}

fn shows(desk: &mut Desk, path: &Path, kind: &str, colour: [u8; 3]) -> Result<()> {
    let status = desk.wait_first("the file", |output| output["path"] == wire(path))?;
    assert_eq!(status["kind"], kind, "{}", path.display());
    desk.wait_shot(&format!("a-name-{kind}"), |shot| shot.is_plain(colour, NEAR))
        .map(drop)
}

#[test]
fn any_name_is_played_and_comes_back() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let folder = desk.sway.session().folder().join("names of #files 100%");
    std::fs::create_dir(&folder).unwrap();
    let kinds = [
        ("video", clips::plain(RED).unwrap(), RED),
        (
            "still",
            clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(),
            BLUE,
        ),
    ];
    for (number, name) in names().iter().enumerate() {
        for (kind, file, colour) in &kinds {
            let Some(path) = copy(file, &folder, name) else {
                continue;
            };
            let ran = desk.set([OsStr::new("--"), path.as_os_str()]).unwrap();
            assert_eq!(ran.code(), 0, "{}: {}", name.display(), ran.stderr);
            shows(&mut desk, &path, kind, *colour).unwrap();
            // Every second one as the daemon's argument too.
            if number % 2 == 0 {
                desk.daemon.client(["clear"]).unwrap().ok().unwrap();
                let mut input = OsString::from("--input=");
                input.push(&path);
                desk.restart([input]).unwrap();
                shows(&mut desk, &path, kind, *colour).unwrap();
            }
            desk.restart(NO_ARGUMENTS).unwrap();
            shows(&mut desk, &path, kind, *colour).unwrap();
        }
    }
    // No name was a command to anybody.
    assert!(!folder.join("fakesink").exists());
    let text = desk.daemon.client(["status"]).unwrap().ok().unwrap().stdout;
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_reason_that_names_an_odd_file_is_one_line() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    for name in names() {
        let path = desk.sway.session().folder().join("none").join(&name);
        let ran = desk.set([OsStr::new("--"), path.as_os_str()]).unwrap();
        assert_eq!(ran.code(), 1, "{}", name.display());
        assert_eq!(ran.stderr.lines().count(), 1, "{:?}", ran.stderr);
        assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
    }
}

#[test]
fn links_are_followed_and_remembered_by_their_name() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let folder = desk.sway.session().folder().to_owned();
    let link = folder.join("today");
    std::os::unix::fs::symlink(clips::plain(RED).unwrap(), &link).unwrap();
    desk.set([&link]).unwrap().ok().unwrap();
    shows(&mut desk, &link, "video", RED).unwrap();
    // It may lead elsewhere at the next login.
    std::fs::remove_file(&link).unwrap();
    let picture = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    std::os::unix::fs::symlink(picture, &link).unwrap();
    desk.restart(NO_ARGUMENTS).unwrap();
    shows(&mut desk, &link, "still", BLUE).unwrap();
}
