//! When the compositor goes: the daemon ends, or waits for it to come back with the socket, the state and the positions of
//! its videos kept.
//!
//! A compositor that starts anew makes its socket anew, by the same name: inotify tells that, so waiting costs nothing. Between
//! the socket's coming and the first answer lies a moment, for which there are some tries with growing pauses; they
//! end, and begin again with the next socket.

use super::app::{App, Done};
use anyhow::Context;
use calloop::{
    Interest, Mode, PostAction, RegistrationToken,
    generic::Generic,
    timer::{TimeoutAction, Timer},
};
use clap::ValueEnum;
use rustix::fs::inotify;
use std::{
    env,
    mem::MaybeUninit,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::Duration,
};
use veil_wayland::{ConnectError, Display, DisplayError, WaylandWatch};

/// The exit status of a daemon whose compositor has gone: "temporary failure" of sysexits.h. A service manager starts it
/// again.
pub(crate) const EXIT_STATUS: u8 = 75;

/// The first pause between two tries, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// Tries after a socket has come: half a minute.
const TRIES: u32 = 20;

/// What to do when the connection to the compositor is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDisconnect {
    /// End, with exit status 75
    #[default]
    Exit,
    /// Wait for the compositor to come back, and show the wallpapers again
    Reconnect,
}

/// The compositor has gone, and veil ends for it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Disconnected(DisplayError);

/// The wait for a compositor.
#[derive(Debug)]
pub(super) struct Away {
    /// Tells of a new socket; `None` where that cannot be had.
    watch: Option<RegistrationToken>,
    /// The next try.
    timer: Option<RegistrationToken>,
    tries: u32,
    /// A thread tries at present.
    trying: bool,
}

impl App {
    /// The loop cannot go on for this reason. If that is the compositor's end, and it is to be waited for, it can.
    pub(super) fn connection_lost(&mut self, error: anyhow::Error) -> anyhow::Result<()> {
        let error = error.downcast::<DisplayError>()?;
        let lost = matches!(error, DisplayError::Lost(_));
        if !lost {
            return Err(error.into());
        }
        // A connection that was handed over as a descriptor has no socket to come back.
        if self.args.on_disconnect == OnDisconnect::Exit || env::var_os("WAYLAND_SOCKET").is_some() {
            return Err(Disconnected(error).into());
        }
        tracing::warn!("{error}; waiting for the compositor to come back");
        self.watch.stop(&self.handle);
        for id in self.screens.keys().copied().collect::<Vec<_>>() {
            self.display.desktop().destroy_surface(id);
            self.output_removed(id);
        }
        let watch = self
            .watch_socket()
            .inspect_err(|error| tracing::warn!("the compositor's socket cannot be watched: {error:#}"))
            .ok();
        self.away = Some(Away {
            watch,
            timer: None,
            tries: 0,
            trying: false,
        });
        self.tell_summary();
        // It may be back already.
        self.try_to_connect();
        Ok(())
    }

    fn watch_socket(&self) -> anyhow::Result<RegistrationToken> {
        let socket = socket_path().context("XDG_RUNTIME_DIR is not set")?;
        let (folder, name) = socket
            .parent()
            .zip(socket.file_name())
            .context("it has no name")?;
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&watch, folder, kinds())?;
        let name = name.to_owned();
        let source: Generic<OwnedFd> = Generic::new(watch, Interest::READ, Mode::Level);
        let told = move |_, watch: &mut calloop::generic::NoIoDrop<OwnedFd>, app: &mut Self| {
            match news(watch, Path::new(&name)) {
                News::Nothing => {}
                News::Socket => app.socket_appeared(),
                News::FolderGone => app.fail(anyhow::anyhow!("the session has ended: its folder is gone")),
            }
            Ok(PostAction::Continue)
        };
        let inserted = self.handle.insert_source(source, told);
        Ok(inserted.map_err(|error| error.error)?)
    }

    fn socket_appeared(&mut self) {
        if let Some(away) = &mut self.away {
            away.tries = 0;
        }
        self.try_to_connect();
    }

    /// Tries in a thread: a compositor that is just starting lets it wait for its answer.
    fn try_to_connect(&mut self) {
        let Some(away) = &mut self.away else { return };
        if std::mem::replace(&mut away.trying, true) {
            return;
        }
        if let Some(timer) = away.timer.take() {
            self.handle.remove(timer);
        }
        away.tries += 1;
        self.connecting.submit(
            || Done::Connected(Box::new(Display::connect())),
            |reason| Done::Broken(None, reason),
        );
    }

    /// A try is over.
    pub(super) fn connected(&mut self, result: Result<Display, ConnectError>) {
        let Some(away) = &mut self.away else { return };
        away.trying = false;
        match result {
            Ok(display) => {
                if let Err(error) = self.begin_again(display) {
                    self.fail(error);
                }
            }
            // It is another one, and will not change.
            Err(error @ ConnectError::Missing(_)) => self.fail(error.into()),
            Err(error) => {
                tracing::debug!("the compositor is not back: {error}");
                self.try_later();
            }
        }
    }

    fn try_later(&mut self) {
        let Some(away) = &mut self.away else { return };
        // Where nothing tells of a new socket there is no other way than to go on trying.
        if away.tries >= TRIES && away.watch.is_some() {
            return;
        }
        let (first, longest) = PAUSES;
        let pause = first.saturating_mul(1 << (away.tries - 1).min(10)).min(longest);
        let again = |_, (): &mut (), app: &mut Self| {
            if let Some(away) = &mut app.away {
                // This very timer: it removes itself.
                away.timer = None;
            }
            app.try_to_connect();
            TimeoutAction::Drop
        };
        match self.handle.insert_source(Timer::from_duration(pause), again) {
            Ok(timer) => away.timer = Some(timer),
            Err(error) => tracing::error!("no timer: {error}"),
        }
    }

    /// The compositor is back: its outputs get their wallpapers as at the start.
    fn begin_again(&mut self, display: Display) -> anyhow::Result<()> {
        if let Some(away) = self.away.take() {
            for token in away.watch.into_iter().chain(away.timer) {
                self.handle.remove(token);
            }
        }
        tracing::info!("the compositor is back");
        // The old connection goes with it, and lets go of what it still held.
        self.display = display;
        self.watch = WaylandWatch::new(&self.handle, &self.display, |app: &mut Self| app.set_readable())
            .context("cannot watch the connection to the compositor")?;
        self.take_desktop_events();
        self.tell_summary();
        Ok(())
    }
}

fn kinds() -> inotify::WatchFlags {
    use inotify::WatchFlags as Flags;
    Flags::CREATE | Flags::MOVED_TO | Flags::DELETE | Flags::ONLYDIR
}

/// What inotify has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Nothing,
    Socket,
    FolderGone,
}

/// Reads all of it. What cannot be read says nothing.
///
/// The session's folder is removed with the last login. No event tells that as long as this process has a file open in it, but
/// before that everything in it is removed, and with it veil's own folder.
fn news(watch: &OwnedFd, name: &Path) -> News {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(watch, &mut buffer);
    let mut news = News::Nothing;
    while let Ok(event) = reader.next() {
        if event.events().contains(inotify::ReadFlags::IGNORED) {
            return News::FolderGone;
        }
        let named = event.file_name().map(|name| name.to_bytes());
        if event.events().contains(inotify::ReadFlags::DELETE) {
            if named == Some(b"veil") {
                return News::FolderGone;
            }
        } else if named == Some(name.as_os_str().as_encoded_bytes())
            || event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW)
        {
            news = News::Socket;
        }
    }
    news
}

/// The compositor's socket, as libwayland finds it.
fn socket_path() -> Option<PathBuf> {
    let display = env::var_os("WAYLAND_DISPLAY").unwrap_or_else(|| "wayland-0".into());
    let display = PathBuf::from(display);
    if display.is_absolute() {
        return Some(display);
    }
    env::var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join(display))
}

/// Whether a daemon ended because its compositor did.
pub(crate) fn is_disconnect(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Disconnected>().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_the_socket_is_news() {
        let folder = tempfile::tempdir().unwrap();
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&watch, folder.path(), kinds()).unwrap();
        let name = Path::new("wayland-1");
        assert_eq!(news(&watch, name), News::Nothing);
        fs::write(folder.path().join("wayland-1.lock"), "").unwrap();
        fs::write(folder.path().join("wayland-10"), "").unwrap();
        assert_eq!(news(&watch, name), News::Nothing);
        fs::write(folder.path().join("wayland-1"), "").unwrap();
        assert_eq!(news(&watch, name), News::Socket);
        fs::remove_file(folder.path().join("wayland-1")).unwrap();
        assert_eq!(news(&watch, name), News::Nothing);
        fs::create_dir(folder.path().join("veil")).unwrap();
        fs::remove_dir(folder.path().join("veil")).unwrap();
        assert_eq!(news(&watch, name), News::FolderGone);
        drop(folder);
        assert_eq!(news(&watch, name), News::FolderGone);
    }
}
