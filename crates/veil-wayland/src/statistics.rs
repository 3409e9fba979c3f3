//! How well pictures reach the screen: what was committed, what was shown, and the times between.

use std::time::Duration;
use veil_frame::Shown;

/// Counts of the commits on one surface, since it got something new to show.
#[derive(Clone, Debug, Default)]
pub struct PresentationStats {
    /// The first commit that counts; 0 before it.
    first: u64,
    in_flight: u64,
    shown: u64,
    /// When one was shown last, by which clock: never [`Shown::Never`].
    last: Option<Shown>,
    intervals: u64,
    sum: Duration,
    longest: Duration,
}

impl PresentationStats {
    /// Notes a commit by its token; tokens grow.
    pub fn committed(&mut self, token: u64) {
        if self.first == 0 {
            self.first = token;
        }
        self.in_flight += 1;
    }

    /// Notes what became of a commit. One from before the first that was noted does not count.
    pub fn note(&mut self, token: u64, shown: Shown) {
        if self.first == 0 || token < self.first {
            return;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        if shown == Shown::Never {
            return;
        }
        // Two commits with one time: only one of them was on the screen. Frame callbacks, which count where feedback does
        // not, come for both.
        if self.last == Some(shown) {
            return;
        }
        self.shown += 1;
        if let Some(interval) = self.last.and_then(|last| interval(last, shown)) {
            self.intervals += 1;
            self.sum += interval;
            self.longest = self.longest.max(interval);
        }
        self.last = Some(shown);
    }

    /// Pictures that were on the screen.
    pub const fn shown(&self) -> u64 {
        self.shown
    }

    /// Pictures that were due and never shown, when `due` have been; those whose fate is not known yet do not count.
    pub fn missed(&self, due: u64) -> u64 {
        due.saturating_sub(self.shown + self.in_flight)
    }

    /// The next picture does not follow on the last: there was a pause between them.
    pub fn interrupted(&mut self) {
        self.last = None;
    }

    /// Mean and longest time between pictures on the screen.
    pub fn intervals(&self) -> Option<(Duration, Duration)> {
        let count = u32::try_from(self.intervals).ok().filter(|count| *count > 0)?;
        Some((self.sum / count, self.longest))
    }
}

/// The time between two pictures, if both are told by one clock that goes forward.
fn interval(before: Shown, after: Shown) -> Option<Duration> {
    match (before, after) {
        (Shown::At(before), Shown::At(after)) | (Shown::Drawn(before), Shown::Drawn(after)) => {
            after.checked_sub(before)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_no_interval() {
        let mut stats = PresentationStats::default();
        let at = |ms| Shown::At(Duration::from_millis(ms));
        for token in 5..10 {
            stats.committed(token);
        }
        stats.note(4, at(50));
        stats.note(5, at(100));
        assert_eq!(stats.intervals(), None);
        stats.note(6, at(130));
        stats.note(7, Shown::Never);
        stats.interrupted();
        stats.note(8, at(9000));
        assert_eq!((stats.shown(), stats.missed(5)), (3, 1));
        stats.note(9, at(9050));
        assert_eq!((stats.shown(), stats.missed(5)), (4, 1));
        assert_eq!(
            stats.intervals(),
            Some((Duration::from_millis(40), Duration::from_millis(50)))
        );
    }

    #[test]
    fn times_of_two_clocks_are_not_compared() {
        let mut stats = PresentationStats::default();
        let ms = Duration::from_millis;
        for (token, shown) in [
            Shown::Drawn(ms(100)),
            Shown::At(ms(9_000_000)),
            Shown::At(ms(9_000_033)),
            Shown::Drawn(ms(166)),
            Shown::Drawn(ms(200)),
        ]
        .into_iter()
        .enumerate()
        {
            stats.committed(token as u64 + 1);
            stats.note(token as u64 + 1, shown);
        }
        assert_eq!(stats.shown(), 5);
        assert_eq!(stats.intervals(), Some((Duration::from_micros(33_500), ms(34))));
    }

    #[test]
    fn two_commits_in_one_refresh_are_one_frame_shown() {
        let mut stats = PresentationStats::default();
        for (token, ms) in [(1, 100), (2, 133), (3, 133), (4, 166)] {
            stats.committed(token);
            stats.note(token, Shown::At(Duration::from_millis(ms)));
        }
        assert_eq!((stats.shown(), stats.missed(4)), (3, 1));
        assert_eq!(
            stats.intervals(),
            Some((Duration::from_millis(33), Duration::from_millis(33)))
        );
    }
}
