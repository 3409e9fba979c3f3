//! A compositor that goes and comes back, with a daemon that waits for it.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use veil_testkit::{Daemon, GENEROUS, Signal, Sway, clips, veil_bin, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;

/// Starts a daemon that waits for its compositor.
fn waiting(sway: &Sway) -> Daemon {
    let veil = veil_bin(None).unwrap();
    Daemon::start(sway.session(), &veil, ["--on-disconnect", "reconnect"]).unwrap()
}

/// Waits until the daemon has noticed that the compositor is gone.
fn wait_gone(daemon: &mut Daemon) {
    daemon
        .wait_status("no output", GENEROUS, |status| {
            status["outputs"].as_array().is_some_and(Vec::is_empty)
        })
        .unwrap();
}

#[test]
fn the_wallpapers_come_back_with_the_compositor() {
    let mut sway = Sway::start("320x180").unwrap();
    let mut daemon = waiting(&sway);
    let pid = daemon.process().pid();
    let video = clips::plain(RED).unwrap();
    let picture = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    for (file, colour) in [(&video, RED), (&picture, BLUE), (&video, RED)] {
        daemon.set([file]).unwrap().ok().unwrap();
        sway.quit().unwrap();
        wait_gone(&mut daemon);
        sway = sway.start_again().unwrap();
        sway.wait_for_picture("HEADLESS-1", "what was shown", GENEROUS, |shot| {
            shot.is_plain(colour, NEAR)
        })
        .unwrap();
        // Where it was before: it was not opened anew.
        if file == &video {
            daemon.wait_frames("HEADLESS-1", 5).unwrap();
        }
        assert_eq!(daemon.process().pid(), pid);
        daemon.check_alive().unwrap();
    }
    assert_eq!(
        daemon.log().matches("video decoder:").count(),
        2,
        "{}",
        daemon.log()
    );
    daemon.client(["stop"]).unwrap().ok().unwrap();
    assert!(daemon.wait_exit(GENEROUS).unwrap().success());
}

#[test]
fn what_is_set_meanwhile_is_shown_then() {
    let mut sway = Sway::start("320x180").unwrap();
    let mut daemon = waiting(&sway);
    let descriptors = daemon.process().descriptors().unwrap().len();
    for colour in [RED, BLUE] {
        sway.quit().unwrap();
        wait_gone(&mut daemon);
        let name = format!("plain-{}", colour[0]);
        let picture = clips::picture(&name, 64, 36, |_, _| colour).unwrap();
        let ran = daemon.set([&picture]).unwrap().ok().unwrap();
        assert!(ran.stdout.contains("there is no output"), "{ran:?}");
        sway = sway.start_again().unwrap();
        sway.wait_for_picture("HEADLESS-1", "what was set", GENEROUS, |shot| {
            shot.is_plain(colour, NEAR)
        })
        .unwrap();
    }
    // What it waited with is given back; the picture itself is some memory.
    wait_until("the descriptors", GENEROUS, || {
        let all = daemon.process().descriptors().unwrap_or_default();
        let own = all.iter().filter(|(_, target)| !target.starts_with("/memfd:"));
        own.count() <= descriptors
    })
    .unwrap();
}

#[test]
fn a_compositor_that_was_killed_leaves_its_socket_and_is_found_again() {
    let mut sway = Sway::start("320x180").unwrap();
    let mut daemon = waiting(&sway);
    daemon.set([clips::plain(RED).unwrap()]).unwrap().ok().unwrap();
    for _ in 0..3 {
        sway.kill().unwrap();
        wait_gone(&mut daemon);
        sway = sway.start_again().unwrap();
        sway.wait_for_picture("HEADLESS-1", "red", GENEROUS, |shot| shot.is_plain(RED, NEAR))
            .unwrap();
    }
    // It can be ended while it waits.
    sway.kill().unwrap();
    wait_gone(&mut daemon);
    daemon.signal(Signal::TERM).unwrap();
    assert!(daemon.wait_exit(GENEROUS).unwrap().success(), "{}", daemon.log());
}

#[test]
fn a_session_that_has_ended_is_not_waited_for() {
    let mut sway = Sway::start("320x180").unwrap();
    let mut daemon = waiting(&sway);
    sway.quit().unwrap();
    wait_gone(&mut daemon);
    std::fs::remove_dir_all(sway.session().runtime_dir()).unwrap();
    let status = daemon.wait_exit(GENEROUS).unwrap();
    assert_eq!(status.code(), Some(1), "{}", daemon.log());
    assert!(daemon.log().contains("the session has ended"), "{}", daemon.log());
}
