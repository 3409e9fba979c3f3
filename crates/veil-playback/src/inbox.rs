//! From GStreamer's threads to the thread that owns the player.
//!
//! The bus of a pipeline carries much that nobody needs here, and each message would wake the reader. So messages are
//! read where they are posted (a sync handler, which must not block), what matters is put here, and the descriptor
//! becomes readable once for it.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gstreamer as gst;
use rustix::event::EventfdFlags;

use crate::failure::Failure;

/// What the pipeline has to say.
#[derive(Debug)]
pub(crate) enum Signal {
    /// The first picture, or after a seek the next one, is in the sink.
    Prerolled,
    /// The end of the stream has passed the sink.
    Ended,
    /// Something failed.
    Failed(Failure),
    /// The file is of this type, or holds such a stream, and nothing is there to read it.
    Unreadable(gst::Caps),
    /// The file's streams are known, and these are their types: none is a video.
    NoVideo(Vec<String>),
    /// There is no (further) decoder for a stream of this kind.
    NoDecoder(gst::Caps),
    /// The file is a single picture.
    Still,
    /// A picture is broken; told once.
    Damaged,
    /// Nothing says when the pictures are due.
    Timeless,
    /// No pictures come any more.
    Barren,
    /// The file can be read no further, and not again from its beginning.
    Stuck(String),
}

impl Signal {
    /// Whether no picture will come after this.
    pub(crate) fn is_end(&self) -> bool {
        matches!(
            self,
            Self::Ended | Self::Failed(_) | Self::Barren | Self::Stuck(_)
        )
    }
}

/// A queue of signals with two ways to wait for them.
#[derive(Debug)]
pub(crate) struct Inbox {
    queue: Mutex<VecDeque<Signal>>,
    arrived: Condvar,
    readable: OwnedFd,
}

impl Inbox {
    /// An empty one. Fails where the process is out of descriptors.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            queue: Mutex::new(VecDeque::new()),
            arrived: Condvar::new(),
            readable: rustix::event::eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
        })
    }

    /// Adds a signal. Never blocks for long.
    pub(crate) fn put(&self, signal: Signal) {
        self.queue().push_back(signal);
        self.arrived.notify_one();
        // A counter that is full is readable, too.
        let _ = rustix::io::write(&self.readable, &1_u64.to_ne_bytes());
    }

    /// The next signal, if there is one.
    pub(crate) fn take(&self) -> Option<Signal> {
        let mut queue = self.queue();
        let signal = queue.pop_front();
        if queue.is_empty() {
            let _ = rustix::io::read(&self.readable, &mut [0_u8; 8]);
        }
        signal
    }

    /// The next signal, waited for until `deadline`.
    pub(crate) fn wait(&self, deadline: Instant) -> Option<Signal> {
        let mut queue = self.queue();
        while queue.is_empty() {
            let left = deadline.checked_duration_since(Instant::now())?;
            queue = self
                .arrived
                .wait_timeout(queue, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        drop(queue);
        self.take()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Signal>> {
        // A queue is whole whatever panicked.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsFd for Inbox {
    /// Readable while there are signals.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }
}
