//! A client of the daemon: blocking, with a limit to every wait.

use crate::line::LineReader;
use crate::path::{Location, LocationError};
use crate::protocol::{Command, MAX_RESPONSE, Response};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a daemon that is busy may take until a connection stands.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// This session has no place for a socket.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// No daemon listens.
    #[error("veil is not running in this session (no daemon on {}); start it with `veil daemon`", .socket.display())]
    NotRunning {
        /// Where it would listen.
        socket: PathBuf,
    },
    /// The socket is there, and can't be used.
    #[error("cannot connect to veil on {}: {error}", .socket.display())]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// The connection broke.
    #[error("the connection to veil broke: {0}")]
    Broken(#[source] io::Error),
    /// The daemon closed the connection before it answered.
    #[error("veil ended before it answered")]
    Closed,
    /// The daemon did not answer.
    #[error("veil has not answered within {} s", .0.as_secs_f32())]
    Late(Duration),
    /// The daemon was told to stop, and still runs.
    #[error("veil was told to stop and has not ended within {} s", .0.as_secs_f32())]
    StillRunning(Duration),
    /// The request can't be written as JSON.
    #[error("the request can't be written: {0}")]
    Request(#[source] serde_json::Error),
    /// The daemon sent something that is no response of this version.
    #[error("veil's answer is not understood (is the daemon of another version than this program?): {0}")]
    Response(#[source] serde_json::Error),
    /// The daemon sent a line without end.
    #[error("veil's answer is not understood: {0}")]
    TooLong(#[from] crate::line::LineTooLong),
}

/// A connection to the daemon.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    lines: LineReader,
}

impl Client {
    /// Connects to the daemon, or says at once that there is none.
    pub fn connect(location: &Location) -> Result<Self, ClientError> {
        let stream = connect(location.socket())?;
        Ok(Self {
            stream,
            lines: LineReader::new(MAX_RESPONSE),
        })
    }

    /// Connects to a daemon that may be starting: where none listens yet, it is looked for again until `limit` has passed.
    pub fn connect_waiting(location: &Location, limit: Duration) -> Result<Self, ClientError> {
        let end = Instant::now() + limit;
        let mut pause = Duration::from_millis(2);
        loop {
            match Self::connect(location) {
                // The lock must not be tried here, be it only to learn whether a daemon is coming: the daemon that
                // tried at that moment would find it taken, and refuse to start.
                Err(ClientError::NotRunning { .. }) if Instant::now() < end => {
                    thread::sleep(pause.min(end.saturating_duration_since(Instant::now())));
                    pause = (pause * 2).min(Duration::from_millis(50));
                }
                result => return result,
            }
        }
    }

    /// Asks, and waits at most `limit` for the answer.
    pub fn request(&mut self, command: &Command, limit: Duration) -> Result<Response, ClientError> {
        let line = self.request_line(command, limit)?;
        serde_json::from_slice(&line).map_err(ClientError::Response)
    }

    /// As [`Self::request`], but gives the answer's line as it was sent.
    pub fn request_line(&mut self, command: &Command, limit: Duration) -> Result<Vec<u8>, ClientError> {
        let end = Instant::now() + limit;
        let request = command.to_line().map_err(ClientError::Request)?;
        self.limit_waits(limit, limit)?;
        match self.stream.write_all(&request) {
            Ok(()) => {}
            // A daemon that refused this connection has said why before it closed it, so the answer is still there.
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
            Err(error) if is_timeout(&error) => return Err(ClientError::Late(limit)),
            Err(error) => return Err(ClientError::Broken(error)),
        }
        loop {
            if let Some(line) = self.lines.next_line() {
                return Ok(line?);
            }
            if !self.receive(end, limit)? {
                return Err(ClientError::Closed);
            }
        }
    }

    /// The next line after a subscription; `None` when none has come within `limit`, which may be for ever.
    ///
    /// # Errors
    /// [`ClientError::Closed`] when the daemon has ended, or let this client go.
    pub fn next_event(&mut self, limit: Option<Duration>) -> Result<Option<Vec<u8>>, ClientError> {
        // A wait for ever in steps, since every wait here has its limit.
        const STEP: Duration = Duration::from_secs(3600);
        let end = limit.map(|limit| Instant::now() + limit);
        loop {
            if let Some(line) = self.lines.next_line() {
                return Ok(Some(line?));
            }
            let until = end.unwrap_or_else(|| Instant::now() + STEP);
            match self.receive(until, STEP) {
                Ok(true) => {}
                Ok(false) => return Err(ClientError::Closed),
                Err(ClientError::Late(_)) if end.is_none() => {}
                Err(ClientError::Late(_)) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until the daemon has closed the connection, as it does when it ends.
    pub fn wait_closed(mut self, limit: Duration) -> Result<(), ClientError> {
        let end = Instant::now() + limit;
        loop {
            match self.receive(end, limit) {
                Ok(true) => self.lines.clear(),
                Ok(false) => return Ok(()),
                Err(ClientError::Late(limit)) => return Err(ClientError::StillRunning(limit)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Receives some bytes; false at the end of the stream.
    fn receive(&mut self, end: Instant, limit: Duration) -> Result<bool, ClientError> {
        let mut chunk = [0; 8192];
        loop {
            self.limit_waits(end.saturating_duration_since(Instant::now()), limit)?;
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.lines.push(&chunk[..count]);
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(error) if is_timeout(&error) => return Err(ClientError::Late(limit)),
                Err(error) => return Err(ClientError::Broken(error)),
            }
        }
    }

    /// Limits the next read and write to what is `left` of `limit`.
    fn limit_waits(&self, left: Duration, limit: Duration) -> Result<(), ClientError> {
        if left.is_zero() {
            // To the system, zero means for ever.
            return Err(ClientError::Late(limit));
        }
        self.stream
            .set_read_timeout(Some(left))
            .and_then(|()| self.stream.set_write_timeout(Some(left)))
            .map_err(ClientError::Broken)
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Connects with a limit, which the standard library does not offer here: a daemon that hangs with a full backlog would
/// hang its clients too.
fn connect(socket: &Path) -> Result<UnixStream, ClientError> {
    let failed = |error: rustix::io::Errno| match error {
        rustix::io::Errno::NOENT | rustix::io::Errno::CONNREFUSED => ClientError::NotRunning {
            socket: socket.to_owned(),
        },
        rustix::io::Errno::AGAIN => ClientError::Late(CONNECT_LIMIT),
        error => ClientError::Connect {
            socket: socket.to_owned(),
            error: error.into(),
        },
    };
    let address = SocketAddrUnix::new(socket).map_err(failed)?;
    let stream = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(failed)?;
    sockopt::set_socket_timeout(&stream, sockopt::Timeout::Send, Some(CONNECT_LIMIT)).map_err(failed)?;
    loop {
        match rustix::net::connect(&stream, &address) {
            Ok(()) => return Ok(stream.into()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixListener;

    fn location(folder: &Path) -> Location {
        let location = Location::new(folder, OsStr::new("wayland-9")).expect("a location");
        std::fs::create_dir(location.folder()).expect("a folder");
        location
    }

    #[test]
    fn no_daemon_is_told_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let location = location(folder.path());
        let error = Client::connect(&location).expect_err("connected").to_string();
        assert!(
            error.starts_with("veil is not running in this session (no daemon on /"),
            "{error}"
        );
        assert!(
            error.ends_with("wayland-9.sock); start it with `veil daemon`"),
            "{error}"
        );
        // A socket that nobody listens on is the same.
        drop(UnixListener::bind(location.socket()).expect("a socket"));
        assert!(matches!(
            Client::connect(&location),
            Err(ClientError::NotRunning { .. })
        ));
    }

    #[test]
    fn a_starting_daemon_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let location = location(folder.path());
        let waiting = {
            let location = location.clone();
            thread::spawn(move || Client::connect_waiting(&location, Duration::from_secs(30)))
        };
        // Give the client the chance to find nothing; whether it took it makes no difference to the outcome.
        thread::yield_now();
        let listener = UnixListener::bind(location.socket()).expect("a socket");
        listener.accept().expect("a client");
        waiting.join().expect("no panic").expect("connected");
    }

    #[test]
    fn every_bad_end_is_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let location = location(folder.path());
        let listener = UnixListener::bind(location.socket()).expect("a socket");
        let server = thread::spawn(move || {
            for answer in [&b""[..], b"{\"ok\":", b"{\"ok\":7}\n", b"{\"ok\":\"done\"}\n"] {
                let (mut stream, _) = listener.accept().expect("a client");
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).expect("a request");
                stream.write_all(answer).expect("an answer");
            }
            // The last one is never answered: its connection stands as long as this.
            listener.accept().expect("a client")
        });
        let ask = |limit| Client::connect(&location)?.request(&Command::Status, limit);
        let long = Duration::from_secs(30);
        assert!(matches!(ask(long), Err(ClientError::Closed)));
        assert!(matches!(ask(long), Err(ClientError::Closed)));
        assert!(matches!(ask(long), Err(ClientError::Response(_))));
        assert_eq!(ask(long).expect("an answer"), Response::Ok(crate::Answer::Done));
        assert!(matches!(
            ask(Duration::from_millis(20)),
            Err(ClientError::Late(_))
        ));
        drop(server.join().expect("no panic"));
    }
}
