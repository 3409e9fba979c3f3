//! What a list is made of: the pictures and videos of a folder, the files that match a pattern, the lines of an m3u
//! playlist, or files one by one.

use gstreamer::glib;
use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};
use veil_ipc::Source;
use walkdir::WalkDir;

/// Entries that a list may have. Each costs memory for as long as a step takes.
const MOST: usize = 100_000;
/// Bytes that an m3u playlist may have.
const MOST_BYTES: u64 = 16 << 20;

/// A list cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListError {
    /// The folder or the playlist.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The pattern is none.
    #[error("{}: is no pattern of file names: {reason}", pattern.display())]
    Pattern {
        /// It.
        pattern: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing in it.
    #[error("{name}: there is no picture and no video in it{hint}")]
    Empty {
        /// What was asked for.
        name: String,
        /// What may help.
        hint: &'static str,
    },
    /// There is too much in it.
    #[error("{name}: has more than {MOST} entries")]
    TooLong {
        /// What was asked for.
        name: String,
    },
}

/// What is in a list, in its order; `None` for what is a single wallpaper.
///
/// # Errors
///
/// One that cannot be read, or has no entry.
pub(crate) fn entries(source: &Source, recursive: bool) -> Result<Option<Vec<Source>>, ListError> {
    let mut hint = "";
    let list = match source {
        Source::Url(_) | Source::Color(_) => return Ok(None),
        Source::File(path) => {
            let path = path.as_path();
            if path.is_dir() {
                if !recursive {
                    hint = "; --recursive looks into its folders too";
                }
                folder(path, recursive)?
            } else if is_m3u(path) {
                match m3u(path)? {
                    Some(list) => list,
                    None => return Ok(None),
                }
            } else {
                return Ok(None);
            }
        }
        Source::Files(files) => {
            let mut list = Vec::new();
            for file in files {
                if file.as_path().is_dir() {
                    list.extend(folder(file.as_path(), recursive)?);
                } else {
                    list.push(Source::File(file.clone()));
                }
            }
            list
        }
        Source::Glob(pattern) => matching(pattern.as_path())?,
    };
    let name = || source.to_string();
    match list.len() {
        0 => Err(ListError::Empty { name: name(), hint }),
        1..=MOST => Ok(Some(list)),
        _ => Err(ListError::TooLong { name: name() }),
    }
}

/// The pictures and videos of a folder by their names' endings, as people sort them: 2 comes before 10.
fn folder(path: &Path, recursive: bool) -> Result<Vec<Source>, ListError> {
    let is_hidden = |name: &OsStr| name.as_bytes().starts_with(b".");
    let depth = if recursive { usize::MAX } else { 1 };
    let walk = WalkDir::new(path)
        .follow_links(true)
        .min_depth(1)
        .max_depth(depth);
    let mut files = Vec::new();
    for entry in walk
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name()))
    {
        match entry {
            Ok(entry) => {
                if entry.file_type().is_file() && is_shown(entry.path()) {
                    files.push(entry.into_path());
                }
            }
            // A folder in it that may not be read, or a link in a circle: the others are there.
            Err(error) if error.depth() > 0 => tracing::debug!("left out of a list: {error}"),
            Err(error) => {
                return Err(ListError::Read {
                    path: path.to_owned(),
                    source: error.into(),
                });
            }
        }
        if files.len() > MOST {
            break;
        }
    }
    alphanumeric_sort::sort_path_slice(&mut files);
    Ok(files.into_iter().map(Source::from).collect())
}

fn is_shown(path: &Path) -> bool {
    let types = mime_guess::from_path(path);
    types
        .iter()
        .any(|kind| matches!(kind.type_(), mime_guess::mime::IMAGE | mime_guess::mime::VIDEO))
}

/// The files that match, sorted as a folder's are.
fn matching(pattern: &Path) -> Result<Vec<Source>, ListError> {
    let wrong = |reason: String| ListError::Pattern {
        pattern: pattern.to_owned(),
        reason,
    };
    let text = pattern
        .to_str()
        .ok_or_else(|| wrong("it is not UTF-8".to_owned()))?;
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(text, options).map_err(|error| wrong(error.to_string()))?;
    let files = found.filter_map(Result::ok).filter(|path| path.is_file());
    let mut files: Vec<PathBuf> = files.take(MOST + 1).collect();
    alphanumeric_sort::sort_path_slice(&mut files);
    Ok(files.into_iter().map(Source::from).collect())
}

fn is_m3u(path: &Path) -> bool {
    let ending = path.extension().map(OsStr::to_ascii_lowercase);
    ending.is_some_and(|ending| ending == "m3u" || ending == "m3u8")
}

/// The entries of an m3u playlist: a line each, relative to its folder; `None` for one of HTTP Live Streaming (RFC 8216), which
/// is a video.
fn m3u(path: &Path) -> Result<Option<Vec<Source>>, ListError> {
    let failed = |source| ListError::Read {
        path: path.to_owned(),
        source,
    };
    // Opening a pipe would wait for whoever writes into it.
    if !path.metadata().map_err(failed)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(io::Error::other("it has more than 16 MiB")));
    }
    let lines = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&bytes)
        .split(|byte| *byte == b'\n');
    let lines: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii).collect();
    if lines.iter().any(|line| line.starts_with(b"#EXT-X-")) {
        return Ok(None);
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let said = lines
        .into_iter()
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    Ok(Some(said.map(|line| entry(line, folder)).collect()))
}

fn entry(line: &[u8], folder: &Path) -> Source {
    match std::str::from_utf8(line) {
        Ok(url) if url.starts_with("http://") || url.starts_with("https://") => Source::Url(url.to_owned()),
        Ok(uri) if uri.starts_with("file://") => match glib::filename_from_uri(uri) {
            Ok((file, _)) => Source::from(file),
            // It will be named among those that cannot be shown.
            Err(_) => Source::from(folder.join(uri)),
        },
        _ => Source::from(folder.join(OsStr::from_bytes(line))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(list: &[Source], folder: &Path) -> Vec<String> {
        let relative = |source: &Source| match source {
            Source::File(path) => path.as_path().strip_prefix(folder).unwrap().display().to_string(),
            other => other.to_string(),
        };
        list.iter().map(relative).collect()
    }

    fn files(folder: &Path, names: &[&str]) {
        for name in names {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
    }

    #[test]
    fn a_folder_as_people_sort_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        files(
            folder,
            &[
                "10.png",
                "2.mp4",
                "notes.txt",
                ".hidden.png",
                "b/1.webm",
                ".git/1.png",
                "x.JPG",
            ],
        );
        std::os::unix::fs::symlink(folder, folder.join("b/circle")).unwrap();
        let listed = |recursive| entries(&Source::from(folder), recursive).unwrap().unwrap();
        assert_eq!(names(&listed(false), folder), ["2.mp4", "10.png", "x.JPG"]);
        assert_eq!(
            names(&listed(true), folder),
            ["2.mp4", "10.png", "b/1.webm", "x.JPG"]
        );
    }

    #[test]
    fn patterns() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        files(folder, &["10.png", "2.png", ".3.png", "b/1.png", "c.mp4"]);
        let listed = |pattern: &str| entries(&Source::Glob(folder.join(pattern).into()), false);
        assert_eq!(
            names(&listed("*.png").unwrap().unwrap(), folder),
            ["2.png", "10.png"]
        );
        assert_eq!(names(&listed("**/1.png").unwrap().unwrap(), folder), ["b/1.png"]);
        assert!(matches!(listed("*.gif"), Err(ListError::Empty { .. })));
        assert!(matches!(listed("[a"), Err(ListError::Pattern { .. })));
    }

    #[test]
    fn playlists() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let list = folder.join("my.M3U");
        fs::write(
            &list,
            b"\xef\xbb\xbf#EXTM3U\r\n#EXTINF:1,One\r\nb/one.mp4\r\n\r\n/tmp/x.png\nhttps://a/b.mp4\nfile:///a%20b.png\n\xff.png\n",
        )
        .unwrap();
        let listed = entries(&Source::from(list.clone()), false).unwrap().unwrap();
        let expected = [
            Source::from(folder.join("b/one.mp4")),
            Source::from("/tmp/x.png"),
            Source::Url("https://a/b.mp4".into()),
            Source::from("/a b.png"),
            Source::from(folder.join(OsStr::from_bytes(b"\xff.png"))),
        ];
        assert_eq!(listed, expected);
        fs::write(&list, "#EXTM3U\n#EXT-X-TARGETDURATION:10\n1.ts\n").unwrap();
        assert!(entries(&Source::from(list.clone()), false).unwrap().is_none());
        fs::write(&list, "#EXTM3U\n").unwrap();
        assert!(matches!(
            entries(&Source::from(list), false),
            Err(ListError::Empty { .. })
        ));
    }

    #[test]
    fn files_and_folders_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        files(folder, &["z.txt", "b/2.png", "b/1.png"]);
        let listed = Source::Files(vec![folder.join("z.txt").into(), folder.join("b").into()]);
        let listed = entries(&listed, false).unwrap().unwrap();
        assert_eq!(names(&listed, folder), ["z.txt", "b/1.png", "b/2.png"]);
        assert!(
            entries(&Source::from(folder.join("z.txt")), true)
                .unwrap()
                .is_none()
        );
    }
}
