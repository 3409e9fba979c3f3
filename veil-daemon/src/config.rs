//! Where the configuration is, and what is in it or wrong with it.

use crate::folders;
use rustix::fs::{Mode, OFlags};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};
use veil_config::{Config, Problems};

pub(crate) mod check;

/// The most bytes that a configuration may have.
const MOST: u64 = 1 << 20;

/// A configuration's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    /// Absolute.
    pub(crate) path: PathBuf,
    /// It was asked for by name, so it must be there.
    pub(crate) named: bool,
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// There is none, but one was named.
    #[error("there is no configuration {}", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("cannot read the configuration {}: {error}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It can be read, and does not say what a configuration says.
    #[error("{}", lines(.path, .problems))]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        problems: Problems,
    },
}

/// As compilers write it, so that editors find the place.
fn lines(path: &Path, problems: &Problems) -> String {
    let line = |problem| format!("{}:{problem}", path.display());
    problems.0.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl ConfigFile {
    /// The one that was named, or else `$XDG_CONFIG_HOME/veil/config.toml`. `None` where no variable leads to it.
    pub(crate) fn locate(named: Option<&Path>) -> Option<Self> {
        match named {
            Some(path) => Some(Self {
                path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
                named: true,
            }),
            None => Some(Self {
                path: folders::config()?.join("config.toml"),
                named: false,
            }),
        }
    }

    /// What it says; where there is none and none was named, what an empty one would say.
    pub(crate) fn load(&self) -> Result<Config, ConfigError> {
        let path = || self.path.clone();
        let text = match read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.named => {
                return Err(ConfigError::Missing(path()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Config::default()),
            Err(error) => return Err(ConfigError::Io { path: path(), error }),
        };
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let home = folders::home();
        Config::parse(&text, folder, home.as_deref()).map_err(|problems| ConfigError::Content {
            path: path(),
            problems,
        })
    }
}

/// Reads a regular file: a pipe of that name would hold up whoever opens it.
fn read(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    if file.take(MOST + 1).read_to_string(&mut text)? as u64 > MOST {
        return Err(io::Error::other("it has more than a MiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_configuration_is_told_and_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let file = |named| ConfigFile {
            path: folder.path().join("config.toml"),
            named,
        };
        assert_eq!(file(false).load().unwrap(), Config::default());
        let error = file(true).load().unwrap_err();
        assert!(matches!(error, ConfigError::Missing(_)), "{error}");
        rustix::fs::mkfifoat(rustix::fs::CWD, &file(false).path, Mode::RUSR).unwrap();
        assert!(file(false).load().unwrap_err().to_string().contains("not a file"));
        std::fs::remove_file(&file(false).path).unwrap();
        std::fs::write(&file(false).path, "#".repeat(2 << 20)).unwrap();
        assert!(file(false).load().unwrap_err().to_string().contains("MiB"));
        std::fs::write(&file(false).path, "\n  mode = 3\n[defaults]\nmode = \"big\"\n").unwrap();
        let told = file(false).load().unwrap_err().to_string();
        let lines: Vec<&str> = told.lines().collect();
        assert!(
            lines[0].ends_with("mode`: known are outputs, defaults, output, hooks")
                || lines[0].contains(":2:3: ")
        );
        assert!(lines[1].contains("config.toml:4:8: "), "{told}");
    }
}
