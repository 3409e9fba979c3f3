//! What a wallpaper shows.

use super::WirePath;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use veil_frame::Rgb;

/// What a wallpaper shows. In JSON an object with one field, named for the kind; in requests and in the state that field
/// stands beside the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A file with a picture or a video; absolute.
    #[serde(alias = "path")]
    File(WirePath),
    /// The address of a picture or a video.
    Url(String),
    /// Nothing but this colour.
    Color(Rgb),
}

/// A source that can't be one, whatever lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The file's path is relative, and the daemon can't know to which folder.
    #[error("the file must be an absolute path")]
    RelativeFile,
    /// The file's path holds a NUL byte, so no such file can be.
    #[error("the file's path has a NUL byte in it")]
    NulInFile,
}

impl Source {
    /// The names of the fields that tell what is shown, one for each kind.
    pub const NAMES: [&str; 3] = ["file", "url", "color"];

    /// The file, if it is one.
    pub fn file(&self) -> Option<&WirePath> {
        match self {
            Self::File(path) => Some(path),
            Self::Url(_) | Self::Color(_) => None,
        }
    }

    /// Refuses what no daemon could show.
    ///
    /// # Errors
    ///
    /// A path that is not absolute, or has a NUL byte in it.
    pub fn check(&self) -> Result<(), SourceError> {
        let Self::File(path) = self else {
            return Ok(());
        };
        if path.0.as_os_str().as_bytes().contains(&0) {
            return Err(SourceError::NulInFile);
        }
        if !path.0.is_absolute() {
            return Err(SourceError::RelativeFile);
        }
        Ok(())
    }
}

impl<P: Into<WirePath>> From<P> for Source {
    fn from(path: P) -> Self {
        Self::File(path.into())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.as_path().display().fmt(f),
            Self::Url(url) => f.pad(url),
            Self::Color(color) => color.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_a_field() {
        let color: Rgb = "#204060".parse().expect("a colour");
        for (source, json) in [
            (Source::from("/a"), r#"{"file":"/a"}"#),
            (Source::Url("https://a/b".into()), r#"{"url":"https://a/b"}"#),
            (Source::Color(color), r##"{"color":"#204060"}"##),
        ] {
            assert_eq!(serde_json::to_string(&source).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Source>(json).expect("a source"), source);
        }
        let older: Source = serde_json::from_str(r#"{"path":"/a"}"#).expect("a source");
        assert_eq!(older, Source::from("/a"));
    }
}
