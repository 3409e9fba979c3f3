//! Where the daemon's socket is, and the lock beside it.
//!
//! There is one daemon for each Wayland display, not for each user: a compositor nested in another has its own. So the
//! names carry the display's, and both the daemon and its clients derive them here from the same environment.

use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The longest path of a unix socket in bytes: `sun_path` has 108, and the last is a NUL.
const MAX_SOCKET_PATH: usize = 107;

/// The longest file name, in bytes, that every file system takes.
const MAX_NAME: usize = 255;

/// Why there is no place for a socket.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// `XDG_RUNTIME_DIR` is unset or empty.
    #[error("XDG_RUNTIME_DIR is not set: it names the session's folder, which the login sets up")]
    Unset,
    /// `XDG_RUNTIME_DIR` is a relative path.
    #[error("XDG_RUNTIME_DIR is {}, which is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// `XDG_RUNTIME_DIR` can't be looked at.
    #[error("XDG_RUNTIME_DIR is {}: {error}", .path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// `XDG_RUNTIME_DIR` is no folder.
    #[error("XDG_RUNTIME_DIR is {}, which is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder belongs to another user, whose session this is then.
    #[error(
        "XDG_RUNTIME_DIR is {}, which belongs to user {owner}, but this program runs as user {user}",
        .path.display()
    )]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// The user to whom it belongs.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Not even the shortest name fits into a socket's address.
    #[error(
        "XDG_RUNTIME_DIR is {}, which is too long: a socket's path has at most {MAX_SOCKET_PATH} bytes",
        .0.display()
    )]
    TooLong(PathBuf),
}

/// The files of one display's daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    folder: PathBuf,
    socket: PathBuf,
    lock: PathBuf,
    display: OsString,
}

impl Location {
    /// The files for the session of this process: `XDG_RUNTIME_DIR` and `WAYLAND_DISPLAY` (`wayland-0` when unset). The
    /// folder must exist and belong to the user.
    pub fn from_env() -> Result<Self, LocationError> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let runtime = PathBuf::from(set("XDG_RUNTIME_DIR").ok_or(LocationError::Unset)?);
        let location = Self::new(
            &runtime,
            &set("WAYLAND_DISPLAY").unwrap_or_else(|| "wayland-0".into()),
        )?;
        let found = fs::metadata(&runtime).map_err(|error| LocationError::Unusable {
            path: runtime.clone(),
            error,
        })?;
        if !found.is_dir() {
            return Err(LocationError::NotAFolder(runtime));
        }
        let (owner, user) = (found.uid(), geteuid().as_raw());
        if owner != user {
            return Err(LocationError::NotOurs {
                path: runtime,
                owner,
                user,
            });
        }
        Ok(location)
    }

    /// The files for a display, by its name or by its socket's full path, in this runtime folder. Nothing is looked at.
    pub fn new(runtime: &Path, display: &OsStr) -> Result<Self, LocationError> {
        if !runtime.is_absolute() {
            return Err(LocationError::Relative(runtime.to_owned()));
        }
        let folder = runtime.join("veil");
        // `wayland-1` and `$XDG_RUNTIME_DIR/wayland-1` are the same display, so they must have the same daemon.
        let name = Path::new(display)
            .strip_prefix(runtime)
            .map_or(display, Path::as_os_str);
        let fits = |stem: &str| {
            let socket = folder.join(format!("{stem}.sock"));
            socket.as_os_str().len() <= MAX_SOCKET_PATH && stem.len() + ".sock".len() <= MAX_NAME
        };
        let stem = [safe_name(name), short_name(name)]
            .into_iter()
            .find(|stem| fits(stem));
        let stem = stem.ok_or_else(|| LocationError::TooLong(runtime.to_owned()))?;
        Ok(Self {
            socket: folder.join(format!("{stem}.sock")),
            lock: folder.join(format!("{stem}.lock")),
            folder,
            display: display.to_owned(),
        })
    }

    /// veil's folder, which only the user may enter.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The daemon's socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The file whose lock decides who the daemon is.
    pub fn lock(&self) -> &Path {
        &self.lock
    }

    /// The Wayland display, as the environment named it.
    pub fn display(&self) -> &OsStr {
        &self.display
    }
}

/// A file name for any display's name. Different names stay different, none is hidden, and none leaves the folder: all
/// but letters, digits, `-`, `_` and inner dots is written as `%XX`.
fn safe_name(display: &OsStr) -> String {
    let mut name = String::new();
    for (at, byte) in display.as_bytes().iter().enumerate() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'_' => name.push(char::from(*byte)),
            b'.' if at > 0 => name.push('.'),
            _ => {
                // Writing to a String does not fail.
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    name
}

/// A short name for a display whose safe name does not fit. No safe name looks like it, since `%h` is no escape.
fn short_name(display: &OsStr) -> String {
    // FNV-1a, 64 bits: it must stay the same between versions of veil, which the standard library's hashes don't promise.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in display.as_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("%h{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStringExt;

    fn at(runtime: &str, display: &str) -> Location {
        Location::new(Path::new(runtime), OsStr::new(display)).expect("a location")
    }

    #[test]
    fn the_display_is_in_the_name() {
        let location = at("/run/user/1000", "wayland-1");
        assert_eq!(location.folder(), "/run/user/1000/veil");
        assert_eq!(location.socket(), "/run/user/1000/veil/wayland-1.sock");
        assert_eq!(location.lock(), "/run/user/1000/veil/wayland-1.lock");
        assert_eq!(location.display(), "wayland-1");
    }

    #[test]
    fn a_full_path_is_a_display_too() {
        assert_eq!(
            at("/run/user/1000", "/run/user/1000/wayland-1").socket(),
            "/run/user/1000/veil/wayland-1.sock"
        );
        assert_eq!(
            at("/run/user/1000", "/tmp/a%/w").socket(),
            "/run/user/1000/veil/%2Ftmp%2Fa%25%2Fw.sock"
        );
        assert_eq!(at("/run", "../x").socket(), "/run/veil/%2E.%2Fx.sock");
    }

    #[test]
    fn a_long_name_becomes_short_and_a_long_folder_is_refused() {
        let long = "/tmp/".to_owned() + &"x".repeat(90);
        let (one, two) = (
            at("/run/user/1000", &long),
            at("/run/user/1000", &(long.clone() + "y")),
        );
        assert!(one.socket().as_os_str().len() <= MAX_SOCKET_PATH, "{one:?}");
        assert_ne!(one.socket(), two.socket());
        assert_eq!(one, at("/run/user/1000", &long));
        // This name may never change: a client of the next version must find the daemon of this one. (The number is from
        // the hash's published test vectors.)
        assert_eq!(short_name(OsStr::new("foobar")), "%h85944171f73967e8");

        let deep = PathBuf::from("/".to_owned() + &"d".repeat(100));
        let error = Location::new(&deep, OsStr::new("wayland-0")).expect_err("taken");
        assert!(matches!(error, LocationError::TooLong(_)), "{error}");
        let error = Location::new(Path::new("run"), OsStr::new("wayland-0")).expect_err("taken");
        assert!(matches!(error, LocationError::Relative(_)), "{error}");
    }

    proptest! {
        #[test]
        fn every_display_has_a_file_of_its_own(
            one in proptest::collection::vec(1u8.., 1..150), two in proptest::collection::vec(1u8.., 1..150),
        ) {
            let at = |name: &[u8]| Location::new(Path::new("/r"), &OsString::from_vec(name.to_vec()));
            let (first, second) = (at(&one).expect("a location"), at(&two).expect("a location"));
            prop_assert_eq!(first.socket().parent(), Some(Path::new("/r/veil")));
            prop_assert!(first.socket().as_os_str().len() <= MAX_SOCKET_PATH);
            let relative = |name: &[u8]| Path::new(OsStr::from_bytes(name)).is_relative();
            if one != two && relative(&one) && relative(&two) {
                prop_assert_ne!(first.socket(), second.socket());
            }
        }
    }
}
