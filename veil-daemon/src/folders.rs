//! The user's folders, as the XDG Base Directory Specification has them: a relative path in a variable is ignored.

use std::{env, path::PathBuf};

/// veil's own folder for what it remembers: `$XDG_STATE_HOME/veil`, or `~/.local/state/veil`. `None` where neither variable
/// leads anywhere. It need not exist.
pub(crate) fn state() -> Option<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|base| base.join("veil"))
}
