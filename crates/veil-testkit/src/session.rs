//! The surroundings of one compositor: folders of its own, and the environment that leads to them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

/// What leads to the session that the tests were started from, and must not leak into theirs.
const FOREIGN: &[&str] = &[
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "DISPLAY",
    "SWAYSOCK",
    "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE",
    "NIRI_SOCKET",
    "DBUS_SESSION_BUS_ADDRESS",
    "NOTIFY_SOCKET",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_ID",
];

/// A session's folders and its environment. The folders vanish with it.
#[derive(Debug)]
pub struct Session {
    folder: TempDir,
    display: String,
    swaysock: Option<PathBuf>,
}

impl Session {
    /// A session with fresh folders and the name of a Wayland socket that need not exist (yet).
    pub fn new(display: &str) -> Result<Self> {
        // A socket's path holds 107 bytes: a deep temporary folder would leave no room.
        let base = Some(std::env::temp_dir()).filter(|path| path.as_os_str().len() < 48);
        let folder = tempfile::Builder::new()
            .prefix("veil-test-")
            .tempdir_in(base.unwrap_or_else(|| "/tmp".into()))
            .context("cannot make a temporary folder")?;
        // Where root cannot have a user namespace the compositor runs as "nobody", who must get through here.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711))?;
        for name in ["run", "state", "config", "cache", "data", "log"] {
            fs::DirBuilder::new()
                .mode(0o700)
                .create(folder.path().join(name))?;
        }
        Ok(Self {
            folder,
            display: display.into(),
            swaysock: None,
        })
    }

    /// `XDG_RUNTIME_DIR`.
    pub fn runtime_dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// `XDG_STATE_HOME`.
    pub fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// `XDG_CONFIG_HOME`.
    pub fn config_dir(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// A folder for a test's own files; it vanishes with the session.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `WAYLAND_DISPLAY`.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// A command with this session's environment and no other's.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
            .env("HOME", self.folder.path())
            .env("XDG_RUNTIME_DIR", self.runtime_dir())
            .env("XDG_STATE_HOME", self.state_dir())
            .env("XDG_CONFIG_HOME", self.config_dir())
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .env("XDG_DATA_HOME", self.folder.path().join("data"))
            .env("WAYLAND_DISPLAY", &self.display)
            // GStreamer scans its plugins once for all tests: that takes seconds.
            .env("GST_REGISTRY", crate::target().join("test-inputs/gst-registry.bin"));
        if let Some(socket) = &self.swaysock {
            command.env("SWAYSOCK", socket);
        }
        command
    }

    /// `SWAYSOCK`, where a sway runs in it.
    pub(crate) fn swaysock(&self) -> Option<&Path> {
        self.swaysock.as_deref()
    }

    /// Where a program of this name logs to.
    pub(crate) fn log_path(&self, name: &str) -> PathBuf {
        self.folder.path().join("log").join(format!("{name}.log"))
    }

    pub(crate) fn set_sockets(&mut self, display: String, swaysock: Option<PathBuf>) {
        self.display = display;
        self.swaysock = swaysock;
    }
}
