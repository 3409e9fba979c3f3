//! Reasons as they stand in the log: without the wallpaper's name.
//!
//! A log is sent to strangers, and what somebody looks at is nobody's business. So names of wallpapers are in the
//! answer to whoever asked for them, in the status, and in the log at debug level only. What went wrong is in all of them.

use std::borrow::Cow;
use veil_ipc::Source;

/// A reason without the name of what is shown.
pub(super) fn without_name<'a>(reason: &'a str, source: &Source) -> Cow<'a, str> {
    let (name, instead) = match source {
        Source::File(_) => (source.to_string(), "the file"),
        Source::Url(_) => (source.to_string(), "the address"),
        Source::Color(_) => return Cow::Borrowed(reason),
    };
    if name.is_empty() || !reason.contains(&name) {
        return Cow::Borrowed(reason);
    }
    Cow::Owned(reason.replace(&name, instead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_and_reasons_stay() {
        let file = Source::from("/home/me/a secret.mp4");
        let reason = "/home/me/a secret.mp4: no decoder for H.264; install x (/home/me/a secret.mp4)";
        assert_eq!(
            without_name(reason, &file),
            "the file: no decoder for H.264; install x (the file)"
        );
        assert_eq!(without_name("no memory", &file), "no memory");
        let url = Source::Url("https://a/b?token=c".into());
        assert_eq!(
            without_name("https://a/b?token=c: gone", &url),
            "the address: gone"
        );
    }
}
