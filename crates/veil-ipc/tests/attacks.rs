//! What clients may do to the control server: it serves the others on.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use common::{Daemon, presented, read_to_end, send, set, wait_until};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use veil_ipc::protocol::MAX_REQUEST;
use veil_ipc::server::MAX_CLIENTS;
use veil_ipc::{Answer, ClientError, Command, Response};

const STATUS: &[u8] = b"{\"version\":1,\"command\":\"status\"}\n";

#[test]
fn garbage_is_answered_and_the_connection_goes_on() {
    let daemon = Daemon::start();
    let stream = daemon.raw();
    let mut lines = BufReader::new(&stream).lines();
    for bad in [
        &b"hello\n"[..],
        b"{\"version\":1}\n",
        b"\xff\xfe\0\n",
        b"[[[[\n",
        b"{\"version\":3,\"command\":\"x\"}\n",
    ] {
        (&stream).write_all(bad).unwrap();
        let answer = lines.next().unwrap().unwrap();
        assert!(answer.starts_with("{\"error\":{\"reason\":\""), "{answer}");
    }
    // Blank lines are no requests.
    (&stream).write_all(b"\n  \r\n").unwrap();
    (&stream).write_all(STATUS).unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with("{\"ok\":{\"status\":"));
    daemon.assert_healthy();
}

#[test]
fn a_line_without_end_is_refused_and_the_client_let_go() {
    let daemon = Daemon::start();
    let stream = daemon.raw();
    let megabyte = vec![b'a'; 1 << 20];
    // The daemon hangs up while this is being written.
    let written = (&stream).write_all(&megabyte);
    assert!(
        written
            .is_err_and(|error| matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset))
    );
    assert_eq!(
        read_to_end(&stream),
        format!("{{\"error\":{{\"reason\":\"the line is longer than {MAX_REQUEST} bytes\"}}}}\n")
    );
    daemon.assert_healthy();
}

#[test]
fn the_longest_line_is_taken() {
    let daemon = Daemon::start();
    let file = format!("/{}", "a".repeat(MAX_REQUEST - 200));
    assert_eq!(daemon.ask(&set(&file)), presented());
    assert_eq!(
        daemon.status().outputs[0].path.as_ref().unwrap().as_path(),
        PathBuf::from(file)
    );
}

#[test]
fn half_a_line_is_no_request() {
    let daemon = Daemon::start();
    let stream = daemon.raw();
    (&stream).write_all(STATUS.strip_suffix(b"\n").unwrap()).unwrap();
    daemon.assert_healthy();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_to_end(&stream), "");
    // And one that is gone at once.
    let stream = daemon.raw();
    (&stream).write_all(b"{\"version\"").unwrap();
    drop(stream);
    daemon.assert_healthy();
}

#[test]
fn a_request_may_come_in_pieces_and_many_at_once() {
    let daemon = Daemon::start();
    let stream = daemon.raw();
    for byte in STATUS {
        (&stream).write_all(&[*byte]).unwrap();
    }
    let mut lines = BufReader::new(&stream).lines();
    assert!(lines.next().unwrap().unwrap().contains("status"));
    (&stream).write_all(&STATUS.repeat(300)).unwrap();
    for _ in 0..300 {
        assert!(lines.next().unwrap().unwrap().contains("status"));
    }
    daemon.assert_healthy();
}

#[test]
fn who_sends_no_more_is_still_answered() {
    let daemon = Daemon::start();
    let stream = daemon.raw();
    (&stream)
        .write_all(&[&set("/late").to_line().unwrap()[..], STATUS].concat())
        .unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    wait_until("the request is held", || daemon.held() == [true]);
    daemon.assert_healthy();
    daemon.release();
    let answers = read_to_end(&stream);
    assert_eq!(answers.lines().count(), 2, "{answers}");
    assert!(
        answers.starts_with("{\"ok\":{\"set\":"),
        "answers in the order of the requests: {answers}"
    );
}

#[test]
fn idle_clients_lock_nobody_out() {
    let daemon = Daemon::start();
    let mut idle: Vec<_> = (0..200).map(|_| daemon.raw()).collect();
    daemon.assert_healthy();
    // They are all still there.
    for stream in &idle {
        let mut line = String::new();
        (&*stream).write_all(STATUS).unwrap();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert!(line.starts_with("{\"ok\":"), "{line}");
    }
    // With more than there is room for, the first ones go.
    idle.extend((0..MAX_CLIENTS).map(|_| daemon.raw()));
    daemon.assert_healthy();
    assert_eq!(read_to_end(&idle[0]), "");
}

#[test]
fn a_request_at_work_is_not_let_go_for_idle_clients() {
    let daemon = Daemon::start();
    let working = daemon.raw();
    send(&working, &set("/late"));
    // From here on it is the one that has been silent longest.
    wait_until("it is at work", || daemon.ever_held() == 1);
    let idle: Vec<_> = (0..MAX_CLIENTS + 10).map(|_| daemon.raw()).collect();
    assert_eq!(daemon.held(), [true]);
    drop(idle);
    daemon.release();
    let mut line = String::new();
    BufReader::new(&working).read_line(&mut line).unwrap();
    assert_eq!(line, "{\"ok\":{\"set\":{\"presented\":true}}}\n");
}

#[test]
fn when_all_are_at_work_the_next_is_told() {
    let daemon = Daemon::start();
    let working: Vec<_> = (1..MAX_CLIENTS).map(|_| daemon.raw()).collect();
    for stream in &working {
        send(stream, &set("/late"));
    }
    wait_until("all but one are held", || daemon.held().len() == working.len());
    let last = daemon.raw();
    send(&last, &set("/late"));
    wait_until("the server is full", || {
        match daemon.client().request(&Command::Status, common::GENEROUS) {
            Ok(Response::Error { reason }) => reason.as_str().contains("busy"),
            Ok(_) => false,
            Err(error) => panic!("{error}"),
        }
    });
    drop(last);
    wait_until("there is room again", || {
        matches!(
            daemon.client().request(&Command::Status, common::GENEROUS),
            Ok(Response::Ok(_))
        )
    });
    daemon.release();
}

#[test]
fn a_client_killed_in_mid_answer_harms_nobody() {
    let daemon = Daemon::start();
    // More than a socket's buffer holds, less than makes the server give up.
    daemon.pad(300_000);
    for _ in 0..20 {
        let stream = daemon.raw();
        (&stream).write_all(STATUS).unwrap();
        let mut some = [0; 10];
        (&stream).read_exact(&mut some).unwrap();
        drop(stream);
    }
    // And some who are gone before their answer begins.
    for _ in 0..20 {
        (&daemon.raw()).write_all(STATUS).unwrap();
    }
    daemon.pad(0);
    daemon.assert_healthy();
}

#[test]
fn a_slow_reader_gets_all_of_a_long_answer() {
    let daemon = Daemon::start();
    daemon.pad(300_000);
    let stream = daemon.raw();
    (&stream).write_all(STATUS).unwrap();
    daemon.pad(0);
    let mut reader = BufReader::with_capacity(1000, &stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.len() > 300_000);
    // The connection is none the worse for it.
    (&stream).write_all(STATUS).unwrap();
    line.clear();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"ok\":{\"status\":"), "{line}");
}

#[test]
fn a_client_that_never_reads_waits_alone() {
    let daemon = Daemon::start();
    daemon.pad(60_000);
    let stream = daemon.raw();
    stream.set_nonblocking(true).unwrap();
    // Until nothing goes any more: the server has stopped taking this client's requests.
    let mut sent = 0_usize;
    wait_until("the client is held up", || {
        match (&stream).write(&STATUS.repeat(100)) {
            Ok(count) => {
                sent += count;
                false
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    });
    assert!(
        sent < 16 << 20,
        "{sent} bytes were taken from a client that reads nothing"
    );
    daemon.pad(0);
    daemon.assert_healthy();
    // When it reads at last, it is served.
    stream.set_nonblocking(false).unwrap();
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    assert!(line.ends_with("}}}\n"));
}

#[test]
fn too_much_to_send_ends_the_connection() {
    let daemon = Daemon::start();
    daemon.pad(4 << 20);
    let stream = daemon.raw();
    (&stream).write_all(STATUS).unwrap();
    // Answered after the long answer was tried, which therefore nobody was reading.
    daemon.pad(0);
    assert!(read_to_end(&stream).len() < 4 << 20);
    daemon.assert_healthy();
}

#[test]
fn answers_may_be_late_and_others_go_first() {
    let daemon = Daemon::start();
    let waiting = [daemon.raw(), daemon.raw()];
    send(&waiting[0], &set("/late"));
    wait_until("the first is held", || daemon.held() == [true]);
    // The second asks for more before it has its answer.
    (&waiting[1])
        .write_all(&[&set("/late").to_line().unwrap()[..], STATUS].concat())
        .unwrap();
    wait_until("both are held", || daemon.held() == [true, true]);
    daemon.assert_healthy();
    daemon.release();
    for stream in &waiting {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert_eq!(line, "{\"ok\":{\"set\":{\"presented\":true}}}\n");
    }
    waiting[1].shutdown(Shutdown::Write).unwrap();
}

#[test]
fn a_request_that_came_during_another_is_taken_up_by_itself() {
    let daemon = Daemon::start();
    let stream = daemon.raw();
    (&stream)
        .write_all(&[&set("/late").to_line().unwrap()[..], STATUS].concat())
        .unwrap();
    wait_until("it is held", || daemon.held() == [true]);
    daemon.release();
    // Nothing further is sent, so nothing but the first answer can have woken the server for the second.
    let mut lines = BufReader::new(&stream).lines();
    assert!(lines.next().unwrap().unwrap().contains("presented"));
    assert!(lines.next().unwrap().unwrap().contains("status"));
}

#[test]
fn the_daemon_learns_that_a_client_is_gone() {
    let daemon = Daemon::start();
    let (one, other) = (daemon.raw(), daemon.raw());
    send(&one, &set("/late"));
    wait_until("one is held", || daemon.held() == [true]);
    send(&other, &set("/late"));
    wait_until("both are held", || daemon.held() == [true, true]);
    drop(one);
    wait_until("one is gone", || daemon.held() == [false, true]);
    daemon.assert_healthy();
    daemon.release();
    let mut line = String::new();
    BufReader::new(&other).read_line(&mut line).unwrap();
    assert!(line.contains("presented"));
}

#[test]
fn a_request_that_is_dropped_is_an_error() {
    let daemon = Daemon::start();
    assert!(matches!(daemon.ask(&set("/drop")), Response::Error { .. }));
}

#[test]
fn any_file_name_comes_back() {
    let daemon = Daemon::start();
    for name in [
        &b"/a b #1 100%25 \xe5\xa3\x81 \"q\" (x),y;$(id).mp4"[..],
        b"/\xff\xfe\n.mp4",
        b"/-",
        b"/\xc3(",
    ] {
        let path = PathBuf::from(OsString::from_vec(name.to_vec()));
        assert_eq!(daemon.ask(&set(&path)), presented());
        assert_eq!(daemon.status().outputs[0].path.as_ref().unwrap().as_path(), path);
    }
}

#[test]
fn the_end_of_the_daemon_is_noticed() {
    let daemon = Daemon::start();
    let location = daemon.location.clone();
    let mut client = daemon.client();
    let stopped = client.request(&Command::Stop, common::GENEROUS).unwrap();
    assert!(matches!(stopped, Response::Error { .. }));
    let waiting = daemon.raw();
    send(&waiting, &set("/late"));
    wait_until("it is held", || daemon.held() == [true]);
    drop(daemon);
    client.wait_closed(common::GENEROUS).unwrap();
    let answer = read_to_end(&waiting);
    assert!(answer.is_empty() || answer.starts_with("{\"error\":"), "{answer}");
    let error = veil_ipc::Client::connect(&location).unwrap_err();
    assert!(matches!(error, ClientError::NotRunning { .. }), "{error}");
}

#[test]
fn one_connection_serves_many_requests() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for _ in 0..500 {
        let response = client.request(&Command::Status, common::GENEROUS).unwrap();
        assert!(matches!(response, Response::Ok(Answer::Status(_))));
    }
}
