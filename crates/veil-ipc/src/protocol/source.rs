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
    /// A file with a picture or a video; or a folder of such, or an `.m3u` playlist. Absolute.
    #[serde(alias = "path")]
    File(WirePath),
    /// These files, one after the other; absolute.
    Files(Vec<WirePath>),
    /// The files that match this pattern (`*`, `?`, `[a-z]`, `**` for folders below), one after the other; absolute.
    Glob(WirePath),
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
    /// A list of none.
    #[error("the list of files is empty")]
    NoFiles,
}

impl Source {
    /// The names of the fields that tell what is shown, one for each kind.
    pub const NAMES: [&str; 5] = ["file", "files", "glob", "url", "color"];

    /// The file, if it is one.
    pub fn file(&self) -> Option<&WirePath> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }

    /// Refuses what no daemon could show.
    ///
    /// # Errors
    ///
    /// A path that is not absolute, or has a NUL byte in it; an empty list of files.
    pub fn check(&self) -> Result<(), SourceError> {
        let paths = match self {
            Self::File(path) | Self::Glob(path) => std::slice::from_ref(path),
            Self::Files(paths) if paths.is_empty() => return Err(SourceError::NoFiles),
            Self::Files(paths) => paths,
            Self::Url(_) | Self::Color(_) => &[],
        };
        for path in paths {
            if path.0.as_os_str().as_bytes().contains(&0) {
                return Err(SourceError::NulInFile);
            }
            if !path.0.is_absolute() {
                return Err(SourceError::RelativeFile);
            }
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
            Self::File(path) | Self::Glob(path) => path.as_path().display().fmt(f),
            Self::Files(paths) => write!(f, "{} files", paths.len()),
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
            (
                Source::Files(vec!["/a".into(), "/b".into()]),
                r#"{"files":["/a","/b"]}"#,
            ),
            (Source::Glob("/a/*.png".into()), r#"{"glob":"/a/*.png"}"#),
            (Source::Url("https://a/b".into()), r#"{"url":"https://a/b"}"#),
            (Source::Color(color), r##"{"color":"#204060"}"##),
        ] {
            assert_eq!(serde_json::to_string(&source).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Source>(json).expect("a source"), source);
            assert!(Source::NAMES.iter().any(|name| json.contains(name)));
        }
        let older: Source = serde_json::from_str(r#"{"path":"/a"}"#).expect("a source");
        assert_eq!(older, Source::from("/a"));
    }

    #[test]
    fn paths_are_absolute_in_each_kind() {
        for (source, error) in [
            (Source::from("a"), SourceError::RelativeFile),
            (Source::Glob("*.png".into()), SourceError::RelativeFile),
            (
                Source::Files(vec!["/a".into(), "b".into()]),
                SourceError::RelativeFile,
            ),
            (Source::Files(vec!["/a\0".into()]), SourceError::NulInFile),
            (Source::Files(vec![]), SourceError::NoFiles),
        ] {
            assert_eq!(source.check(), Err(error));
        }
    }
}
