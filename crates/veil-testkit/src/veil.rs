//! veil's own programs: the daemon, and the commands that talk to it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use serde_json::Value;

use crate::group::Group;
use crate::process::Process;
use crate::session::Session;
use crate::wait::wait_for;

/// The daemon's program. A test of its package passes `option_env!("CARGO_BIN_EXE_veil")`; `VEIL_BIN` goes first.
pub fn veil_bin(built: Option<&str>) -> Result<PathBuf> {
    find_bin("veil", "VEIL_BIN", built)
}

/// The client's program, as [`veil_bin`]; `VEILCTL_BIN` goes first.
pub fn veilctl_bin(built: Option<&str>) -> Result<PathBuf> {
    find_bin("veilctl", "VEILCTL_BIN", built)
}

/// A program: from the environment, else as cargo built it for this test, else beside the running test's folder,
/// where a build of the whole workspace puts it.
pub fn find_bin(name: &str, variable: &str, built: Option<&str>) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        let path = PathBuf::from(path);
        return if path.is_file() {
            Ok(path)
        } else {
            bail!("{variable}: there is no {}", path.display())
        };
    }
    let test = std::env::current_exe()?;
    let beside = test
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    match built.map(PathBuf::from).filter(|path| path.is_file()).or(beside) {
        Some(path) => Ok(path),
        None => bail!("{name} is not built: run `cargo build` for the workspace, or set {variable}"),
    }
}

/// What a program that has ended left behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
    /// The command, for messages.
    pub command: String,
}

impl Ran {
    /// Runs a command to its end.
    pub fn new(command: &mut Command) -> Result<Self> {
        let output = command
            .output()
            .with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            command: std::iter::once(command.get_program())
                .chain(command.get_args())
                .map(OsStr::to_string_lossy)
                .collect::<Vec<_>>()
                .join(" "),
        })
    }

    /// The exit status as a number, 128 + N for signal N.
    pub fn code(&self) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        self.status
            .code()
            .unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Fails, with what was printed, unless the exit status is 0.
    pub fn ok(self) -> Result<Self> {
        if self.code() != 0 {
            bail!(
                "{} gave {}: {}{}",
                self.command,
                self.code(),
                self.stdout,
                self.stderr
            );
        }
        Ok(self)
    }
}

/// A running `veil daemon`. It ends when this is dropped.
#[derive(Debug)]
pub struct Daemon {
    group: Group,
    program: PathBuf,
    environment: Vec<(OsString, Option<OsString>)>,
}

impl Daemon {
    /// Starts `veil daemon` with these further arguments, and waits until it answers `status`.
    pub fn start<A: AsRef<OsStr>>(
        session: &Session,
        veil: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self> {
        let mut command = session.command(veil);
        command.arg("daemon").args(arguments);
        Self::spawn(session, &command)?.ready()
    }

    /// Waits until it answers `status`.
    pub fn ready(mut self) -> Result<Self> {
        self.wait_status("the daemon's first answer", crate::GENEROUS, |_| true)?;
        Ok(self)
    }

    /// Starts a prepared command, which may have an environment of its own, and waits for nothing.
    pub fn spawn(session: &Session, command: &Command) -> Result<Self> {
        // A second daemon in the same session must not write over the first one's log.
        let free = |number: &u32| !session.log_path(&format!("veil-{number}")).exists();
        let number = (1..).find(free).unwrap_or_default();
        Ok(Self {
            group: Group::spawn(command, &session.log_path(&format!("veil-{number}")))?,
            program: command.get_program().into(),
            environment: command
                .get_envs()
                .map(|(k, v)| (k.into(), v.map(Into::into)))
                .collect(),
        })
    }

    /// Runs `veil` with these arguments in the daemon's session, to its end.
    pub fn client<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Ran> {
        self.client_of(&self.program, arguments)
    }

    /// As [`Daemon::client`] with another program: `veilctl`.
    pub fn client_of<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Ran> {
        let mut command = Command::new(program);
        command.args(arguments);
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ran::new(&mut command)
    }

    /// What `veil status --json` says.
    pub fn status(&self) -> Result<Value> {
        let ran = self.client(["status", "--json"])?.ok()?;
        serde_json::from_str(&ran.stdout).with_context(|| format!("status is not JSON: {}", ran.stdout))
    }

    /// One output's part of the status.
    pub fn output(&self, name: &str) -> Result<Value> {
        let status = self.status()?;
        let mut all = status["outputs"].as_array().into_iter().flatten();
        let found = all.find(|output| output["name"] == name).cloned();
        found.with_context(|| format!("status knows no output {name}: {status}"))
    }

    /// How many frames an output has shown.
    pub fn frames_shown(&self, output: &str) -> Result<u64> {
        self.output(output)?["frames"]["shown"]
            .as_u64()
            .context("no frames.shown in the status")
    }

    /// Asks for the status until it satisfies `condition`, and returns it. A daemon that ends fails at once.
    pub fn wait_status(
        &mut self,
        what: &str,
        limit: Duration,
        condition: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let mut last = String::from("nothing");
        let found = wait_for(what, limit, || {
            self.group.check_alive()?;
            let answer = self.status();
            last = answer
                .as_ref()
                .map_or_else(ToString::to_string, ToString::to_string);
            Ok(answer.ok().filter(&condition))
        });
        found.with_context(|| format!("the last status: {last}\n{}", self.group.log_tail()))
    }

    /// Waits until one output's part of the status satisfies `condition`, and returns it.
    pub fn wait_output(
        &mut self,
        name: &str,
        what: &str,
        condition: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let find = |status: &Value| {
            let mut all = status["outputs"].as_array().into_iter().flatten();
            all.find(|output| output["name"] == name).cloned()
        };
        let status = self.wait_status(what, crate::GENEROUS, |status| {
            find(status).is_some_and(|output| condition(&output))
        })?;
        find(&status).context("the output is gone")
    }

    /// Waits until an output has shown this many more frames than now.
    pub fn wait_frames(&mut self, output: &str, more: u64) -> Result<Value> {
        let goal = self.frames_shown(output)? + more;
        self.wait_output(output, &format!("{more} more frames on {output}"), |output| {
            output["frames"]["shown"].as_u64() >= Some(goal)
        })
    }

    /// `veil set` with these arguments, to its end.
    pub fn set<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Ran> {
        let mut all = vec![OsStr::new("set").to_owned()];
        all.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self.client(all)
    }

    /// Waits until the log holds this text.
    pub fn wait_log(&mut self, text: &str, limit: Duration) -> Result<()> {
        let found = wait_for(&format!("\"{text}\" in the log"), limit, || {
            if self.group.log().contains(text) {
                return Ok(Some(()));
            }
            self.group.check_alive().map(|()| None)
        });
        found.with_context(|| self.group.log_tail())
    }

    /// Everything that it has logged so far.
    pub fn log(&self) -> String {
        self.group.log()
    }

    /// Its process, to look at.
    pub fn process(&self) -> Process {
        self.group.process()
    }

    /// Fails, with the end of the log, when it no longer runs.
    pub fn check_alive(&mut self) -> Result<()> {
        self.group.check_alive()
    }

    /// Sends it a signal.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        self.group.signal(signal)
    }

    /// Waits for its end.
    pub fn wait_exit(&mut self, limit: Duration) -> Result<ExitStatus> {
        self.group.wait_exit(limit)
    }
}
