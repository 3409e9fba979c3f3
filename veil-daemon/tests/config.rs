//! The configuration: what it wants is shown, and changes with its file; what it gets wrong is told and changes nothing.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use std::{fs, path::Path, path::PathBuf};
use veil_testkit::{Desk, GENEROUS, Ran, Session, Sway, clips, veil_bin, veilctl_bin, wait_for};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

fn path(session: &Session) -> PathBuf {
    session.config_dir().join("veil/config.toml")
}

/// Writes it as most editors do: another file, put in its place.
fn write(session: &Session, text: &str) {
    let path = path(session);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

fn two_outputs() -> Sway {
    let sway = Sway::builder().output("320x180").output("320x180");
    sway.start().unwrap()
}

fn shows(desk: &Desk, output: &str, colour: [u8; 3]) {
    let name = format!("config-{output}");
    desk.sway
        .wait_for_picture(output, &name, GENEROUS, |shot| shot.is_plain(colour, NEAR))
        .unwrap();
}

#[test]
fn the_command_line_goes_before_the_configuration_and_that_before_the_state() {
    let (red, green) = (clips::plain(RED).unwrap(), clips::plain(GREEN).unwrap());
    let mut desk = Desk::on(two_outputs(), NO_ARGUMENTS).unwrap();
    desk.set([&green]).unwrap().ok().unwrap();
    let text = format!(
        "[[output]]\nmatch = \"re:-2$\"\nfile = {:?}\n",
        red.to_str().unwrap()
    );
    write(desk.sway.session(), &text);
    // Both at a start: one by the state, one by the configuration.
    desk.restart(NO_ARGUMENTS).unwrap();
    shows(&desk, "HEADLESS-1", GREEN);
    shows(&desk, "HEADLESS-2", RED);
    // What is set goes before it, for this run.
    desk.set(["--color", "#0000ff"]).unwrap().ok().unwrap();
    shows(&desk, "HEADLESS-2", [0, 0, 255]);
    desk.restart(NO_ARGUMENTS).unwrap();
    shows(&desk, "HEADLESS-1", [0, 0, 255]);
    shows(&desk, "HEADLESS-2", RED);
    // What was cleared stays so, and `restore` brings back what the configuration wants.
    desk.daemon.client(["clear"]).unwrap().ok().unwrap();
    shows(&desk, "HEADLESS-2", [0; 3]);
    desk.daemon.client(["restore"]).unwrap().ok().unwrap();
    shows(&desk, "HEADLESS-2", RED);
    desk.restart(["--input".as_ref(), green.as_os_str()]).unwrap();
    shows(&desk, "HEADLESS-2", GREEN);
}

#[test]
fn changes_count_when_the_file_is_saved() {
    let (red, green) = (clips::plain(RED).unwrap(), clips::plain(GREEN).unwrap());
    let video = clips::quadrants_video(320, 180).unwrap();
    // Not even the folder is there at first.
    let mut desk = Desk::on(two_outputs(), NO_ARGUMENTS).unwrap();
    let session = desk.sway.session();
    assert!(!path(session).parent().unwrap().exists());
    let rule = |output: &str, file: &Path, more: &str| {
        format!(
            "[[output]]\nmatch = {output:?}\nfile = {:?}\n{more}\n",
            file.to_str().unwrap()
        )
    };
    write(session, &rule("*", &red, ""));
    shows(&desk, "HEADLESS-1", RED);
    shows(&desk, "HEADLESS-2", RED);
    write(
        session,
        &format!("{}{}", rule("HEADLESS-2", &green, ""), rule("*", &red, "")),
    );
    shows(&desk, "HEADLESS-2", GREEN);
    shows(&desk, "HEADLESS-1", RED);
    // Set by hand, and a change elsewhere leaves it alone; a change of its own rule does not.
    desk.set(["--output", "HEADLESS-2", "--color", "#0000ff"])
        .unwrap()
        .ok()
        .unwrap();
    write(
        session,
        &format!("{}{}", rule("HEADLESS-2", &green, ""), rule("*", &video, "")),
    );
    desk.wait_output("HEADLESS-1", "the video", |output| output["kind"] == "video")
        .unwrap();
    shows(&desk, "HEADLESS-2", [0, 0, 255]);
    write(desk.sway.session(), &rule("*", &video, "mode = \"stretch\""));
    for name in ["HEADLESS-1", "HEADLESS-2"] {
        let is_so = |output: &serde_json::Value| output["kind"] == "video" && output["mode"] == "stretch";
        desk.wait_output(name, "the video, stretched", is_so).unwrap();
    }
    // Written in place, as `>` of a shell does.
    fs::write(path(desk.sway.session()), rule("*", &green, "")).unwrap();
    shows(&desk, "HEADLESS-1", GREEN);
    // Nothing is wanted any more: what the state says, which is nothing for the first output.
    fs::remove_file(path(desk.sway.session())).unwrap();
    shows(&desk, "HEADLESS-1", [0; 3]);
    shows(&desk, "HEADLESS-2", [0, 0, 255]);
}

#[test]
fn mistakes_are_told_by_place_and_change_nothing() {
    let red = clips::plain(RED).unwrap();
    let mut desk = Desk::on(two_outputs(), NO_ARGUMENTS).unwrap();
    let good = format!("[[output]]\nmatch = \"*\"\nfile = {:?}\n", red.to_str().unwrap());
    write(desk.sway.session(), &good);
    shows(&desk, "HEADLESS-1", RED);
    let bad = "[defaults]\nmoode = \"fit\"\n\n[[output]]\nmatch = \"*\"\ncolor = \"blue\"\n";
    write(desk.sway.session(), bad);
    for line in ["config.toml:2:1: ", "did you mean `mode`?", "config.toml:6:9: "] {
        desk.daemon.wait_log(line, GENEROUS).unwrap();
    }
    let ran = desk.daemon.client(["reload"]).unwrap();
    assert!(
        ran.code() == 1 && ran.stderr.contains("2:1") && ran.stderr.contains("6:9"),
        "{ran:?}"
    );
    shows(&desk, "HEADLESS-1", RED);
    // The same by the command that needs no daemon, in both programs.
    for program in [veil_bin(None).unwrap(), veilctl_bin(None).unwrap()] {
        let ran = desk.daemon.client_of(&program, ["check-config"]).unwrap();
        assert_eq!(ran.code(), 1, "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
        let good = desk.sway.session().folder().join("good.toml");
        fs::write(
            &good,
            "[[output]]\nmatch = \"*\"\nfile = \"gone.png\"\n[hooks]\non_change = [\"no-such-program\"]\n",
        )
        .unwrap();
        let arguments = ["check-config".as_ref(), good.as_os_str()];
        let ran = desk.daemon.client_of(&program, arguments).unwrap().ok().unwrap();
        for words in ["1 rule", "gone.png is not there", "no program no-such-program"] {
            assert!(ran.stdout.contains(words), "{ran:?}");
        }
    }
    // It starts with such a file all the same, unless that was asked for by name.
    desk.restart(NO_ARGUMENTS).unwrap();
    let path = path(desk.sway.session());
    let mut command = desk.sway.session().command(veil_bin(None).unwrap());
    let ran = Ran::new(command.arg("daemon").arg("--config").arg(path)).unwrap();
    assert!(ran.code() == 1 && ran.stderr.contains(":2:1: "), "{ran:?}");
}

#[test]
fn outputs_are_chosen_by_name_description_pattern_and_exclusion() {
    let sway = Sway::builder()
        .output("320x180")
        .output("320x180")
        .output("320x180");
    let sway = sway.start().unwrap();
    write(sway.session(), "outputs = [\"!HEADLESS-3\"]\n");
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    let status = desk.daemon.status().unwrap();
    assert_eq!(status["outputs"].as_array().unwrap().len(), 2, "{status}");
    let set = |output: &str, color: &str| desk.set(["--output", output, "--color", color]).unwrap();
    set("*", "#ff0000").ok().unwrap();
    set("re:^HEADLESS-[23]$", "#00ff00").ok().unwrap();
    shows(&desk, "HEADLESS-1", [255, 0, 0]);
    shows(&desk, "HEADLESS-2", [0, 255, 0]);
    set("!HEADLESS-2", "#0000ff").ok().unwrap();
    shows(&desk, "HEADLESS-1", [0, 0, 255]);
    shows(&desk, "HEADLESS-2", [0, 255, 0]);
    let outputs = desk.daemon.client(["outputs", "--json"]).unwrap().ok().unwrap();
    let outputs: serde_json::Value = serde_json::from_str(&outputs.stdout).unwrap();
    let description = outputs[0]["description"].as_str().unwrap().to_owned();
    assert!(!description.is_empty());
    set(&description, "#ffff00").ok().unwrap();
    shows(&desk, outputs[0]["name"].as_str().unwrap(), [255, 255, 0]);
    for (wrong, words) in [
        ("HEADLESS-3", "no output"),
        ("re:DP", "no output"),
        ("re:(", "no regular expression"),
    ] {
        let ran = set(wrong, "#000000");
        assert!(ran.code() == 1 && ran.stderr.contains(words), "{ran:?}");
    }
    // The list of outputs follows the file too; the third knows by then what was set for all.
    write(desk.sway.session(), "outputs = [\"HEADLESS-3\"]\n");
    let only = |status: &serde_json::Value| {
        let outputs = status["outputs"].as_array().unwrap();
        outputs.len() == 1 && outputs[0]["name"] == "HEADLESS-3"
    };
    desk.daemon
        .wait_status("only the third output", GENEROUS, only)
        .unwrap();
    shows(&desk, "HEADLESS-3", [255, 0, 0]);
    // And the command line goes before it.
    desk.restart(["--output", "re:-[12]$"]).unwrap();
    let status = desk.daemon.status().unwrap();
    assert_eq!(status["outputs"].as_array().unwrap().len(), 2, "{status}");
}

#[test]
fn a_hook_is_told_what_is_shown_and_can_be_ended() {
    let red = clips::plain(RED).unwrap();
    let sway = Sway::start("320x180").unwrap();
    let folder = sway.session().folder().to_owned();
    let told = folder.join("told");
    let script = folder.join("hook");
    // Its line is written in one piece. One of its signals is blocked if the daemon's mask was handed on.
    let lines = format!(
        "#!/bin/sh\ngrep SigBlk /proc/$$/status | tr '\\n' ' ' >> {told:?}\n\
         echo \"$VEIL_OUTPUT|$VEIL_KIND|$VEIL_FILE|$VEIL_COLOR|$1\" >> {told:?}\nexit 3\n"
    );
    fs::write(&script, lines).unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    write(
        sway.session(),
        &format!("[hooks]\non_change = [{script:?}, \"a; rm -rf x $HOME\"]\n"),
    );
    let mut desk = Desk::on(sway, NO_ARGUMENTS).unwrap();
    let wait = |line: &str| {
        wait_for(line, GENEROUS, || {
            let all = fs::read_to_string(&told).unwrap_or_default();
            let found = all.lines().find(|told| told.contains(line));
            Ok(found.map(str::to_owned))
        })
        .unwrap()
    };
    desk.set([&red]).unwrap().ok().unwrap();
    let line = wait(&format!("HEADLESS-1|video|{}||a; rm -rf x $HOME", red.display()));
    assert!(line.contains("0000000000000000"), "signals are blocked: {line}");
    desk.set(["--color", "#0000ff"]).unwrap().ok().unwrap();
    wait("HEADLESS-1|color||#0000ff|");
    desk.daemon.client(["clear"]).unwrap().ok().unwrap();
    wait("HEADLESS-1|none|||");
    desk.daemon.wait_log("on_change: ", GENEROUS).unwrap();
    assert!(desk.daemon.log().contains("ended with exit status: 3"));
    // Each has ended, and is gone.
    let children = || desk.daemon.process().children();
    wait_for("no child left", GENEROUS, || {
        Ok(children().is_ok_and(|all| all.is_empty()).then_some(()))
    })
    .unwrap();
}
