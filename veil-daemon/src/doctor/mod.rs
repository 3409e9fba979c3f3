//! `veil doctor`: what keeps a wallpaper from being shown, or makes it cost more than it has to.
//!
//! Each part looks at one thing, in a thread of its own and with a limit: a compositor, a driver or a decoder that hangs is what
//! a doctor is called for. None of it needs a daemon, and a part that lacks what it looks at says so.

mod compositor;
mod daemon;
mod decoders;
mod devices;
mod files;
mod gpu;
mod report;

use crate::logging;
use report::{Report, Section};
use std::{path::PathBuf, process::ExitCode, sync::mpsc, thread, time::Duration};
use veil_ipc::commands::DoctorArgs;

/// How long a part may take that asks somebody who has the answer at hand.
const SHORT: Duration = Duration::from_secs(6);
/// How long a part may take that loads drivers or plugins: GStreamer's first look at its plugins takes seconds.
const LONG: Duration = Duration::from_secs(30);

/// Looks at everything, and says how it is; the exit status is 1 if something is broken.
pub(crate) fn run(args: &DoctorArgs) -> ExitCode {
    let filter = std::env::var("VEIL_LOG").ok();
    // What goes wrong is in the report; who wants more asks for it.
    let _ = logging::start(Some(filter.as_deref().unwrap_or("off")), false);
    let mut report = Report::new(args.json);
    let survey = part(&mut report, "compositor", SHORT, compositor::look).flatten();
    let survey = survey.unwrap_or_default();
    let seen = survey.clone();
    part(&mut report, "GPU", LONG, move |section| gpu::look(section, &seen));
    part(&mut report, "devices", SHORT, devices::look);
    part(&mut report, "decoders", LONG, decoders::look);
    part(&mut report, "daemon", SHORT, daemon::look);
    for file in &args.files {
        let path = std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
        let seen = survey.clone();
        part(&mut report, "file", LONG, move |section| {
            files::look(section, path, &seen)
        });
    }
    report.end()
}

/// Has one thing looked at. `None` where that did not come to an end.
fn part<T: Send + 'static>(
    report: &mut Report,
    name: &'static str,
    limit: Duration,
    look: impl FnOnce(&mut Section) -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let mut section = Section::new(name);
        let found = look(&mut section);
        // Nobody waits for it any more when it took too long.
        let _ = sender.send((section, found));
    });
    let result = spawned
        .map_err(|error| format!("no thread to look at it: {error}"))
        .and_then(|_| {
            receiver.recv_timeout(limit).map_err(|error| match error {
                mpsc::RecvTimeoutError::Timeout => format!("no answer within {} s", limit.as_secs()),
                mpsc::RecvTimeoutError::Disconnected => {
                    "looking at it failed in an unexpected way".to_owned()
                }
            })
        });
    match result {
        Ok((section, found)) => {
            report.add(section);
            Some(found)
        }
        Err(reason) => {
            let mut section = Section::new(name);
            section.broken(reason);
            report.add(section);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_fails_is_told_and_the_next_is_looked_at() {
        let mut report = Report::new(true);
        assert_eq!(
            part(&mut report, "one", LONG, |_| -> u8 { panic!("a driver") }),
            None
        );
        assert_eq!(
            part(&mut report, "two", LONG, |section| section.ok("well")),
            Some(())
        );
        let json = report.to_json();
        assert_eq!(json["broken"], true);
        assert_eq!(json["sections"][0]["findings"][0]["level"], "broken");
        assert_eq!(json["sections"][1]["findings"][0]["what"], "well");
    }
}
