//! What `/proc` says about a process: the numbers that veil's budgets are counted in.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

/// A process to look at. It need not be a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pid: u32,
}

/// One thread of a process, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its id; the main thread's is the process's.
    pub tid: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// utime + stime, in clock ticks.
    pub cpu_ticks: u64,
    /// How often it went to sleep by itself: its wake-ups.
    pub voluntary_switches: u64,
    /// How often another thread took its CPU.
    pub involuntary_switches: u64,
}

impl Process {
    /// The process with this id.
    pub fn new(pid: u32) -> Self {
        Self { pid }
    }

    /// Its id.
    pub fn pid(self) -> u32 {
        self.pid
    }

    /// Whether it runs (a zombie does not).
    pub fn is_alive(self) -> bool {
        self.read("stat")
            .is_ok_and(|stat| !matches!(after_name(&stat).split(' ').next(), Some("Z" | "X")))
    }

    /// utime + stime of all its threads, those that ended included, in clock ticks.
    pub fn cpu_ticks(self) -> Result<u64> {
        ticks(&self.read("stat")?)
    }

    /// [`Process::cpu_ticks`] as time.
    pub fn cpu_time(self) -> Result<Duration> {
        let per_second = rustix::param::clock_ticks_per_second();
        Ok(Duration::from_secs_f64(
            self.cpu_ticks()? as f64 / per_second as f64,
        ))
    }

    /// How long its living threads have run, to the nanosecond: unlike [`Process::cpu_time`] it is good for short
    /// measurements, and forgets threads that have ended.
    pub fn run_time(self) -> Result<Duration> {
        let mut sum = 0;
        for thread in self.threads()? {
            let Ok(text) = self.read(&format!("task/{}/schedstat", thread.tid)) else {
                continue;
            };
            let first = text
                .split(' ')
                .next()
                .and_then(|number| number.parse::<u64>().ok());
            sum += first.with_context(|| format!("schedstat says {text}"))?;
        }
        Ok(Duration::from_nanos(sum))
    }

    /// Its threads, the main thread first.
    pub fn threads(self) -> Result<Vec<Thread>> {
        let mut threads = Vec::new();
        for entry in
            fs::read_dir(self.path("task")).with_context(|| format!("process {} is gone", self.pid))?
        {
            let Ok(tid) = entry?.file_name().to_string_lossy().parse() else {
                continue;
            };
            // One that ends between the listing and the look is not there.
            if let Ok(thread) = self.thread(tid) {
                threads.push(thread);
            }
        }
        threads.sort_by_key(|thread| (thread.tid != self.pid, thread.tid));
        Ok(threads)
    }

    /// One of its threads.
    pub fn thread(self, tid: u32) -> Result<Thread> {
        let status = self.read(&format!("task/{tid}/status"))?;
        Ok(Thread {
            tid,
            name: self.read(&format!("task/{tid}/comm"))?.trim_end().into(),
            cpu_ticks: ticks(&self.read(&format!("task/{tid}/stat"))?)?,
            voluntary_switches: field(&status, "voluntary_ctxt_switches")?,
            involuntary_switches: field(&status, "nonvoluntary_ctxt_switches")?,
        })
    }

    /// Its main thread, which in veil is the loop.
    pub fn main_thread(self) -> Result<Thread> {
        self.thread(self.pid)
    }

    /// The wake-ups of all its living threads together.
    pub fn voluntary_switches(self) -> Result<u64> {
        Ok(self
            .threads()?
            .iter()
            .map(|thread| thread.voluntary_switches)
            .sum())
    }

    /// The processes that it has started and not waited for.
    pub fn children(self) -> Result<Vec<u32>> {
        let mut children = Vec::new();
        for thread in self.threads()? {
            let path = format!("/proc/{}/task/{}/children", self.pid, thread.tid);
            // A thread may have ended in between.
            let text = fs::read_to_string(path).unwrap_or_default();
            children.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        Ok(children)
    }

    /// Its open descriptors with what they lead to, in order.
    pub fn descriptors(self) -> Result<Vec<(u32, String)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.path("fd")).with_context(|| format!("process {} is gone", self.pid))? {
            let entry = entry?;
            if let (Ok(number), Ok(target)) = (
                entry.file_name().to_string_lossy().parse(),
                fs::read_link(entry.path()),
            ) {
                found.push((number, target.to_string_lossy().into_owned()));
            }
        }
        found.sort();
        Ok(found)
    }

    /// How much of its memory is resident, in KiB (VmRSS).
    pub fn rss_kib(self) -> Result<u64> {
        field(&self.read("status")?, "VmRSS")
    }

    /// How much of that is its own rather than files' or shared (RssAnon), in KiB: heap and stacks.
    pub fn rss_anon_kib(self) -> Result<u64> {
        field(&self.read("status")?, "RssAnon")
    }

    /// How much of its own program's file is resident, in KiB: code and constants, of which a development build has
    /// several times as many as a release.
    pub fn program_kib(self) -> Result<u64> {
        let program = fs::read_link(self.path("exe"))?.to_string_lossy().into_owned();
        let smaps = self.read("smaps")?;
        let (mut of_program, mut sum) = (false, 0);
        for line in smaps.lines() {
            match line.strip_prefix("Rss:") {
                // A mapping begins with a line that ends with its file's name; its numbers follow.
                None if !line.contains(" kB") => of_program = line.ends_with(&program),
                Some(number) if of_program => {
                    sum += number.trim().trim_end_matches(" kB").parse::<u64>()?;
                }
                _ => {}
            }
        }
        Ok(sum)
    }

    fn path(self, below: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{below}", self.pid))
    }

    fn read(self, below: &str) -> Result<String> {
        let bytes = fs::read(self.path(below)).with_context(|| format!("/proc/{}/{below}", self.pid))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The part of a stat line behind the name, which may hold blanks and brackets itself.
fn after_name(stat: &str) -> &str {
    stat.rsplit_once(") ").map_or("", |(_, rest)| rest)
}

fn ticks(stat: &str) -> Result<u64> {
    let mut fields = after_name(stat)
        .split_ascii_whitespace()
        .skip(11)
        .map(str::parse::<u64>);
    let (user, system) = (
        fields.next().context("no utime")??,
        fields.next().context("no stime")??,
    );
    Ok(user + system)
}

fn field(status: &str, name: &str) -> Result<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .with_context(|| format!("no {name} in status"))?;
    line.split_ascii_whitespace()
        .next()
        .and_then(|number| number.parse().ok())
        .context("no number")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_with_a_hostile_name_is_read() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 12 30 0 0 20 0 1 0 100 1 1";
        assert_eq!(after_name(stat).split(' ').next(), Some("S"));
        assert_eq!(ticks(stat).unwrap(), 42);
    }

    #[test]
    fn this_process_can_be_looked_at() {
        let me = Process::new(std::process::id());
        assert!(me.is_alive());
        assert!(me.rss_kib().unwrap() >= me.rss_anon_kib().unwrap());
        assert!((100..=me.rss_kib().unwrap()).contains(&me.program_kib().unwrap()));
        assert_eq!(me.threads().unwrap()[0].tid, me.pid());
        assert!(me.descriptors().unwrap().len() >= 3);
        assert!(!Process::new(u32::MAX >> 1).is_alive());
    }
}
