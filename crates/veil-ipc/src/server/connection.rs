//! One client's connection: what it has sent, what it has yet to be sent, and what to wait for next.
//!
//! Requests of one connection are taken up one at a time. While one is unanswered, or an answer is not yet sent, nothing
//! more is read: so a client that asks faster than it reads stops itself, and holds one answer's memory.

use super::MAX_UNSENT;
use crate::line::LineReader;
use crate::protocol::{MAX_REQUEST, Reason, Response};
use calloop::Interest;
use rustix::io::{Errno, ioctl_fionread};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// A connection, shared by its event source and the responder of its request.
pub(super) struct Connection {
    stream: UnixStream,
    input: RefCell<LineReader>,
    /// What the socket did not take yet.
    unsent: RefCell<Vec<u8>>,
    /// A request is with the daemon.
    busy: Cell<bool>,
    /// The client sends no more; it may still read.
    ended: Cell<bool>,
    /// Nothing more is taken from the client; it is let go when it has its last answer.
    closing: Cell<bool>,
    /// The client is gone or was let go.
    dead: Cell<bool>,
    /// The connection's own event source is at work, and will look at what has changed by itself.
    in_source: Cell<bool>,
    /// Tells the event loop to look at [`Self::interest`] again.
    rearm: OnceCell<Box<dyn Fn()>>,
    /// When it was last heard of, in the server's count.
    pub(super) last_heard: Cell<u64>,
}

impl Connection {
    /// A connection that has just been accepted.
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            input: RefCell::new(LineReader::new(MAX_REQUEST)),
            unsent: RefCell::new(Vec::new()),
            busy: Cell::new(false),
            ended: Cell::new(false),
            closing: Cell::new(false),
            dead: Cell::new(false),
            in_source: Cell::new(false),
            rearm: OnceCell::new(),
            last_heard: Cell::new(0),
        }
    }

    /// Sets what tells the event loop that the connection waits for something else now. Only the first time counts.
    pub(super) fn set_rearm(&self, rearm: impl Fn() + 'static) {
        let _ = self.rearm.set(Box::new(rearm));
    }

    /// Marks the begin and the end of the event source's work.
    pub(super) fn set_in_source(&self, at_work: bool) {
        self.in_source.set(at_work);
    }

    /// What to wait for. Where requests lie in the buffer that can be taken up at once, "writable" stands for "go on": it
    /// comes immediately, and lets other sources have their turn first.
    pub(super) fn interest(&self) -> Interest {
        let idle = !self.busy.get() && self.unsent.borrow().is_empty() && !self.closing.get();
        let ready = idle && self.input.borrow_mut().is_ready();
        Interest {
            readable: idle && !ready && !self.ended.get(),
            writable: ready || !self.unsent.borrow().is_empty(),
        }
    }

    /// Whether there is nothing left to do for this client.
    pub(super) fn is_finished(&self) -> bool {
        let interest = self.interest();
        self.dead.get() || (!self.busy.get() && !interest.readable && !interest.writable)
    }

    /// Whether the client is still there.
    pub(super) fn is_alive(&self) -> bool {
        !self.dead.get()
    }

    /// Whether it can be let go in favour of another: no request of it is with the daemon or waits to be read, or it does
    /// not read its answers.
    pub(super) fn is_idle(&self) -> bool {
        let unread = || ioctl_fionread(&self.stream).is_ok_and(|count| count > 0);
        !self.busy.get() && (!self.unsent.borrow().is_empty() || !unread())
    }

    /// Receives what is there, at most one chunk: a client that sends without end must not keep the loop.
    pub(super) fn receive(&self) {
        let mut chunk = [0; 16 * 1024];
        match recv(&self.stream, &mut chunk[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => self.ended.set(true),
            Ok((_, count)) => self.input.borrow_mut().push(&chunk[..count]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.let_go(),
        }
    }

    /// The next request's line, when it is time for it. A line that is too long is answered here, and is the last.
    pub(super) fn next_request(&self) -> Option<Vec<u8>> {
        if self.busy.get() || self.closing.get() || self.dead.get() || !self.unsent.borrow().is_empty() {
            return None;
        }
        let line = self.input.borrow_mut().next_line()?;
        match line {
            Ok(line) => {
                self.busy.set(true);
                Some(line)
            }
            Err(error) => {
                self.closing.set(true);
                self.answer(&Response::error(Reason::of(&error)));
                None
            }
        }
    }

    /// Sends the answer to the current request, as far as the socket takes it now; the rest goes when there is room.
    pub(super) fn answer(&self, response: &Response) {
        self.busy.set(false);
        self.send(&response.to_line());
    }

    /// Sends a line, as far as the socket takes it now. A line that comes while a request is with the daemon does not end
    /// that: so a subscription lasts as long as its connection.
    pub(super) fn send(&self, line: &[u8]) {
        if self.dead.get() {
            return;
        }
        self.unsent.borrow_mut().extend_from_slice(line);
        self.flush();
        if self.unsent.borrow().len() > MAX_UNSENT {
            tracing::debug!("a client that does not read what it is sent is let go");
            self.let_go();
        }
        if !self.in_source.get()
            && let Some(rearm) = self.rearm.get()
        {
            rearm();
        }
    }

    /// Sends as much as the socket takes.
    pub(super) fn flush(&self) {
        let mut unsent = self.unsent.borrow_mut();
        let mut sent = 0;
        while sent < unsent.len() {
            // NOSIGNAL: a client that was killed in mid-answer must not end the daemon with SIGPIPE.
            match send(
                &self.stream,
                &unsent[sent..],
                SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
            ) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    sent = unsent.len();
                    self.let_go();
                }
            }
        }
        if sent == unsent.len() {
            *unsent = Vec::new();
        } else {
            unsent.drain(..sent);
        }
    }

    /// Ends the connection. What the socket has taken still reaches the client. The hang-up that this causes wakes the
    /// event source, which then removes itself.
    pub(super) fn let_go(&self) {
        self.dead.set(true);
        // Fails when the client was faster, which comes to the same.
        let _ = shutdown(&self.stream, Shutdown::Both);
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("fd", &self.stream)
            .finish_non_exhaustive()
    }
}
