//! One daemon in a session: how it starts where it can, says why it cannot, and ends.

use std::process::Command;

use anyhow::Result;
use rustix::process::Signal;
use veil_testkit::{Daemon, Desk, GENEROUS, Ran, Session, Sway, Weston, clips, veil_bin, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

/// Runs a daemon that is expected to end by itself.
fn daemon_that_ends(session: &Session, change: impl FnOnce(&mut Command)) -> Result<Ran> {
    // Were it to run on, the test would hang.
    let mut command = session.command("timeout");
    command
        .arg("--kill-after=5")
        .arg("60")
        .arg(veil_bin(None)?)
        .arg("daemon");
    change(&mut command);
    Ran::new(&mut command)
}

/// That it ended with status 1, and that the last line says this.
fn assert_ended(ran: &Ran, reason: &str) {
    assert_eq!(ran.code(), 1, "{ran:?}");
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(last.contains(reason), "{reason:?} is not in {:?}", ran.stderr);
}

#[test]
fn a_second_daemon_refuses_to_start() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    for _ in 0..3 {
        let ran = daemon_that_ends(desk.sway.session(), |_| {}).unwrap();
        assert_ended(&ran, "already runs");
        assert!(
            ran.stderr.contains(&desk.daemon.process().pid().to_string()),
            "{}",
            ran.stderr
        );
        assert!(desk.daemon.process().is_alive());
        assert!(desk.shot().unwrap().is_plain(RED, NEAR));
    }
    // Also where the display is called by its full path.
    let display = desk
        .sway
        .session()
        .runtime_dir()
        .join(desk.sway.session().display());
    let ran = daemon_that_ends(desk.sway.session(), |command| {
        command.env("WAYLAND_DISPLAY", &display);
    });
    assert_ended(&ran.unwrap(), "already runs");
    let mut status = desk.sway.session().command(veil_bin(None).unwrap());
    Ran::new(status.arg("status").env("WAYLAND_DISPLAY", &display))
        .unwrap()
        .ok()
        .unwrap();
}

#[test]
fn of_many_that_start_at_once_one_stays() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let mut daemons: Vec<Daemon> = (0..6)
        .map(|_| {
            let mut command = sway.session().command(&veil);
            command.arg("daemon");
            Daemon::spawn(sway.session(), &command)
        })
        .collect::<Result<_>>()
        .unwrap();
    let mut alive = 6;
    wait_until("all but one to end", GENEROUS, || {
        alive = daemons
            .iter_mut()
            .filter_map(|daemon| daemon.check_alive().ok())
            .count();
        alive <= 1
    })
    .unwrap();
    assert_eq!(alive, 1);
    let status = daemons[0].status().unwrap();
    let pid = status["pid"].as_u64().unwrap();
    assert!(
        daemons
            .iter()
            .any(|daemon| u64::from(daemon.process().pid()) == pid)
    );
}

#[test]
fn two_sessions_have_a_daemon_each() {
    let one = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let two = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    one.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    two.set([clips::plain(BLUE).unwrap()]).unwrap().ok().unwrap();
    assert!(one.shot().unwrap().is_plain(RED, NEAR));
    assert!(two.shot().unwrap().is_plain(BLUE, NEAR));
}

/// As where one compositor is nested in another: one folder, two displays.
#[test]
fn two_displays_of_one_runtime_folder_have_a_daemon_each() {
    let (outer, inner) = (Sway::start("320x180").unwrap(), Sway::start("320x180").unwrap());
    let folder = outer.session().runtime_dir();
    let socket = inner.session().runtime_dir().join(inner.session().display());
    // By a name of its own, and by its full path.
    std::os::unix::fs::symlink(&socket, folder.join("wayland-inner")).unwrap();
    for display in ["wayland-inner".into(), socket.into_os_string()] {
        let start = |display: Option<&std::ffi::OsStr>| {
            let mut command = outer.session().command(veil_bin(None).unwrap());
            command.arg("daemon");
            if let Some(display) = display {
                command.env("WAYLAND_DISPLAY", display);
            }
            Daemon::spawn(outer.session(), &command).unwrap().ready().unwrap()
        };
        let (one, two) = (start(None), start(Some(&display)));
        one.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
        two.set([clips::plain(BLUE).unwrap()]).unwrap().ok().unwrap();
        assert!(outer.screenshot("HEADLESS-1").unwrap().is_plain(RED, NEAR));
        assert!(inner.screenshot("HEADLESS-1").unwrap().is_plain(BLUE, NEAR));
    }
}

#[test]
fn a_socket_that_was_left_behind_is_replaced() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    for file in [
        clips::plain(RED).unwrap(),
        clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap(),
    ] {
        desk.set([&file]).unwrap().ok().unwrap();
        desk.daemon.signal(Signal::KILL).unwrap();
        desk.daemon.wait_exit(GENEROUS).unwrap();
        assert!(desk.socket().exists(), "nothing was left behind");
        let ran = desk.daemon.client(["status"]).unwrap();
        assert_eq!(ran.code(), 1);
        assert!(ran.stderr.contains("not running"), "{}", ran.stderr);
        desk.start_again(NO_ARGUMENTS).unwrap();
        desk.wait_first("what was shown", |output| {
            output["path"] == file.to_str().unwrap()
        })
        .unwrap();
    }
}

#[test]
fn a_signal_ends_it_cleanly_whatever_it_does() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let still = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    let video = clips::plain(RED).unwrap();
    let slow = clips::inputs().unwrap().join("uhd60.mp4");
    let socket = sway
        .session()
        .runtime_dir()
        .join(format!("veil/{}.sock", sway.session().display()));
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        for state in ["idle", "still", "playing", "paused", "opening"] {
            // What it showed last would come back.
            let _ = std::fs::remove_dir_all(sway.session().state_dir().join("veil"));
            let mut daemon = Daemon::start(sway.session(), &veil, NO_ARGUMENTS).unwrap();
            let set = |file: &std::path::Path| {
                daemon
                    .client(["set".as_ref(), file.as_os_str()])
                    .unwrap()
                    .ok()
                    .unwrap()
            };
            let mut opening = None;
            match state {
                "still" => drop(set(&still)),
                "playing" => drop(set(&video)),
                "paused" => {
                    set(&video);
                    daemon.client(["pause"]).unwrap().ok().unwrap();
                }
                "opening" => {
                    let mut client = sway.session().command(&veil);
                    client.arg("set").arg(&slow).stderr(std::process::Stdio::null());
                    opening = Some(client.spawn().unwrap());
                    // By now a thread looks at the file, unless it has done so already.
                    wait_until("the file to be opened", GENEROUS, || {
                        daemon.process().threads().is_ok_and(|threads| threads.len() > 1)
                    })
                    .unwrap();
                }
                _ => {}
            }
            assert!(socket.exists());
            daemon.signal(signal).unwrap();
            let status = daemon.wait_exit(GENEROUS).unwrap();
            assert_eq!(
                status.code(),
                Some(0),
                "{signal:?} while {state}: {status}\n{}",
                daemon.log()
            );
            assert!(
                !socket.exists(),
                "{signal:?} while {state}: the socket is still there"
            );
            if let Some(mut client) = opening {
                // It is told that the daemon ended.
                let ended = client.wait().unwrap();
                assert!(ended.code() == Some(1) || ended.code() == Some(0), "{ended}");
            }
        }
    }
}

#[test]
fn a_signal_while_it_starts_leaves_no_socket() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let socket = sway
        .session()
        .runtime_dir()
        .join(format!("veil/{}.sock", sway.session().display()));
    let clip = clips::inputs().unwrap().join("uhd60.mp4");
    for _ in 0..5 {
        let mut command = sway.session().command(&veil);
        command.arg("daemon").arg("--input").arg(&clip);
        let mut daemon = Daemon::spawn(sway.session(), &command).unwrap();
        wait_until("the socket", GENEROUS, || socket.exists()).unwrap();
        daemon.signal(Signal::TERM).unwrap();
        let status = daemon.wait_exit(GENEROUS).unwrap();
        assert_eq!(status.code(), Some(0), "{}", daemon.log());
        assert!(!socket.exists());
    }
}

#[test]
fn no_compositor_is_said_clearly() {
    let session = Session::new("wayland-none").unwrap();
    let ran = daemon_that_ends(&session, |_| {}).unwrap();
    assert_ended(&ran, "no Wayland compositor");
    let ran = daemon_that_ends(&session, |command| {
        command.env_remove("WAYLAND_DISPLAY");
    });
    assert_ended(&ran.unwrap(), "WAYLAND_DISPLAY");
    let ran = daemon_that_ends(&session, |command| {
        command.env_remove("XDG_RUNTIME_DIR");
    });
    assert_ended(&ran.unwrap(), "XDG_RUNTIME_DIR");
    let folder = session.runtime_dir().join("veil");
    let sockets = std::fs::read_dir(folder).into_iter().flatten().flatten();
    assert!(
        sockets
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".sock"))
            .count()
            == 0
    );
}

#[test]
fn no_layer_shell_is_said_clearly() {
    let weston = Weston::start().unwrap();
    let ran = daemon_that_ends(weston.session(), |command| {
        command.env("WAYLAND_DEBUG", "1");
    });
    let ran = ran.unwrap();
    assert_ended(&ran, "zwlr_layer_shell_v1");
    // Nor does it open a window.
    assert!(!ran.stderr.contains("get_xdg_surface"), "{}", ran.stderr);
}

#[test]
fn it_ends_with_its_compositor() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    desk.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    let socket = desk.socket();
    desk.sway.quit().unwrap();
    let status = desk.daemon.wait_exit(GENEROUS).unwrap();
    assert_eq!(status.code(), Some(75), "{}", desk.daemon.log());
    let log = desk.daemon.log();
    assert!(
        log.lines().last().is_some_and(|line| line.contains("compositor")),
        "{log}"
    );
    assert!(!socket.exists());
}
