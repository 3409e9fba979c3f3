//! The user's folders, as the XDG Base Directory Specification has them: a relative path in a variable is ignored.

use std::{env, path::PathBuf};

/// veil's own folder for what it remembers: `$XDG_STATE_HOME/veil`, or `~/.local/state/veil`. `None` where neither variable
/// leads anywhere. It need not exist.
pub(crate) fn state() -> Option<PathBuf> {
    base("XDG_STATE_HOME", ".local/state").map(|base| base.join("veil"))
}

/// The folder of veil's configuration: `$XDG_CONFIG_HOME/veil`, or `~/.config/veil`. `None` where neither variable leads
/// anywhere. It need not exist.
pub(crate) fn config() -> Option<PathBuf> {
    base("XDG_CONFIG_HOME", ".config").map(|base| base.join("veil"))
}

/// The user's home, where it is known.
pub(crate) fn home() -> Option<PathBuf> {
    absolute("HOME")
}

fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    absolute(variable).or_else(|| home().map(|home| home.join(below_home)))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
