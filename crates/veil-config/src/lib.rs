//! veil's configuration: what may stand in `config.toml`, what it means, and everything that is wrong with it.
//!
//! The file is TOML 1.0. It is read as a whole, and every mistake in it is found, not only the first: each has a line and
//! a column, so that whoever wrote it sees where. Nothing here touches the file system or the compositor.

#![forbid(unsafe_code)]

mod keys;
mod model;
mod problem;
mod read;
mod selector;

pub use model::{Config, Defaults, Holds, OutputRule};
pub use problem::{Problem, Problems};
pub use selector::{OutputName, OutputSelector, SelectorError, Selectors};

use std::path::Path;

impl Config {
    /// Reads the text of a configuration. `folder` is what relative paths begin at (the file's own folder), `home` what `~/` is.
    ///
    /// # Errors
    /// Everything that is wrong with it; then none of it counts.
    pub fn parse(text: &str, folder: &Path, home: Option<&Path>) -> Result<Self, Problems> {
        read::config(text, folder, home)
    }
}
