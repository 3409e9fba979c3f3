//! What a file is, by its content: the extension never decides.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::MetadataExt,
};
use veil_ipc::protocol::Playback;

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A still picture in a format that is read here.
    Still(image::ImageFormat),
    /// A picture in a format that is not.
    Unsupported(&'static str),
    /// Anything else: GStreamer is asked.
    Other,
}

/// Names a file whatever it is called, and how it plays; the same file changed is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileKey {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    playback: Playback,
}

impl FileKey {
    pub(crate) fn of(file: &File, playback: Playback) -> io::Result<Self> {
        let m = file.metadata()?;
        Ok(Self {
            device: m.dev(),
            inode: m.ino(),
            size: m.size(),
            modified: (m.mtime(), m.mtime_nsec()),
            playback: playback.resolved(),
        })
    }
}

/// Looks at the first bytes of a file, and rewinds it.
pub(crate) fn kind(file: &mut File) -> io::Result<Kind> {
    let mut head = Vec::with_capacity(64);
    Read::by_ref(file).take(64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(kind_of(&head))
}

fn kind_of(head: &[u8]) -> Kind {
    const JXL_CONTAINER: &[u8] = b"\0\0\0\x0cJXL \r\n\x87\n";
    if head.get(4..8) == Some(b"ftyp") {
        // ISO base media: the major brand tells pictures from films (ISO/IEC 23008-12, annex B).
        return match head.get(8..12) {
            Some(b"avif" | b"avis") => Kind::Unsupported("AVIF"),
            Some(b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1") => {
                Kind::Unsupported("HEIF")
            }
            _ => Kind::Other,
        };
    }
    if head.starts_with(JXL_CONTAINER) || head.starts_with(b"\xff\x0a") {
        return Kind::Unsupported("JPEG XL");
    }
    match image::guess_format(head) {
        Ok(image::ImageFormat::Avif) => Kind::Unsupported("AVIF"),
        Ok(format) if format.reading_enabled() => Kind::Still(format),
        Ok(_) => Kind::Unsupported("this picture's"),
        Err(_) => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        assert_eq!(
            kind_of(b"\x89PNG\r\n\x1a\n...."),
            Kind::Still(image::ImageFormat::Png)
        );
        assert_eq!(kind_of(b"\0\0\0\x1cftypheic\0\0\0\0"), Kind::Unsupported("HEIF"));
        assert_eq!(kind_of(b"\0\0\0\x1cftypavif\0\0\0\0"), Kind::Unsupported("AVIF"));
        assert_eq!(kind_of(b"\xff\x0a.."), Kind::Unsupported("JPEG XL"));
        assert_eq!(kind_of(b"\0\0\0\x20ftypisom"), Kind::Other);
        assert_eq!(kind_of(b"text\n"), Kind::Other);
        assert_eq!(kind_of(b""), Kind::Other);
    }
}
