//! Reasons as they stand in the log: without the wallpaper's name.
//!
//! A log is sent to strangers, and what somebody looks at is nobody's business. So names of wallpapers are in the
//! answer to whoever asked for them, in the status, and in the log at debug level only. What went wrong is in all of them.

use std::borrow::Cow;
use veil_ipc::Source;

/// A reason without the name of what is shown.
pub(super) fn without_name<'a>(reason: &'a str, source: &Source) -> Cow<'a, str> {
    let (names, instead) = match source {
        // A reason may be about one of a list; no name in it is shorter than its folder's.
        Source::File(path) => {
            let name = path.as_path().display().to_string();
            (vec![name], "the file")
        }
        Source::Files(paths) => {
            let names = paths.iter().map(|path| path.as_path().display().to_string());
            (names.collect(), "one of the files")
        }
        Source::Glob(_) => (vec![source.to_string()], "the pattern"),
        Source::Url(_) => (vec![source.to_string()], "the address"),
        Source::Color(_) => return Cow::Borrowed(reason),
    };
    let mut reason = Cow::Borrowed(reason);
    for name in names.iter().filter(|name| !name.is_empty()) {
        if reason.contains(name.as_str()) {
            reason = Cow::Owned(reason.replace(name.as_str(), instead));
        }
    }
    reason
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
