//! A headless weston: a compositor that has no `zwlr_layer_shell_v1`, as GNOME's has none.

use anyhow::{Context, Result};
use std::os::unix::fs::FileTypeExt;

use crate::group::Group;
use crate::session::Session;
use crate::wait::{GENEROUS, wait_for};

/// A running weston. It ends when this is dropped.
#[derive(Debug)]
pub struct Weston {
    group: Group,
    session: Session,
}

impl Weston {
    /// Starts it, and waits until its socket is there.
    pub fn start() -> Result<Self> {
        let session = Session::new("wayland-weston")?;
        let mut command = session.command("weston");
        command.env_remove("WAYLAND_DISPLAY").args([
            "--backend=headless-backend.so",
            "--socket=wayland-weston",
            "--no-config",
            "--idle-time=0",
            "--width=1280",
            "--height=720",
        ]);
        let mut group = Group::spawn(&command, &session.log_path("weston"))?;
        let socket = session.runtime_dir().join(session.display());
        wait_for("weston's socket", GENEROUS, || {
            group.check_alive()?;
            Ok(std::fs::metadata(&socket)
                .is_ok_and(|found| found.file_type().is_socket())
                .then_some(()))
        })
        .with_context(|| group.log_tail())?;
        Ok(Self { group, session })
    }

    /// Its folders and environment.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Everything that it has logged so far.
    pub fn log(&self) -> String {
        self.group.log()
    }
}
