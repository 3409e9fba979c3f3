//! The sink on its own, as gst-launch uses it: a connection to the compositor, surfaces, and a loop that drives them in a
//! thread, from NULL→READY to READY→NULL.
//!
//! The loop's thread posts at most one error on the element, when the window was closed or the connection has ended;
//! from then on frames are refused. It never takes a lock of the element's for longer than a copy.

mod run;
mod scene;
mod settings;
mod shared;
mod statistics;

pub use settings::{LayerKind, Mode};

pub(crate) use settings::{NAMESPACE, Settings};
pub(crate) use statistics::SurfaceStats;

use crate::{Presenter, VeilSink};
use calloop::channel::Sender;
use gstreamer::glib;
use shared::Shared;
use std::{
    io,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};
use veil_wayland::ConnectError;

/// How long a compositor may take to say what it offers. One that is alive takes milliseconds; one that is stopped in a
/// debugger should not hang a state change for good.
const PATIENCE: Duration = Duration::from_secs(10);

/// The sink cannot show anything.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StandaloneError {
    /// There is no compositor, or it lacks something.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The property `output` names none that is there.
    #[error("there is no output \"{name}\"; there are: {}", there.join(", "))]
    NoOutput {
        /// As asked for.
        name: String,
        /// The names of those that are there.
        there: Vec<String>,
    },
    /// No loop or thread can be had.
    #[error("cannot start a loop for the connection: {0}")]
    Loop(String),
    /// As above, said by the system.
    #[error("cannot start a thread for the connection: {0}")]
    Thread(#[from] io::Error),
    /// It accepts a connection and says nothing.
    #[error("the compositor does not answer")]
    Silent,
}

/// What the loop is told.
#[derive(Debug)]
pub(crate) enum Command {
    /// Fit pictures so.
    Mode(Mode),
    /// The colour where no picture is, 0xRRGGBB.
    Background(u32),
    /// Fill an output, or do not.
    Fullscreen(bool),
    /// End.
    Quit,
}

/// A running loop; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Standalone {
    shared: Arc<Shared>,
    commands: Sender<Command>,
    thread: Option<JoinHandle<()>>,
}

impl Standalone {
    /// Connects, and starts the loop. Errors that come later are posted on `sink`.
    pub(crate) fn start(settings: Settings, sink: glib::WeakRef<VeilSink>) -> Result<Self, StandaloneError> {
        let (answer, answered) = mpsc::sync_channel(1);
        let thread = thread::Builder::new()
            .name(String::from("veilsink"))
            .spawn(move || run::thread(settings, sink, &answer))?;
        match answered.recv_timeout(PATIENCE) {
            Ok(Ok((shared, commands))) => Ok(Self {
                shared,
                commands,
                thread: Some(thread),
            }),
            Ok(Err(error)) => Err(error),
            // The thread is left to itself; it ends when the compositor says something, or is gone.
            Err(_) => Err(StandaloneError::Silent),
        }
    }

    /// Takes the pictures.
    pub(crate) fn presenter(&self) -> Arc<dyn Presenter> {
        Arc::clone(&self.shared.presenter) as Arc<dyn Presenter>
    }

    /// Whether nothing can be shown any more; an error was posted then.
    pub(crate) fn is_lost(&self) -> bool {
        self.shared.is_lost()
    }

    /// What became of the pictures, on each surface.
    pub(crate) fn stats(&self) -> Vec<SurfaceStats> {
        self.shared.statistics.snapshot()
    }

    /// Tells the loop. After the connection has ended nobody hears it.
    pub(crate) fn tell(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}

impl Drop for Standalone {
    fn drop(&mut self) {
        self.tell(Command::Quit);
        if let Some(thread) = self.thread.take() {
            // A handler of the error message may end the pipeline, in the loop's own thread.
            if thread.thread().id() != thread::current().id() {
                // It ends in the round after; a panic there was printed already.
                let _ = thread.join();
            }
        }
    }
}
