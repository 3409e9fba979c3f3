//! How much of a CPU a process uses.

use std::time::Instant;

/// What was seen last.
#[derive(Debug, Default)]
pub(super) struct Load {
    before: Option<(u32, u64, Instant)>,
}

impl Load {
    /// Per cent of one CPU since the last look; `None` at the first, and where the system does not tell.
    pub(super) fn of(&mut self, pid: u32, now: Instant) -> Option<f64> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let ticks = ticks(&text)?;
        let before = self.before.replace((pid, ticks, now));
        let (_, ticks_before, then) = before.filter(|before| before.0 == pid)?;
        let seconds = now.saturating_duration_since(then).as_secs_f64();
        let a_second = rustix::param::clock_ticks_per_second() as f64;
        (seconds > 0.0).then(|| ticks.saturating_sub(ticks_before) as f64 / a_second / seconds * 100.0)
    }
}

/// User and system time of a line of `/proc/<pid>/stat`: fields 14 and 15 of proc_pid_stat(5). The second field, a name in
/// parentheses, may hold anything.
fn ticks(line: &str) -> Option<u64> {
    let (_, rest) = line.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let line = "7 (a ) 1 2) S 1 7 7 0 -1 4194560 100 0 0 0 41 9 0 0 20 0 1 0 100 1000 50";
        assert_eq!(ticks(line), Some(50));
        assert_eq!(ticks("7 (a"), None);
    }

    #[test]
    fn only_the_second_look_tells() {
        let mut load = Load::default();
        let pid = std::process::id();
        let now = Instant::now();
        assert_eq!(load.of(pid, now), None);
        assert!(load.of(pid, now + std::time::Duration::from_secs(1)).is_some());
    }
}
