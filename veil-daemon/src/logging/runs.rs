//! The logs of the newest runs, kept in files: `$XDG_STATE_HOME/veil/runs/`, `latest.log` leading to the newest.

use crate::folders;
use rustix::fs::OFlags;
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink},
    path::{Path, PathBuf},
};
use tracing_subscriber::fmt::{
    format::Writer,
    time::{FormatTime, SystemTime},
};

/// How many are kept.
const KEPT: usize = 20;
/// How large one may become, in bytes. At the usual level that is months.
const LARGEST: u64 = 16 << 20;
const LATEST: &str = "latest.log";

/// The run's log cannot be kept in a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunsError {
    /// No folder for it.
    #[error("neither XDG_STATE_HOME nor HOME is set, so the log of this run is not kept")]
    NoHome,
    /// The file cannot be made.
    #[error("the log of this run is not kept: {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A file that does not grow beyond a limit.
#[derive(Debug)]
pub(super) struct RunFile {
    file: File,
    left: u64,
}

/// Begins the file of this run, and removes the oldest ones.
pub(super) fn open() -> Result<RunFile, RunsError> {
    let folder = folders::state().ok_or(RunsError::NoHome)?.join("runs");
    let name = format!("{}-{}.log", now(), std::process::id());
    open_in(&folder, &name).map_err(|source| RunsError::Io { path: folder, source })
}

fn open_in(folder: &Path, name: &str) -> io::Result<RunFile> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(folder.join(name))?;
    remove_oldest(folder)?;
    let link = folder.join(format!(".{name}"));
    symlink(name, &link)?;
    // In one step, so that there is always a latest one.
    fs::rename(&link, folder.join(LATEST))?;
    Ok(RunFile { file, left: LARGEST })
}

/// Names begin with the time, so their order is the runs'.
fn remove_oldest(folder: &Path) -> io::Result<()> {
    let mut names: Vec<_> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_run(name))
        .collect();
    names.sort_unstable();
    let surplus = names.len().saturating_sub(KEPT);
    for name in &names[..surplus] {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a file of this name was made here: others are left alone.
fn is_run(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit()) && name.ends_with(".log")
}

/// The time as a part of a file's name, like `2026-12-01T16-40-48Z`.
fn now() -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    let seconds = text.get(..19).unwrap_or(&text);
    format!("{}Z", seconds.replace(':', "-"))
}

impl Write for RunFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len() as u64;
        if self.left >= length {
            self.left -= length;
            self.file.write_all(bytes)?;
        } else if self.left > 0 {
            self.left = 0;
            self.file
                .write_all(b"this file is full; what follows is only on stderr\n")?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_newest_are_kept_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("veil/runs");
        for n in 0..30 {
            let mut file = open_in(&runs, &format!("2026-12-01T00-00-{n:02}Z-7.log")).unwrap();
            write!(file, "run {n}").unwrap();
        }
        fs::write(runs.join("note.txt"), "mine").unwrap();
        let mut names: Vec<_> = fs::read_dir(&runs)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names.len(), 22, "{names:?}");
        assert_eq!(names[0], "2026-12-01T00-00-10Z-7.log");
        assert_eq!(fs::read_to_string(runs.join(LATEST)).unwrap(), "run 29");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&runs.join(LATEST)), 0o600);
        assert_eq!(mode(&runs), 0o700);
        // A name that was there before is not written to.
        assert!(open_in(&runs, &names[0]).is_err());
    }

    #[test]
    fn a_file_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = open_in(folder.path(), "1.log").unwrap();
        for _ in 0..20 {
            file.write_all(&[b'x'; 1 << 20]).unwrap();
        }
        let length = fs::metadata(folder.path().join("1.log")).unwrap().len();
        assert!((LARGEST..LARGEST + 100).contains(&length), "{length}");
    }

    #[test]
    fn a_name_is_a_time() {
        let name = now();
        assert_eq!(name.len(), "2026-12-01T16-40-48Z".len(), "{name}");
        assert!(is_run(&format!("{name}-1.log")) && !is_run(LATEST));
    }
}
