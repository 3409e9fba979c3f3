//! Programs that are run when something has changed.
//!
//! For each output one runs at a time. What changes meanwhile is told by one more run afterwards, with how things are then: a
//! program that is slow or hangs does not become many.

use super::app::App;
use anyhow::Context;
use calloop::{Interest, Mode, PostAction, generic::Generic};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::{
    collections::BTreeMap,
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
};
use veil_ipc::{Source, protocol::Kind};

/// What an output shows now, as a hook is told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// The output's name.
    pub(super) output: String,
    /// Nothing after it was cleared.
    pub(super) source: Option<Source>,
    /// What that is.
    pub(super) kind: Kind,
}

/// Hooks that run, by the output's name; and what is to be told when they have ended.
#[derive(Debug, Default)]
pub(super) struct Hooks(BTreeMap<String, Option<Shown>>);

impl App {
    /// An output shows something else.
    pub(super) fn run_on_change(&mut self, shown: Shown) {
        if let Some(next) = self.hooks.0.get_mut(&shown.output) {
            *next = Some(shown);
            return;
        }
        let Some(words) = self.rules.config.on_change.clone() else {
            return;
        };
        match start(&words, &shown).and_then(|child| self.await_hook(child, words, shown.output.clone())) {
            Ok(()) => {
                self.hooks.0.insert(shown.output, None);
            }
            Err(error) => tracing::warn!("on_change: {error:#}"),
        }
    }

    fn await_hook(&self, mut child: Child, words: Vec<String>, output: String) -> anyhow::Result<()> {
        let watch = pidfd_open(Pid::from_child(&child), PidfdFlags::NONBLOCK).context("cannot watch it")?;
        let source: Generic<OwnedFd> = Generic::new(watch, Interest::READ, Mode::Level);
        let ended = move |_, _: &mut _, app: &mut Self| {
            match child.try_wait() {
                Ok(Some(status)) if !status.success() => {
                    tracing::warn!(
                        "on_change: {} ended with {status}",
                        words.first().map_or("", |name| name)
                    );
                }
                Ok(_) => {}
                Err(error) => tracing::warn!("on_change: {error}"),
            }
            if let Some(next) = app.hooks.0.remove(&output).flatten() {
                app.run_on_change(next);
            }
            Ok(PostAction::Remove)
        };
        let inserted = self.handle.insert_source(source, ended);
        inserted
            .map_err(|error| error.error)
            .context("cannot wait for it")?;
        Ok(())
    }
}

/// Starts it by way of this very program, which gives it back the signals that the daemon blocks.
fn start(words: &[String], shown: &Shown) -> anyhow::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.args(["exec-hook", "--"]).args(words).stdin(Stdio::null());
    command.env("VEIL_OUTPUT", &shown.output);
    command.env("VEIL_KIND", shown.kind.name());
    for name in ["VEIL_FILE", "VEIL_URL", "VEIL_COLOR", "NOTIFY_SOCKET"] {
        command.env_remove(name);
    }
    match &shown.source {
        Some(Source::File(file)) => command.env("VEIL_FILE", &file.0),
        Some(Source::Url(url)) => command.env("VEIL_URL", url),
        Some(Source::Color(color)) => command.env("VEIL_COLOR", color.to_string()),
        // These are lists; what is shown is one of them.
        Some(Source::Files(_) | Source::Glob(_)) | None => &mut command,
    };
    command.spawn().context("cannot start a process")
}
