//! Waiting for what a test expects, never for a fixed time.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Longer than anything here takes on a slow, busy machine: a bound for what should come soon.
pub const GENEROUS: Duration = Duration::from_secs(30);

/// How long to sleep between two looks. Short, because many things take a few milliseconds.
const STEP: Duration = Duration::from_millis(15);

/// Asks `look` again and again until it gives something, and returns that.
///
/// `look` says `Ok(None)` for "not yet"; an error ends the waiting at once. `what` completes the sentence
/// "waited in vain for …".
pub fn wait_for<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if start.elapsed() >= limit {
            bail!("waited {:.1} s in vain for {what}", start.elapsed().as_secs_f64());
        }
        sleep(STEP);
    }
}

/// As [`wait_for`], for a plain condition.
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) -> Result<()> {
    wait_for(what, limit, || Ok(condition().then_some(())))
}
