//! What the service manager is told: sd_notify(3).
//!
//! A manager that started this program with `Type=notify` names a datagram socket in `NOTIFY_SOCKET`, by its path or, with
//! an `@` in front, by its name in the abstract namespace; each datagram holds lines of the form `NAME=value`. Without that variable
//! nobody wants to know, and nothing is done. The standard library has all that this takes, so there is no dependency.

use std::{
    env,
    ffi::OsString,
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
};

/// The variable that names the socket. Programs that veil starts must not inherit it: they are another service's business.
pub(crate) const VARIABLE: &str = "NOTIFY_SOCKET";

/// The manager that waits for news, if there is one.
#[derive(Debug)]
pub(crate) struct Notify {
    manager: Option<(UnixDatagram, SocketAddr)>,
}

impl Notify {
    /// The manager that the environment names.
    pub(crate) fn from_env() -> Self {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty());
        let manager = named.and_then(|name| match open(&name) {
            Ok(manager) => Some(manager),
            Err(error) => {
                tracing::warn!("the service manager cannot be told how veil is ({VARIABLE}): {error}");
                None
            }
        });
        Self { manager }
    }

    /// Whether anybody listens.
    pub(crate) fn is_wanted(&self) -> bool {
        self.manager.is_some()
    }

    /// Starting is over.
    pub(crate) fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nSTATUS={status}"));
    }

    /// What it does, for people.
    pub(crate) fn status(&self, status: &str) {
        self.send(&format!("STATUS={status}"));
    }

    /// The end has begun.
    pub(crate) fn stopping(&self) {
        self.send("STOPPING=1");
    }

    fn send(&self, lines: &str) {
        let Some((socket, address)) = &self.manager else {
            return;
        };
        // Never waits: a manager that is too busy to hear it has other ways to learn whether the process lives.
        if let Err(error) = socket.send_to_addr(lines.as_bytes(), address) {
            tracing::debug!("the service manager was not told “{lines}”: {error}");
        }
    }
}

fn open(name: &OsString) -> io::Result<(UnixDatagram, SocketAddr)> {
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        [b'/', ..] => SocketAddr::from_pathname(name)?,
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "neither a path nor @ and a name",
            ));
        }
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok((socket, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_abstract_names_are_sockets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let abstract_name = format!("veil-notify-{}", std::process::id());
        for (name, address) in [
            (path.clone().into_os_string(), SocketAddr::from_pathname(&path)),
            (
                format!("@{abstract_name}").into(),
                SocketAddr::from_abstract_name(&abstract_name),
            ),
        ] {
            let manager = UnixDatagram::bind_addr(&address.unwrap()).unwrap();
            let notify = Notify {
                manager: Some(open(&name).unwrap()),
            };
            notify.ready("2 outputs");
            let mut text = [0; 64];
            let count = manager.recv(&mut text).unwrap();
            assert_eq!(&text[..count], b"READY=1\nSTATUS=2 outputs");
            drop(manager);
            notify.stopping();
        }
        assert!(open(&"notify".into()).is_err());
    }
}
