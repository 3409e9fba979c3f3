//! Descriptors: none is kept, and a daemon that has none left neither spins nor locks clients out for ever.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use common::{Daemon, GENEROUS, send, set, wait_until};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use veil_ipc::{Command, Response};

/// Descriptors belong to the process, so the tests here take turns.
static TURN: Mutex<()> = Mutex::new(());

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn none_is_kept() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let at_first = open_descriptors();
    let daemon = Daemon::start();
    let before = open_descriptors();
    daemon.assert_healthy();

    let idle: Vec<_> = (0..50).map(|_| daemon.raw()).collect();
    for stream in &idle[..10] {
        send(stream, &set("/late"));
    }
    for stream in &idle[10..20] {
        (&*stream).write_all(b"{\"half").unwrap();
    }
    daemon.pad(300_000);
    for stream in &idle[20..30] {
        send(stream, &Command::Status);
    }
    (&idle[30]).write_all(&[b'x'; 100_000]).unwrap();
    wait_until("all are held", || daemon.held().len() == 10);
    drop(idle);
    wait_until("the server has let all go", || open_descriptors() == before);

    // Requests whose clients are gone keep nothing either.
    assert_eq!(daemon.held(), [false; 10]);
    daemon.release();
    daemon.pad(0);
    daemon.assert_healthy();
    wait_until("the last clients are let go", || open_descriptors() == before);
    let clients: Vec<_> = (0..5).map(|_| daemon.raw()).collect();
    daemon.assert_healthy();
    drop(daemon);
    drop(clients);
    assert_eq!(open_descriptors(), at_first);
}

/// A socket that has its descriptor, to be connected when there are no more to be had.
fn unconnected() -> OwnedFd {
    rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap()
}

fn connected(daemon: &Daemon, socket: OwnedFd) -> UnixStream {
    rustix::net::connect(&socket, &SocketAddrUnix::new(daemon.location.socket()).unwrap()).unwrap();
    let stream = UnixStream::from(socket);
    stream.set_read_timeout(Some(GENEROUS)).unwrap();
    stream
}

fn line_of(stream: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn without_descriptors_the_server_sleeps_and_recovers() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let daemon = Daemon::start();
    let limit = getrlimit(Resource::Nofile);
    let (idle, mut working) = (daemon.raw(), daemon.client());
    daemon.assert_healthy();
    let (late, newcomer, last) = (unconnected(), unconnected(), unconnected());
    // A client from before, that asks without a further descriptor.
    let mut healthy = || matches!(working.request(&Command::Status, GENEROUS), Ok(Response::Ok(_)));
    assert!(healthy());

    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(100),
            maximum: limit.maximum,
        },
    )
    .unwrap();
    let mut fillers: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();

    // The idle client makes room, since it has been idle longest.
    let late = connected(&daemon, late);
    send(&late, &set("/late"));
    wait_until("it is served", || daemon.ever_held() == 1);
    assert_eq!(common::read_to_end(&idle), "");
    assert!(healthy());
    // Its descriptor here is filled up, as is that of the one that asks in between, once it has gone.
    drop(idle);
    fillers.extend(std::iter::from_fn(|| File::open("/dev/null").ok()));

    // Now there is the one at work, and `working`, which goes for the newcomer.
    let newcomer = connected(&daemon, newcomer);
    send(&newcomer, &set("/late"));
    // Not before it has the descriptor: else the fillers might be faster.
    wait_until("it is served", || daemon.ever_held() == 2);
    assert!(working.request(&Command::Status, GENEROUS).is_err());
    fillers.extend(std::iter::from_fn(|| File::open("/dev/null").ok()));

    // And now all are at work. The last one waits; and while it does, the loop must sleep: a loop that spins turns
    // thousands of times in this moment.
    let before = daemon.turns();
    let last = connected(&daemon, last);
    send(&last, &Command::Status);
    wait_until("the daemon has seen it", || daemon.turns() > before);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(
        daemon.turns() - before < 10,
        "the loop spins: {} turns",
        daemon.turns() - before
    );

    // A client that leaves makes room.
    drop(newcomer);
    assert!(line_of(&last).starts_with("{\"ok\":{\"status\""));
    drop(fillers);
    setrlimit(Resource::Nofile, limit).unwrap();
    daemon.release();
    assert!(line_of(&late).contains("presented"));
}
