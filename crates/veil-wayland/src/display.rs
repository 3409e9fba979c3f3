//! The connection, driven from outside: readable descriptor in, events out.

use crate::{
    desktop::Desktop,
    globals::{Globals, Shell},
};
use std::{
    env,
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
};
use wayland_client::{
    Connection, DispatchError, EventQueue,
    backend::WaylandError,
    globals::{GlobalError, registry_queue_init},
};

/// There is no desktop that a wallpaper could be shown on.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No compositor answers.
    #[error("no Wayland compositor: {0} (is WAYLAND_DISPLAY set, and does the session run?)")]
    NoCompositor(#[from] wayland_client::ConnectError),
    /// No compositor answers on the socket that was named.
    #[error("no Wayland compositor on {}: {source}", path.display())]
    NoSocket {
        /// The socket.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It went away at once.
    #[error("the Wayland compositor does not list what it offers: {0}")]
    Registry(#[from] GlobalError),
    /// It ended the connection at once.
    #[error(transparent)]
    Lost(#[from] DisplayError),
    /// It lacks something that veil cannot do without.
    #[error("the compositor does not offer {0}, without which there is no place for a picture")]
    Missing(&'static str),
}

/// The connection has ended.
#[derive(Debug, thiserror::Error)]
pub enum DisplayError {
    /// The compositor ended it, or is gone.
    #[error("the connection to the compositor is lost: {0}")]
    Lost(io::Error),
    /// veil broke a rule, says the compositor.
    #[error("the compositor reports a protocol error, which is a bug in veil: {0}")]
    Protocol(String),
}

impl From<WaylandError> for DisplayError {
    fn from(error: WaylandError) -> Self {
        match error {
            WaylandError::Io(error) => Self::Lost(error),
            WaylandError::Protocol(error) => Self::Protocol(error.to_string()),
        }
    }
}

impl From<DispatchError> for DisplayError {
    fn from(error: DispatchError) -> Self {
        match error {
            DispatchError::Backend(error) => error.into(),
            other => Self::Protocol(other.to_string()),
        }
    }
}

/// The connection to the compositor.
#[derive(Debug)]
pub struct Display {
    connection: Connection,
    queue: EventQueue<Desktop>,
    desktop: Desktop,
}

impl Display {
    /// Connects to the compositor that the environment names and binds what wallpapers need; see [`Self::connect_to`].
    ///
    /// # Errors
    /// [`ConnectError`] names what is missing.
    pub fn connect() -> Result<Self, ConnectError> {
        Self::connect_to(None, Shell::Layer)
    }

    /// Connects to a compositor by the name of its socket (as in `WAYLAND_DISPLAY`), or to the one that the environment
    /// names, and binds what is needed to show pictures in this shell.
    ///
    /// Waits for the compositor's list of globals and for what it says of its outputs: the only wait here, before any
    /// loop runs. The outputs are then among the events.
    ///
    /// # Errors
    /// [`ConnectError`] names what is missing.
    pub fn connect_to(display: Option<&OsStr>, shell: Shell) -> Result<Self, ConnectError> {
        let connection = match display {
            None => Connection::connect_to_env()?,
            Some(name) => connect_to_socket(name)?,
        };
        let (list, mut queue) = registry_queue_init::<Desktop>(&connection)?;
        let qh = queue.handle();
        let globals = Globals::bind(&list, &qh, shell).map_err(ConnectError::Missing)?;
        let mut desktop = Desktop::new(&list, &qh, globals);
        queue.roundtrip(&mut desktop).map_err(DisplayError::from)?;
        // The default feedback is among what has come.
        let device = desktop.globals.dmabufs.device();
        desktop.globals.sync.open(device);
        Ok(Self {
            connection,
            queue,
            desktop,
        })
    }

    /// A handle on the connection, to watch its descriptor.
    pub fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// What is readable when a buffer was released by way of a timeline: to be watched beside the connection, and followed
    /// by [`Self::pump`]. `None` where releases come by the connection.
    pub fn release_event(&self) -> Option<BorrowedFd<'_>> {
        self.desktop.globals.sync.event()
    }

    /// Reads what has arrived, without waiting, and lets the desktop take note of it.
    ///
    /// # Errors
    /// [`DisplayError`]: the connection has ended, for good.
    pub fn pump(&mut self) -> Result<(), DisplayError> {
        self.desktop.take_releases();
        loop {
            self.queue.dispatch_pending(&mut self.desktop)?;
            let Some(guard) = self.queue.prepare_read() else {
                continue;
            };
            match guard.read() {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(WaylandError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends what has been asked for, without waiting. False if the compositor does not read fast enough: then try
    /// again when its descriptor is writable.
    ///
    /// # Errors
    /// [`DisplayError`]: the connection has ended, for good.
    pub fn flush(&mut self) -> Result<bool, DisplayError> {
        match self.connection.flush() {
            Ok(()) => Ok(true),
            Err(WaylandError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => {
                // A compositor that ends a client says why before it closes the connection.
                self.pump()?;
                Err(error.into())
            }
        }
    }

    /// The outputs and surfaces.
    pub fn desktop(&mut self) -> &mut Desktop {
        &mut self.desktop
    }

    /// The outputs and surfaces, to look at.
    pub fn desktop_ref(&self) -> &Desktop {
        &self.desktop
    }
}

fn connect_to_socket(name: &OsStr) -> Result<Connection, ConnectError> {
    // Relative names are in the runtime folder; an absolute path replaces it.
    let path = Path::new(&env::var_os("XDG_RUNTIME_DIR").unwrap_or_default()).join(name);
    let stream = UnixStream::connect(&path).map_err(|source| ConnectError::NoSocket { path, source })?;
    Ok(Connection::from_socket(stream)?)
}

impl AsFd for Display {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.as_fd()
    }
}
