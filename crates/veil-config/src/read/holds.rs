//! `[holds]`: for what a wallpaper stands still, and what becomes of it then.

use super::{Found, Table, Value};
use crate::model::Holds;
use std::time::Duration;
use toml::de::DeValue;

/// No time in this table makes sense beyond a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn holds(value: &Value<'_>, found: &mut Found<'_>) -> Holds {
    let mut holds = Holds::default();
    let Some(mut table) = Table::of(value, found) else {
        return holds;
    };
    table.read("release_after", found, |value, found| {
        if let Some(time) = seconds_or_false(value, found) {
            holds.release_after = time;
        }
    });
    table.end("[holds]", found);
    holds
}

/// A time in seconds; `false` for none. `None` where it is neither.
fn seconds_or_false(value: &Value<'_>, found: &mut Found<'_>) -> Option<Option<Duration>> {
    let seconds = match value.get_ref() {
        DeValue::Boolean(false) => return Some(None),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse::<f64>().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    };
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.filter(|time| *time <= LONGEST);
    if time.is_none() {
        let most = LONGEST.as_secs();
        found.add(
            value.span(),
            format!("expected seconds, 0 to {most}, or false for never"),
        );
    }
    time.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Problems};
    use std::path::Path;

    fn read(text: &str) -> Result<Holds, Problems> {
        Config::parse(text, Path::new("/etc/veil"), None).map(|config| config.holds)
    }

    #[test]
    fn a_time_is_seconds_or_never() {
        let release = |text: &str| {
            let holds = read(&format!("[holds]\nrelease_after = {text}\n"));
            holds.map(|holds| holds.release_after)
        };
        assert_eq!(
            read("").expect("empty").release_after,
            Some(Duration::from_secs(30))
        );
        assert_eq!(release("0"), Ok(Some(Duration::ZERO)));
        assert_eq!(release("1_000"), Ok(Some(Duration::from_secs(1000))));
        assert_eq!(release("2.5"), Ok(Some(Duration::from_millis(2500))));
        assert_eq!(release("false"), Ok(None));
        for wrong in ["true", "-1", "nan", "inf", "86401", "\"30\"", "[30]"] {
            let Problems(problems) = release(wrong).expect_err(wrong);
            let told = problems[0].to_string();
            assert!(told.starts_with("2:17: expected seconds"), "{wrong}: {told}");
        }
        let Problems(problems) = read("[holds]\nrelease = 3\n").expect_err("taken");
        assert!(problems[0].to_string().contains("release"), "{problems:?}");
    }
}
