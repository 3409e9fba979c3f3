//! How a line looks.
//!
//! Where stderr is the journal (`JOURNAL_STREAM` names its device and inode, systemd.exec(5)) a line begins with its priority
//! as `<4>`, sd-daemon(3), so that `journalctl -p warning` finds it; the journal has times of its own.

use rustix::{fs::fstat, stdio::stderr};
use std::{env, fmt};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{Format, Full, Writer, format},
        time::SystemTime,
    },
    registry::LookupSpan,
};

/// The form of a line.
pub(super) enum Line {
    /// With time and level.
    Plain(Format<Full, SystemTime>),
    /// For the journal.
    Journal(Format<Full, ()>),
}

impl Line {
    /// With time and level.
    pub(super) fn plain() -> Self {
        Self::Plain(format().with_target(false))
    }

    /// As it suits what reads stderr.
    pub(super) fn for_stderr() -> Self {
        if is_journal() {
            Self::Journal(format().with_target(false).with_level(false).without_time())
        } else {
            Self::plain()
        }
    }
}

/// Whether stderr is the journal's.
fn is_journal() -> bool {
    let Ok(found) = fstat(stderr()) else {
        return false;
    };
    env::var("JOURNAL_STREAM").is_ok_and(|named| named == format!("{}:{}", found.st_dev, found.st_ino))
}

/// syslog's number for a level.
fn priority(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        match self {
            Self::Plain(format) => format.format_event(context, writer, event),
            Self::Journal(format) => {
                write!(writer, "<{}>", priority(*event.metadata().level()))?;
                format.format_event(context, writer, event)
            }
        }
    }
}
