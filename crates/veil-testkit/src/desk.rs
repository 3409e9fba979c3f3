//! A headless sway with veil in it: what most tests of the daemon begin with.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::screenshot::Shot;
use crate::sway::Sway;
use crate::veil::{Daemon, Ran, veil_bin};
use crate::wait::GENEROUS;

/// A sway and a `veil daemon` that runs in it.
#[derive(Debug)]
pub struct Desk {
    /// The daemon; it ends before its compositor.
    pub daemon: Daemon,
    /// The compositor.
    pub sway: Sway,
}

impl Desk {
    /// A sway with one output of this mode, and a daemon with these arguments.
    pub fn start<A: AsRef<OsStr>>(mode: &str, arguments: impl IntoIterator<Item = A>) -> Result<Self> {
        Self::on(Sway::start(mode)?, arguments)
    }

    /// A daemon with these arguments in this sway, which answers already.
    pub fn on<A: AsRef<OsStr>>(sway: Sway, arguments: impl IntoIterator<Item = A>) -> Result<Self> {
        let daemon = Daemon::start(sway.session(), &veil_bin(None)?, arguments)?;
        Ok(Self { daemon, sway })
    }

    /// As [`Desk::on`], with more variables in the daemon's environment.
    pub fn with_env<A: AsRef<OsStr>>(
        sway: Sway,
        variables: &[(&str, &str)],
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self> {
        let mut command = sway.session().command(veil_bin(None)?);
        command
            .arg("daemon")
            .args(arguments)
            .envs(variables.iter().copied());
        let daemon = Daemon::spawn(sway.session(), &command)?.ready()?;
        Ok(Self { daemon, sway })
    }

    /// `veil set` with these arguments, to its end.
    pub fn set<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Ran> {
        self.daemon.set(arguments)
    }

    /// Starts `veil` with these arguments and does not wait for it. Its output is thrown away.
    pub fn spawn_client<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Child> {
        let mut command = self.sway.session().command(veil_bin(None)?);
        command
            .args(arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        command.spawn().context("cannot start veil")
    }

    /// Ends the daemon with `veil stop` and starts it again with these arguments.
    pub fn restart<A: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = A>) -> Result<()> {
        self.daemon.client(["stop"])?.ok()?;
        let ended = self.daemon.wait_exit(GENEROUS)?;
        if !ended.success() {
            bail!("veil ended with {}: {}", describe(ended), self.daemon.log());
        }
        self.start_again(arguments)
    }

    /// Starts the daemon again, after it has ended in whatever way.
    pub fn start_again<A: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = A>) -> Result<()> {
        self.daemon = Daemon::start(self.sway.session(), &veil_bin(None)?, arguments)?;
        Ok(())
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        let session = self.sway.session();
        session
            .runtime_dir()
            .join(format!("veil/{}.sock", session.display()))
    }

    /// What is kept for the next start, as JSON; null when nothing is.
    pub fn state(&self) -> Result<Value> {
        match std::fs::read(self.sway.session().state_dir().join("veil/wallpapers.json")) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Value::Null),
            Err(error) => Err(error.into()),
        }
    }

    /// A picture of the first output.
    pub fn shot(&self) -> Result<Shot> {
        self.sway.screenshot(&self.first_output()?)
    }

    /// Waits for a picture on the first output: see [`Sway::wait_for_picture`].
    pub fn wait_shot(&self, name: &str, condition: impl FnMut(&Shot) -> bool) -> Result<Shot> {
        self.sway
            .wait_for_picture(&self.first_output()?, name, GENEROUS, condition)
    }

    /// The status of the first output.
    pub fn first(&self) -> Result<Value> {
        self.daemon.output(&self.first_output()?)
    }

    /// Waits until the first output's part of the status satisfies `condition`, and returns it.
    pub fn wait_first(&mut self, what: &str, condition: impl Fn(&Value) -> bool) -> Result<Value> {
        let name = self.first_output()?;
        self.wait_output(&name, what, condition)
    }

    /// As [`Desk::wait_first`], for any output.
    pub fn wait_output(
        &mut self,
        name: &str,
        what: &str,
        condition: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        self.daemon.wait_output(name, what, condition)
    }

    /// Waits until an output has shown this many more frames than now.
    pub fn wait_frames(&mut self, output: &str, more: u64) -> Result<Value> {
        self.daemon.wait_frames(output, more)
    }

    fn first_output(&self) -> Result<String> {
        let names = self.sway.output_names()?;
        names.into_iter().next().context("sway has no output")
    }
}

fn describe(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => format!("status {}", status.code().unwrap_or_default()),
    }
}
