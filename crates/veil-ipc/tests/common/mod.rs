//! A control server on a real event loop in a thread of its own, with requests that a test can steer.

#![allow(dead_code, reason = "each test binary uses a part of this")]
#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use calloop::{EventLoop, LoopSignal};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use veil_ipc::protocol::{OutputStatus, Status};
use veil_ipc::server::{Instance, Responder, Server};
use veil_ipc::{Answer, Client, Command, Location, Reason, Response, Source, WirePath};

/// Longer than anything here takes on a slow, busy machine.
pub(crate) const GENEROUS: Duration = Duration::from_secs(30);

/// The daemon under test. It ends when this is dropped.
pub(crate) struct Daemon {
    pub(crate) location: Location,
    signal: LoopSignal,
    turns: Arc<AtomicUsize>,
    /// How many requests were held so far.
    ever_held: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

/// The loop's data.
#[derive(Default)]
struct State {
    held: Vec<Responder>,
    ever_held: Arc<AtomicUsize>,
    path: Option<WirePath>,
    padding: usize,
}

impl Daemon {
    pub(crate) fn start() -> Self {
        // Both ends of hundreds of connections are in this process, and other tests run in it at the same time.
        let limit = getrlimit(Resource::Nofile);
        setrlimit(
            Resource::Nofile,
            Rlimit {
                current: limit.maximum,
                maximum: limit.maximum,
            },
        )
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let location = Location::new(folder.path(), OsStr::new("wayland-7")).unwrap();
        let turns = Arc::new(AtomicUsize::new(0));
        let ever_held = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpsc::channel();
        let thread = {
            let (location, turns) = (location.clone(), Arc::clone(&turns));
            let ever_held = Arc::clone(&ever_held);
            thread::spawn(move || {
                // Made here, because a responder never leaves its loop's thread.
                let mut state = State {
                    ever_held,
                    ..State::default()
                };
                let mut event_loop = EventLoop::<State>::try_new().unwrap();
                let mut instance = Instance::acquire(location).unwrap();
                let listener = instance.bind().unwrap();
                let _server = Server::insert(&event_loop.handle(), listener, handle).unwrap();
                sender.send(event_loop.get_signal()).unwrap();
                let count = |_: &mut State| {
                    turns.fetch_add(1, Ordering::Relaxed);
                };
                event_loop.run(None, &mut state, count).unwrap();
            })
        };
        let signal = receiver.recv().unwrap();
        Self {
            location,
            signal,
            turns,
            ever_held,
            thread: Some(thread),
            _folder: folder,
        }
    }

    /// How often the loop has woken up so far.
    pub(crate) fn turns(&self) -> usize {
        self.turns.load(Ordering::Relaxed)
    }

    /// How many requests were held so far; unlike [`Self::held`] this needs no connection.
    pub(crate) fn ever_held(&self) -> usize {
        self.ever_held.load(Ordering::Relaxed)
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.location).unwrap()
    }

    /// A bare connection, to send anything over.
    pub(crate) fn raw(&self) -> UnixStream {
        let stream = UnixStream::connect(self.location.socket()).unwrap();
        stream.set_read_timeout(Some(GENEROUS)).unwrap();
        stream.set_write_timeout(Some(GENEROUS)).unwrap();
        stream
    }

    /// Asks over a new connection.
    pub(crate) fn ask(&self, command: &Command) -> Response {
        self.client().request(command, GENEROUS).unwrap()
    }

    pub(crate) fn status(&self) -> Status {
        match self.ask(&Command::Status) {
            Response::Ok(Answer::Status(status)) => status,
            other => panic!("{other:?}"),
        }
    }

    /// Whether the clients of the held requests are there, in the order of their coming.
    pub(crate) fn held(&self) -> Vec<bool> {
        match self.ask(&Command::Toggle { outputs: vec![] }) {
            Response::Error { reason } => reason.as_str().chars().map(|c| c == '1').collect(),
            other => panic!("{other:?}"),
        }
    }

    /// Lets the held requests be answered.
    pub(crate) fn release(&self) {
        assert_eq!(
            self.ask(&Command::Resume { outputs: vec![] }),
            Response::Ok(Answer::Done)
        );
    }

    /// Makes the status longer by so many bytes.
    pub(crate) fn pad(&self, bytes: usize) {
        self.ask(&set(format!("/pad/{bytes}")));
    }

    /// Fails unless other clients are served, and the loop sleeps in between: with all that is connected now it wakes up
    /// only for the requests that are made here.
    pub(crate) fn assert_healthy(&self) {
        let mut client = self.client();
        let mut ask = || client.request(&Command::Status, GENEROUS).unwrap();
        ask();
        let before = self.turns();
        for _ in 0..100 {
            assert!(matches!(ask(), Response::Ok(Answer::Status(_))));
        }
        let turns = self.turns() - before;
        assert!(turns <= 250, "{turns} turns of the loop for 100 requests");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.signal.stop();
        self.signal.wakeup();
        let ended = self.thread.take().unwrap().join();
        if !thread::panicking() {
            ended.unwrap();
            assert!(!self.location.socket().exists(), "the socket stayed");
        }
    }
}

/// What the daemon does, by command and file name.
fn handle(command: Command, responder: Responder, state: &mut State) {
    match command {
        Command::Set { source, .. } => match source.file().and_then(|file| file.as_path().to_str()) {
            Some("/late") => {
                state.held.push(responder);
                state.ever_held.fetch_add(1, Ordering::Relaxed);
            }
            Some("/drop") => drop(responder),
            Some(pad) if pad.starts_with("/pad/") => {
                state.padding = pad[5..].parse().unwrap();
                responder.answer(Answer::Done);
            }
            _ => {
                state.path = source.file().cloned();
                responder.answer(Answer::Set {
                    presented: true,
                    reason: None,
                });
            }
        },
        Command::Status => {
            let output = OutputStatus {
                path: state.path.clone(),
                description: "x".repeat(state.padding),
                ..OutputStatus::default()
            };
            responder.answer(Answer::Status(Status {
                outputs: vec![output],
                ..Status::default()
            }));
        }
        Command::Toggle { .. } => {
            let flags = state
                .held
                .iter()
                .map(|held| if held.is_connected() { '1' } else { '0' });
            responder.refuse(Reason::new(flags.collect::<String>()));
        }
        Command::Resume { .. } => {
            for held in state.held.drain(..) {
                held.answer(Answer::Set {
                    presented: true,
                    reason: None,
                });
            }
            responder.answer(Answer::Done);
        }
        _ => responder.refuse("not here"),
    }
}

/// A request to set a file.
pub(crate) fn set(file: impl AsRef<Path>) -> Command {
    Command::Set {
        source: Source::from(file.as_ref()),
        outputs: vec![],
        mode: None,
        background: None,
        playlist: None,
        playback: Default::default(),
        start: None,
    }
}

/// The answer to a `set` that was presented.
pub(crate) fn presented() -> Response {
    Response::Ok(Answer::Set {
        presented: true,
        reason: None,
    })
}

/// Sends a command over a bare connection, and does not wait.
pub(crate) fn send(mut stream: &UnixStream, command: &Command) {
    stream.write_all(&command.to_line().unwrap()).unwrap();
}

/// Everything that comes until the server closes the connection.
pub(crate) fn read_to_end(mut stream: &UnixStream) -> String {
    let mut text = Vec::new();
    let mut chunk = [0; 65536];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => text.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error}"),
        }
    }
    String::from_utf8(text).unwrap()
}

/// Waits until it is so.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + GENEROUS;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}
