//! The file itself, before GStreamer sees it: only a regular file that can be read and has content is handed on.
//!
//! The file is opened once and stays open while it plays. GStreamer's `filesrc` is given `/proc/self/fd/N`, so it reads
//! the very file that was checked, whatever its name's bytes, also after the name was deleted or given to another file.

use std::fs::{File, FileType};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Why a path is no file to play. Every message names the path.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Nothing has this name.
    #[error("{}: no such file", .0.display())]
    Missing(PathBuf),
    /// The user may not read the file, or not search a directory on the way to it.
    #[error("{}: permission denied", .0.display())]
    Denied(PathBuf),
    /// A directory.
    #[error("{}: is a directory", .0.display())]
    Directory(PathBuf),
    /// A FIFO, a socket or a device.
    #[error("{}: is {kind}, not a regular file", .path.display())]
    Special {
        /// What was asked for.
        path: PathBuf,
        /// What it is, in words: "a fifo".
        kind: &'static str,
    },
    /// A file of no bytes.
    #[error("{}: is empty", .0.display())]
    Empty(PathBuf),
    /// Any other fault of the system.
    #[error("{}: cannot be read: {error}", .path.display())]
    Io {
        /// What was asked for.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Whether `path` is a regular, readable file with content. Never blocks on a FIFO or a device.
pub fn check_file(path: &Path) -> Result<(), SourceError> {
    Source::open(path).map(drop)
}

/// A file that passed [`check_file`], kept open.
#[derive(Debug)]
pub(crate) struct Source {
    file: File,
    /// Its size when it was opened (bytes).
    size: u64,
}

impl Source {
    /// Opens and checks the file.
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        let fault = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => SourceError::Missing(path.to_owned()),
            ErrorKind::PermissionDenied => SourceError::Denied(path.to_owned()),
            _ => SourceError::Io {
                path: path.to_owned(),
                error,
            },
        };
        // Opening a device can have effects, opening a socket fails with a riddle: look first.
        regular(path, std::fs::metadata(path).map_err(fault)?.file_type())?;
        let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::options()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(fault)?;
        // What the name stands for may have changed in between.
        let metadata = file.metadata().map_err(fault)?;
        regular(path, metadata.file_type())?;
        if metadata.len() == 0 {
            return Err(SourceError::Empty(path.to_owned()));
        }
        let size = metadata.len();
        Ok(Self { file, size })
    }

    /// Whether a part of the file has been cut off since it was opened.
    pub(crate) fn has_shrunk(&self) -> bool {
        self.file
            .metadata()
            .is_ok_and(|metadata| metadata.len() < self.size)
    }

    /// A name under which this process can open this very file again.
    pub(crate) fn location(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Whether the file begins like text: GStreamer recognises long texts only.
    pub(crate) fn looks_like_text(&self) -> bool {
        let start = self.start();
        let text = match std::str::from_utf8(&start) {
            Ok(text) => text,
            // A character that was cut off at the end is no objection.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or("\0")
            }
            Err(_) => return false,
        };
        !text.is_empty()
            && !text
                .chars()
                .any(|c| c.is_control() && !c.is_whitespace() && c != '\u{1b}')
    }

    /// The first bytes of the file; none where it cannot be read.
    fn start(&self) -> Vec<u8> {
        let mut start = vec![0; 1024];
        let length = self.file.read_at(&mut start, 0).unwrap_or(0);
        start.truncate(length);
        start
    }
}

fn regular(path: &Path, kind: FileType) -> Result<(), SourceError> {
    let special = |kind| SourceError::Special {
        path: path.to_owned(),
        kind,
    };
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(SourceError::Directory(path.to_owned()))
    } else if kind.is_fifo() {
        Err(special("a fifo"))
    } else if kind.is_socket() {
        Err(special("a socket"))
    } else {
        Err(special("a device"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn message(path: &Path) -> String {
        let error = check_file(path).unwrap_err().to_string();
        error.replace(&path.display().to_string(), "PATH")
    }

    #[test]
    fn what_is_no_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("empty"), "").unwrap();
        std::fs::write(at("full"), "x").unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        assert_eq!(message(folder.path()), "PATH: is a directory");
        assert_eq!(message(&at("none")), "PATH: no such file");
        assert_eq!(message(&at("full/under")), "PATH: no such file");
        assert_eq!(message(&at("empty")), "PATH: is empty");
        assert_eq!(message(&at("fifo")), "PATH: is a fifo, not a regular file");
        assert_eq!(message(&at("socket")), "PATH: is a socket, not a regular file");
        assert_eq!(
            message(Path::new("/dev/zero")),
            "PATH: is a device, not a regular file"
        );
        assert!(check_file(&at("full")).is_ok());
    }

    #[test]
    fn text_is_told_from_other_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let looks = |content: &[u8]| {
            let path = folder.path().join("file");
            std::fs::write(&path, content).unwrap();
            Source::open(&path).unwrap().looks_like_text()
        };
        assert!(looks(b"text\n"));
        assert!(looks("ä".repeat(2000).as_bytes()));
        assert!(looks(format!("x{}", "ä".repeat(2000)).as_bytes()));
        assert!(!looks(b"\x00\x00\x00\x20ftyp"));
        assert!(!looks(b"\xff\xd8\xff"));
    }
}
