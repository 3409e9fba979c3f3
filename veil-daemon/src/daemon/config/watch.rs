//! Tells when the configuration has changed, without asking.
//!
//! inotify watches folders, not the file: editors put a new file in its place. A folder that is not there yet is waited for in
//! the nearest one that is. Where the file is a link, as those who keep their settings elsewhere have it, the folder that it
//! leads to is watched too.

use crate::daemon::app::App;
use anyhow::Context;
use calloop::{
    Interest, LoopHandle, Mode, PostAction, RegistrationToken,
    generic::Generic,
    timer::{TimeoutAction, Timer},
};
use rustix::fs::inotify::{self, ReadFlags, WatchFlags};
use std::{
    ffi::{OsStr, OsString},
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    time::Duration,
};

/// From the first sign of a change until the file is read: an editor moves the old file away before the new one is there.
const SETTLE: Duration = Duration::from_millis(100);

/// The watch, once it is in the loop.
#[derive(Debug, Default)]
pub(crate) struct ConfigWatch {
    /// The file is read when this ends.
    timer: Option<RegistrationToken>,
}

impl ConfigWatch {
    /// Watches this file from now on.
    pub(crate) fn insert(handle: &LoopHandle<'static, App>, file: &Path) -> anyhow::Result<()> {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
        let mut places = Places::new(file);
        places.arm(&watch);
        let source: Generic<OwnedFd> = Generic::new(watch, Interest::READ, Mode::Level);
        handle
            .insert_source(source, move |_, watch, app: &mut App| {
                if places.changed(watch) {
                    app.config_touched();
                }
                Ok(PostAction::Continue)
            })
            .map_err(|error| error.error)
            .context("cannot watch the configuration")?;
        Ok(())
    }
}

impl App {
    fn config_touched(&mut self) {
        if self.config_watch.timer.is_some() {
            return;
        }
        let read = |_, (): &mut (), app: &mut Self| {
            app.config_watch.timer = None;
            app.config_changed();
            TimeoutAction::Drop
        };
        match self.handle.insert_source(Timer::from_duration(SETTLE), read) {
            Ok(timer) => self.config_watch.timer = Some(timer),
            Err(error) => tracing::error!("no timer: {error}"),
        }
    }
}

/// What is watched: a folder by its descriptor in the kernel, and the name in it that matters.
struct Places {
    file: PathBuf,
    watched: Vec<(i32, OsString)>,
}

impl Places {
    fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            watched: Vec::new(),
        }
    }

    /// Watches what is to be watched as things are. What is watched already stays so.
    fn arm(&mut self, watch: &OwnedFd) {
        let mut places = Vec::new();
        let mut add = |place: Option<(PathBuf, OsString)>| {
            let Some((folder, name)) = place else { return };
            match inotify::add_watch(watch, &folder, kinds()) {
                Ok(number) => places.push((number, name)),
                Err(error) => tracing::debug!("{} cannot be watched: {error}", folder.display()),
            }
        };
        add(nearest(&self.file));
        if self.file.is_symlink() {
            add(std::fs::canonicalize(&self.file)
                .ok()
                .and_then(|file| nearest(&file)));
        }
        for (number, _) in &self.watched {
            if !places.iter().any(|(kept, _)| kept == number) {
                // It may be gone, with its folder.
                let _ = inotify::remove_watch(watch, *number);
            }
        }
        self.watched = places;
    }

    /// Reads all that inotify has to tell. Whether any of it is about the file.
    fn changed(&mut self, watch: &OwnedFd) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(watch, &mut buffer);
        let mut changed = false;
        while let Ok(event) = reader.next() {
            let flags = event.events();
            let ours = |(number, name): &(i32, OsString)| {
                let named = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                *number == event.wd() && (named.is_none() || named == Some(name))
            };
            changed |= flags.contains(ReadFlags::QUEUE_OVERFLOW)
                || !flags.contains(ReadFlags::IGNORED) && self.watched.iter().any(ours);
        }
        if changed {
            self.arm(watch);
        }
        changed
    }
}

fn kinds() -> WatchFlags {
    WatchFlags::CLOSE_WRITE
        | WatchFlags::CREATE
        | WatchFlags::MOVED_TO
        | WatchFlags::MOVED_FROM
        | WatchFlags::DELETE
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR
}

/// The nearest folder above it that is there, and the name in that folder that leads to it.
fn nearest(file: &Path) -> Option<(PathBuf, OsString)> {
    let mut name = file.file_name()?;
    let mut folder = file.parent()?;
    while !folder.is_dir() {
        name = folder.file_name()?;
        folder = folder.parent()?;
    }
    Some((folder.to_owned(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn watched(file: &Path) -> (OwnedFd, Places) {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        let mut places = Places::new(file);
        places.arm(&watch);
        (watch, places)
    }

    #[test]
    fn a_folder_that_comes_later_is_followed() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("a/veil/config.toml");
        let (watch, mut places) = watched(&file);
        fs::write(base.path().join("other"), "").unwrap();
        assert!(!places.changed(&watch), "another file");
        fs::create_dir(base.path().join("a")).unwrap();
        assert!(places.changed(&watch));
        fs::create_dir(base.path().join("a/veil")).unwrap();
        assert!(places.changed(&watch));
        fs::write(base.path().join("a/veil/config.toml.swp"), "").unwrap();
        assert!(!places.changed(&watch), "an editor's own file");
        fs::write(&file, "").unwrap();
        assert!(places.changed(&watch));
        // The folders above are watched no more.
        fs::write(base.path().join("a/other"), "").unwrap();
        assert!(!places.changed(&watch) && places.watched.len() == 1);
        fs::remove_dir_all(base.path().join("a")).unwrap();
        assert!(places.changed(&watch));
        fs::create_dir_all(base.path().join("a/veil")).unwrap();
        while places.changed(&watch) {}
        fs::write(&file, "").unwrap();
        assert!(places.changed(&watch), "the folder came back");
    }

    #[test]
    fn what_a_link_leads_to_is_watched() {
        let base = tempfile::tempdir().unwrap();
        let (kept, veil) = (base.path().join("kept"), base.path().join("veil"));
        for folder in [&kept, &veil] {
            fs::create_dir(folder).unwrap();
        }
        let target = kept.join("veil.toml");
        fs::write(&target, "").unwrap();
        let file = veil.join("config.toml");
        std::os::unix::fs::symlink(&target, &file).unwrap();
        let (watch, mut places) = watched(&file);
        fs::write(&target, "#").unwrap();
        assert!(places.changed(&watch));
        // Another file in its place, in one step.
        fs::write(veil.join("new"), "").unwrap();
        fs::rename(veil.join("new"), &file).unwrap();
        assert!(places.changed(&watch));
        fs::write(&target, "##").unwrap();
        assert!(!places.changed(&watch), "no link any more");
    }
}
