//! What clients may do to the socket of a daemon that shows something: it serves the others on.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result};
use veil_testkit::{Daemon, Desk, GENEROUS, Sway, clips, veil_bin, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const STATUS: &[u8] = b"{\"version\":1,\"command\":\"status\"}\n";

/// A daemon that plays a video, and what it holds then.
fn playing() -> Result<(Desk, usize)> {
    let mut desk = Desk::start("320x180", ["--input".as_ref(), clips::plain(RED)?.as_os_str()])?;
    desk.wait_frames("HEADLESS-1", 5)?;
    let descriptors = held(&desk)?;
    Ok((desk, descriptors))
}

/// Its descriptors, without the memory for pictures: that is made when it is needed, a slow compositor needs more.
fn held(desk: &Desk) -> Result<usize> {
    let all = desk.daemon.process().descriptors()?;
    Ok(all
        .iter()
        .filter(|(_, target)| !target.starts_with("/memfd:"))
        .count())
}

fn connect(desk: &Desk) -> Result<UnixStream> {
    let stream = UnixStream::connect(desk.socket())?;
    stream.set_read_timeout(Some(GENEROUS))?;
    stream.set_write_timeout(Some(GENEROUS))?;
    Ok(stream)
}

/// That it still plays and answers, and holds no more than before.
fn assert_as_before(desk: &mut Desk, descriptors: usize) -> Result<()> {
    desk.wait_frames("HEADLESS-1", 3)?;
    wait_until("the connections to be gone", GENEROUS, || {
        held(desk).is_ok_and(|now| now <= descriptors)
    })
    .with_context(|| {
        let now = desk.daemon.process().descriptors();
        format!("{descriptors} descriptors before; now {now:?}")
    })
}

#[test]
fn garbage_is_answered_with_an_error() {
    let (mut desk, descriptors) = playing().unwrap();
    let stream = connect(&desk).unwrap();
    let mut lines = BufReader::new(&stream).lines();
    for line in [
        &b"hello\n"[..],
        b"\xff\xfe\0\x01\n",
        b"{\"version\":1}\n",
        b"{\"version\":99,\"command\":\"status\"}\n",
        b"{\"version\":1,\"command\":\"set\",\"file\":\"relative\"}\n",
        b"{\"version\":1,\"command\":\"set\",\"file\":[300]}\n",
        b"[[[[[[[[\n",
    ] {
        (&stream).write_all(line).unwrap();
        let answer = lines.next().unwrap().unwrap();
        assert!(answer.starts_with("{\"error\":{\"reason\":\""), "{answer}");
    }
    (&stream).write_all(STATUS).unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with("{\"ok\":{\"status\":"));
    drop(stream);
    assert_as_before(&mut desk, descriptors).unwrap();
}

#[test]
fn a_megabyte_without_an_end_and_half_a_line() {
    let (mut desk, descriptors) = playing().unwrap();
    let rss = desk.daemon.process().rss_anon_kib().unwrap();
    for _ in 0..5 {
        let stream = connect(&desk).unwrap();
        // The daemon may hang up while this is being written.
        let _ = (&stream).write_all(&vec![b'a'; 1 << 20]);
        let mut answer = String::new();
        let _ = (&stream).read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("{\"error\""), "{answer}");
        let half = connect(&desk).unwrap();
        (&half).write_all(&STATUS[..10]).unwrap();
        desk.wait_frames("HEADLESS-1", 2).unwrap();
    }
    assert_as_before(&mut desk, descriptors).unwrap();
    let now = desk.daemon.process().rss_anon_kib().unwrap();
    assert!(now < rss + 2048, "{rss} KiB before, {now} after");
}

#[test]
fn two_hundred_idle_clients() {
    let (mut desk, descriptors) = playing().unwrap();
    let idle: Vec<UnixStream> = (0..200).map(|_| connect(&desk)).collect::<Result<_>>().unwrap();
    for _ in 0..3 {
        desk.wait_frames("HEADLESS-1", 3).unwrap();
    }
    // They are served too, when they ask after all.
    for mut stream in idle.iter().step_by(50) {
        stream.write_all(STATUS).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert!(line.contains("HEADLESS-1"), "{line}");
    }
    drop(idle);
    assert_as_before(&mut desk, descriptors).unwrap();
}

#[test]
fn more_idle_clients_than_there_is_room_for() {
    let (mut desk, descriptors) = playing().unwrap();
    let idle: Vec<UnixStream> = (0..1200).map_while(|_| connect(&desk).ok()).collect();
    assert!(idle.len() > 200);
    desk.wait_frames("HEADLESS-1", 3).unwrap();
    let clip = clips::plain(RED).unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    drop(idle);
    assert_as_before(&mut desk, descriptors).unwrap();
}

#[test]
fn clients_that_are_killed_while_they_are_answered() {
    let (mut desk, descriptors) = playing().unwrap();
    for round in 0..20 {
        // Answers that nobody reads, more of them than the socket holds.
        let deaf = connect(&desk).unwrap();
        deaf.set_nonblocking(true).unwrap();
        let _ = (&deaf).write(&STATUS.repeat(1000));
        let mut client = desk.spawn_client(["status"]).unwrap();
        if round % 2 == 0 {
            client.kill().unwrap();
        }
        desk.daemon.status().unwrap();
        drop(deaf);
        client.wait().unwrap();
    }
    assert_as_before(&mut desk, descriptors).unwrap();
}

#[test]
fn a_client_that_is_killed_while_it_sets() {
    let (mut desk, _) = playing().unwrap();
    let slow = clips::inputs().unwrap().join("uhd60.mp4");
    let clip = clips::plain(RED).unwrap();
    for _ in 0..5 {
        let mut client = desk.spawn_client(["set".as_ref(), slow.as_os_str()]).unwrap();
        desk.daemon.status().unwrap();
        client.kill().unwrap();
        client.wait().unwrap();
        desk.daemon.status().unwrap();
    }
    desk.set([&clip]).unwrap().ok().unwrap();
    desk.wait_frames("HEADLESS-1", 3).unwrap();
    desk.daemon.client(["clear"]).unwrap().ok().unwrap();
    let process = desk.daemon.process();
    wait_until("the pipelines to be gone", GENEROUS, || {
        process.threads().is_ok_and(|threads| threads.len() == 1)
    })
    .unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    desk.wait_frames("HEADLESS-1", 3).unwrap();
}

#[test]
fn only_the_user_may_talk_to_it() {
    let (desk, _) = playing().unwrap();
    let mode = |path| std::fs::metadata(path).map(|found| found.permissions().mode() & 0o777);
    assert_eq!(mode(desk.socket()).unwrap(), 0o600);
    assert_eq!(mode(desk.socket().parent().unwrap().to_owned()).unwrap(), 0o700);
}

#[test]
fn few_descriptors_are_no_reason_to_end() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let clip = clips::plain(RED).unwrap();
    let mut command = sway.session().command("prlimit");
    command.arg("--nofile=80").arg(&veil).arg("daemon");
    let mut daemon = Daemon::spawn(sway.session(), &command).unwrap();
    let veil = |arguments: &[&str]| daemon.client_of(&veil, arguments).unwrap();
    veil(&["set", clip.to_str().unwrap()]).ok().unwrap();
    let folder = sway.session().runtime_dir().join("veil");
    let socket = folder.join(format!("{}.sock", sway.session().display()));
    for _ in 0..3 {
        let idle: Vec<_> = (0..150)
            .map_while(|_| UnixStream::connect(&socket).ok())
            .collect();
        assert!(idle.len() > 80);
        // It may have no room for this one; it must not have ended.
        veil(&["status"]);
        drop(idle);
        veil(&["status"]).ok().unwrap();
        veil(&["set", clip.to_str().unwrap()]).ok().unwrap();
    }
    assert!(sway.screenshot("HEADLESS-1").unwrap().is_plain(RED, 4));
    assert!(daemon.log().lines().count() < 100, "{}", daemon.log());
    daemon.check_alive().unwrap();
}
