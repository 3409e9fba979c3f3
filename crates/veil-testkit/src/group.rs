//! A child process that takes its whole process group with it when it is dropped.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::process::Process;
use crate::wait::wait_for;

/// How long a child may take to end after SIGTERM before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running child with a process group of its own. Its stdout and stderr go to a log file.
#[derive(Debug)]
pub struct Group {
    child: Child,
    name: String,
    log: PathBuf,
    ended: Option<ExitStatus>,
}

impl Group {
    /// Starts `command`, logging to `log`. The child is killed when the calling thread dies.
    pub fn spawn(command: &Command, log: &Path) -> Result<Self> {
        Self::spawn_by(command, log, &[])
    }

    /// As [`Group::spawn`], by way of a program that executes the rest of its arguments.
    pub(crate) fn spawn_by(command: &Command, log: &Path, way: &[&str]) -> Result<Self> {
        let name = Path::new(command.get_program())
            .file_name()
            .map_or_else(|| "child".into(), |name| name.to_string_lossy().into_owned());
        // setpriv(1) asks the kernel for the signal and becomes the program: no code of ours between fork and exec,
        // and the pid is the program's. It comes last, because a change of user drops the request.
        let mut words = way.iter().map(std::ffi::OsStr::new).collect::<Vec<_>>();
        words.extend(["setpriv", "--pdeathsig", "KILL", "--"].map(std::ffi::OsStr::new));
        words.push(command.get_program());
        words.extend(command.get_args());

        let mut wrapped = Command::new(words[0]);
        wrapped.args(&words[1..]);
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => wrapped.env(key, value),
                None => wrapped.env_remove(key),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            wrapped.current_dir(folder);
        }
        let out = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = wrapped
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name} (by way of {:?})", words[0]))?;
        Ok(Self {
            child,
            name,
            log: log.into(),
            ended: None,
        })
    }

    /// The process at the head of the group.
    pub fn process(&self) -> Process {
        Process::new(self.child.id())
    }

    /// Everything that it has written so far.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map_or_else(
            |error| format!("({}: {error})", self.log.display()),
            |bytes| String::from_utf8_lossy(&bytes).into_owned(),
        )
    }

    /// The last lines of its log, for the text of a failure.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().collect();
        format!(
            "the end of {}'s log:\n{}",
            self.name,
            lines[lines.len().saturating_sub(30)..].join("\n")
        )
    }

    /// How it ended, or `None` while it runs.
    pub fn exit_status(&mut self) -> Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Fails, with the end of the log, when it no longer runs.
    pub fn check_alive(&mut self) -> Result<()> {
        match self.exit_status()? {
            None => Ok(()),
            Some(status) => bail!("{} ended ({status}); {}", self.name, self.log_tail()),
        }
    }

    /// Waits for its end.
    pub fn wait_exit(&mut self, limit: Duration) -> Result<ExitStatus> {
        let what = format!("the end of {}", self.name);
        wait_for(&what, limit, || self.exit_status()).with_context(|| self.log_tail())
    }

    /// Sends a signal to the process at the head of the group only.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        if self.exit_status()?.is_none() {
            kill_process(self.pid(), signal).with_context(|| format!("cannot signal {}", self.name))?;
        }
        Ok(())
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // An ended child whose status was taken leaves a number that may be another's by now; its group's members,
        // if any are left, keep that number theirs, so signalling the group is safe as long as one of them lives.
        let group = self.pid();
        let first = if self.ended.is_some() {
            Signal::KILL
        } else {
            Signal::TERM
        };
        let _ = kill_process_group(group, first);
        if self.ended.is_none() {
            let _ = self.wait_exit(PATIENCE);
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.child.wait();
        }
        if std::thread::panicking() {
            eprintln!("{}", self.log_tail());
            if let Some(signal) = self.ended.and_then(|status| status.signal()) {
                eprintln!("{} ended by signal {signal}", self.name);
            }
        }
    }
}
