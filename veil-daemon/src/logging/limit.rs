//! No message fills a disk: what comes from one place in the program is written at most twenty times a minute.
//!
//! The last line before others are left out says so, and the first one after them says how many were. There is no timer
//! for that, so nothing wakes up for it. Debug and trace messages are not limited: who asks for these wants all.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tracing::{Event, Level, Subscriber, callsite::Identifier};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

/// Lines from one place within a [`WINDOW`].
const LINES: u64 = 20;
const WINDOW: Duration = Duration::from_secs(60);

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is written, and with it how many before it were not.
    Write { left_out: u64 },
    /// It is the last one that is written for now.
    WriteLast,
    /// It is not written.
    LeaveOut,
}

/// Messages from one place.
#[derive(Debug)]
struct Place {
    since: Instant,
    count: u64,
}

/// Writes messages as another format does, but not all of them.
pub(super) struct Limited<F> {
    format: F,
    places: Mutex<HashMap<Identifier, Place>>,
}

impl<F> Limited<F> {
    pub(super) fn new(format: F) -> Self {
        Self {
            format,
            places: Mutex::default(),
        }
    }

    fn judge(&self, place: Identifier, now: Instant) -> Verdict {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(place).or_insert(Place { since: now, count: 0 });
        let mut left_out = 0;
        if now.saturating_duration_since(place.since) >= WINDOW {
            left_out = place.count.saturating_sub(LINES);
            *place = Place { since: now, count: 0 };
        }
        place.count += 1;
        match place.count {
            count if count < LINES => Verdict::Write { left_out },
            LINES => Verdict::WriteLast,
            _ => Verdict::LeaveOut,
        }
    }
}

impl<S, N, F> FormatEvent<S, N> for Limited<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if *event.metadata().level() > Level::INFO {
            return self.format.format_event(context, writer, event);
        }
        let verdict = self.judge(event.metadata().callsite(), Instant::now());
        let addition = match verdict {
            Verdict::Write { left_out: 0 } => return self.format.format_event(context, writer, event),
            Verdict::LeaveOut => return Ok(()),
            Verdict::Write { left_out } => format!("{left_out} more like this were left out meanwhile"),
            Verdict::WriteLast => "more like this are left out for a minute".to_owned(),
        };
        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        writeln!(writer, "{} ({addition})", line.trim_end_matches('\n'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tracing_subscriber::layer::SubscriberExt;

    /// What is written while this runs, in lines.
    fn written(run: impl FnOnce()) -> Vec<String> {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let writer = Arc::clone(&bytes);
        let layer = tracing_subscriber::fmt::layer()
            .event_format(Limited::new(
                tracing_subscriber::fmt::format()
                    .without_time()
                    .with_target(false)
                    .with_ansi(false),
            ))
            .with_writer(move || Shared(Arc::clone(&writer)));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), run);
        let text = String::from_utf8(bytes.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn one_place_cannot_fill_the_log_and_others_are_heard() {
        let lines = written(|| {
            for n in 0..10_000 {
                tracing::warn!("frame {n} failed");
            }
            tracing::info!("something else");
        });
        assert_eq!(lines.len(), 21, "{lines:?}");
        assert_eq!(lines[0], " WARN frame 0 failed");
        assert_eq!(
            lines[19],
            " WARN frame 19 failed (more like this are left out for a minute)"
        );
        assert_eq!(lines[20], " INFO something else");
    }

    #[test]
    fn who_asks_for_details_gets_all() {
        let lines = written(|| (0..1000).for_each(|n| tracing::debug!("detail {n}")));
        assert_eq!(lines.len(), 1000);
    }

    #[test]
    fn what_was_left_out_is_counted() {
        let limited = Limited::new(());
        let (place, start) = (Identifier(&Nowhere), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for n in 1..=50 {
            let expected = match n {
                1..20 => Verdict::Write { left_out: 0 },
                20 => Verdict::WriteLast,
                _ => Verdict::LeaveOut,
            };
            assert_eq!(limited.judge(place.clone(), at(1)), expected, "{n}");
        }
        assert_eq!(limited.judge(place.clone(), at(59)), Verdict::LeaveOut);
        assert_eq!(
            limited.judge(place.clone(), at(61)),
            Verdict::Write { left_out: 31 }
        );
        assert_eq!(limited.judge(place, at(62)), Verdict::Write { left_out: 0 });
    }

    struct Nowhere;

    impl tracing::Callsite for Nowhere {
        fn set_interest(&self, _: tracing::subscriber::Interest) {}
        fn metadata(&self) -> &tracing::Metadata<'_> {
            unreachable!("nobody asks")
        }
    }
}
