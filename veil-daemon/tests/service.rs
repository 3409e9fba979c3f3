//! As a service: what the manager is told, and clients that come before the daemon is there.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use anyhow::{Context, Result};
use rustix::process::Signal;
use veil_testkit::{Daemon, GENEROUS, Session, Sway, clips, veil_bin, veilctl_bin};

const RED: [u8; 3] = [200, 30, 30];
const NEAR: u8 = 4;

/// The socket of a service manager.
struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Manager {
    fn new(session: &Session) -> Result<Self> {
        let path = session.folder().join("notify");
        let _ = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path)?;
        socket.set_read_timeout(Some(GENEROUS))?;
        Ok(Self { socket, path })
    }

    fn start(&self, session: &Session, arguments: &[&str]) -> Result<Daemon> {
        let mut command = session.command(veil_bin(None)?);
        command
            .arg("daemon")
            .args(arguments)
            .env("NOTIFY_SOCKET", &self.path);
        Daemon::spawn(session, &command)
    }

    /// The next message.
    fn heard(&self) -> Result<String> {
        let mut text = [0; 4096];
        let count = self.socket.recv(&mut text).context("nothing was told")?;
        Ok(String::from_utf8_lossy(&text[..count]).into_owned())
    }
}

#[test]
fn ready_is_told_when_the_wallpaper_is_on_the_screen() {
    let sway = Sway::start("320x180").unwrap();
    let manager = Manager::new(sway.session()).unwrap();
    let clip = clips::plain(RED).unwrap();
    // With nothing to show it is ready as soon as it answers.
    let mut daemon = manager.start(sway.session(), &[]).unwrap();
    assert_eq!(
        manager.heard().unwrap(),
        "READY=1\nSTATUS=wallpaper on 0 of 1 outputs"
    );
    daemon.set([&clip]).unwrap().ok().unwrap();
    assert_eq!(manager.heard().unwrap(), "STATUS=wallpaper on 1 of 1 outputs");
    daemon.signal(Signal::TERM).unwrap();
    assert_eq!(manager.heard().unwrap(), "STOPPING=1");
    assert!(daemon.wait_exit(GENEROUS).unwrap().success());
    // What was shown last is on the screen by then: a picture taken at once has it.
    for _ in 0..3 {
        let mut daemon = manager.start(sway.session(), &[]).unwrap();
        assert_eq!(
            manager.heard().unwrap(),
            "READY=1\nSTATUS=wallpaper on 1 of 1 outputs"
        );
        assert!(sway.screenshot("HEADLESS-1").unwrap().is_plain(RED, NEAR));
        daemon.client(["stop"]).unwrap().ok().unwrap();
        assert_eq!(manager.heard().unwrap(), "STOPPING=1");
        daemon.wait_exit(GENEROUS).unwrap();
    }
}

#[test]
fn what_cannot_be_shown_is_not_waited_for() {
    let sway = Sway::start("320x180").unwrap();
    let manager = Manager::new(sway.session()).unwrap();
    let mut daemon = manager
        .start(sway.session(), &["--input", "/nonexistent.mp4"])
        .unwrap();
    assert_eq!(
        manager.heard().unwrap(),
        "READY=1\nSTATUS=wallpaper on 0 of 1 outputs"
    );
    daemon.check_alive().unwrap();
    // Nor is an output that is not there.
    drop(daemon);
    let manager = Manager::new(sway.session()).unwrap();
    let _daemon = manager.start(sway.session(), &["--output", "DP-9"]).unwrap();
    assert_eq!(manager.heard().unwrap(), "READY=1\nSTATUS=no output");
}

/// `veil daemon & veilctl set FILE`, as a session's start-up file may have it.
#[test]
fn a_client_may_come_before_the_daemon() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let veilctl = veilctl_bin(None).unwrap();
    let picture = clips::picture("plain-red", 64, 36, |_, _| RED).unwrap();
    let video = clips::plain(RED).unwrap();
    for round in 0..100 {
        let clip = if round % 4 == 0 { &video } else { &picture };
        let mut command = sway.session().command(&veil);
        command.arg("daemon");
        let mut daemon = Daemon::spawn(sway.session(), &command).unwrap();
        let set = daemon
            .client_of(&veilctl, ["set".as_ref(), clip.as_os_str()])
            .unwrap();
        assert_eq!(
            (set.code(), set.stdout.as_str()),
            (0, ""),
            "round {round}: {set:?}"
        );
        if round % 10 == 0 {
            assert!(sway.screenshot("HEADLESS-1").unwrap().is_plain(RED, NEAR));
        }
        daemon.signal(Signal::KILL).unwrap();
        daemon.wait_exit(GENEROUS).unwrap();
    }
}
