//! gst-launch with the plugin as it was built, in a compositor's session.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use veil_testkit::{Group, Session, find_bin};

/// Where the plugin lies.
pub(crate) fn plugin_folder() -> Result<PathBuf> {
    let plugin = find_bin("libgstveil.so", "VEIL_PLUGIN", None)?;
    Ok(plugin.parent().context("a file is in a folder")?.to_owned())
}

/// A command of GStreamer's that finds the plugin. All share one registry, since making one takes seconds.
pub(crate) fn gst(session: &Session, program: &str) -> Result<Command> {
    let mut command = session.command(program);
    command.env("GST_PLUGIN_PATH", plugin_folder()?).env(
        "GST_REGISTRY_1_0",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("registry.bin"),
    );
    Ok(command)
}

/// A running gst-launch; it ends when this is dropped.
pub(crate) struct Launch {
    /// The process.
    pub(crate) group: Group,
}

impl Launch {
    /// `gst-launch-1.0` with this pipeline, its words separated by spaces.
    pub(crate) fn start(session: &Session, pipeline: &str) -> Result<Self> {
        let mut command = gst(session, "gst-launch-1.0")?;
        command
            .arg("-e")
            .args(pipeline.split(' ').filter(|word| !word.is_empty()));
        let log = session.folder().join(format!("launch-{}.log", unique()));
        Ok(Self {
            group: Group::spawn(&command, &log)?,
        })
    }
}

fn unique() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
