//! Who the daemon is.
//!
//! A socket's existence proves nothing: a daemon that was killed leaves its socket, and one that is starting has none
//! yet. A lock on a file beside it ends with the process that holds it, whatever the reason, and only one can hold it.

use crate::path::Location;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Why this process can't be the daemon.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Another process is.
    #[error(
        "veil already runs in this session ({}display {}): change its wallpaper with `veil set FILE`, or end it with \
         `veil stop`",
        .pid.map(|pid| format!("pid {pid}, ")).unwrap_or_default(), .display.display()
    )]
    Running {
        /// The other process, where it has said so.
        pid: Option<u32>,
        /// The display that both are for.
        display: OsString,
    },
    /// Something else, or another user's folder, has the place of veil's.
    #[error("{} is not a folder of this user: remove it", .0.display())]
    Folder(PathBuf),
    /// Something that is no socket has the socket's place.
    #[error("{} is in the way of veil's socket: remove it", .0.display())]
    InTheWay(PathBuf),
    /// The system refused.
    #[error("cannot {action} {}: {error}", .path.display())]
    System {
        /// What was tried, as in "create".
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

/// The right to be the daemon of a display. It lasts until this is dropped, or the process ends in any way.
#[derive(Debug)]
pub struct Instance {
    location: Location,
    /// Locked. The file stays when this ends: removing it would let two processes lock two files of one name.
    _lock: File,
    /// Device and inode of the socket, once there is one.
    socket: Option<(u64, u64)>,
}

impl Instance {
    /// Becomes the daemon of this display, or says who is.
    pub fn acquire(location: Location) -> Result<Self, InstanceError> {
        make_folder(location.folder())?;
        let lock = loop {
            let file = open_lock(location.lock())?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(InstanceError::Running {
                        pid: read_pid(&file),
                        display: location.display().to_owned(),
                    });
                }
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(system("lock", location.lock())(error.into())),
            }
            // Somebody who tidies the folder may have removed the file between the opening and the locking. Then the
            // lock is on a file that nobody else will find.
            let locked = file.metadata().map_err(system("look at", location.lock()))?;
            if identity_at(location.lock()) == Some(identity(&locked)) {
                break file;
            }
        };
        lock.set_len(0)
            .and_then(|()| lock.write_all_at(format!("{}\n", std::process::id()).as_bytes(), 0))
            .map_err(system("write", location.lock()))?;
        Ok(Self {
            location,
            _lock: lock,
            socket: None,
        })
    }

    /// Makes the socket, in place of one that an earlier daemon left, and listens on it.
    pub fn bind(&mut self) -> Result<UnixListener, InstanceError> {
        let path = self.location.socket();
        match fs::symlink_metadata(path) {
            // Nobody listens on it: this process holds the lock.
            Ok(found) if found.file_type().is_socket() => {
                fs::remove_file(path).map_err(system("remove", path))?;
            }
            Ok(_) => return Err(InstanceError::InTheWay(path.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(system("look at", path)(error)),
        }
        let listener = UnixListener::bind(path).map_err(system("listen on", path))?;
        // Until here the folder alone keeps other users out.
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(system("protect", path))?;
        self.socket = identity_at(path);
        Ok(listener)
    }

    /// The files of this daemon.
    pub fn location(&self) -> &Location {
        &self.location
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let path = self.location.socket();
        // Whatever else has come to that place since is not ours to remove.
        if self.socket.is_some() && identity_at(path) == self.socket {
            // When it can't be removed, the next daemon replaces it.
            let _ = fs::remove_file(path);
        }
    }
}

fn make_folder(path: &Path) -> Result<(), InstanceError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(system("create", path)(error)),
        _ => {}
    }
    // Not followed: a link would let somebody else choose the folder.
    let found = fs::symlink_metadata(path).map_err(system("look at", path))?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        return Err(InstanceError::Folder(path.to_owned()));
    }
    if found.mode() & 0o7777 != 0o700 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(system("protect", path))?;
    }
    Ok(())
}

fn open_lock(path: &Path) -> Result<File, InstanceError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
        .map(File::from)
        .map_err(|error| system("open", path)(error.into()))
}

/// The process that holds the lock. It writes this a moment after it has locked the file, so there may be nothing yet.
fn read_pid(file: &File) -> Option<u32> {
    let mut text = [0; 16];
    let count = file.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..count]).ok()?.trim().parse().ok()
}

/// Device and inode: which file it is, whatever its name.
fn identity(found: &fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

fn identity_at(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().as_ref().map(identity)
}

fn system(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstanceError {
    move |error| InstanceError::System {
        action,
        path: path.to_owned(),
        error,
    }
}
