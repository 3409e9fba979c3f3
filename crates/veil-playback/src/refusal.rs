//! Why a file is not played, in a line.

use std::path::{Path, PathBuf};

use gstreamer as gst;

use crate::codec_names::{Kind, Package, known, name};
use crate::failure::{Failure, Meaning, Origin};
use crate::source::{Source, SourceError};

/// Why a file is not played. Every message is one line and names the file.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is no file that can be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It holds no pictures.
    #[error("{}: not a picture or video: {kind}", .path.display())]
    NotMedia {
        /// The file.
        path: PathBuf,
        /// What it is: a media type, or words.
        kind: String,
    },
    /// It is media, without a video.
    #[error("{}: no video track", .path.display())]
    NoVideo {
        /// The file.
        path: PathBuf,
    },
    /// It is encrypted.
    #[error("{}: the video is encrypted", .path.display())]
    Encrypted {
        /// The file.
        path: PathBuf,
    },
    /// There is no decoder for it on this machine.
    #[error("{}: no decoder for {codec}{}", .path.display(), hint(.package.as_ref()))]
    NoDecoder {
        /// The file.
        path: PathBuf,
        /// The codec's name.
        codec: String,
        /// What would bring one.
        package: Option<Package>,
    },
    /// There is nothing on this machine that reads files of this format, or nothing anywhere.
    #[error("{}: {format} cannot be read{}", .path.display(), hint(.package.as_ref()))]
    NoReader {
        /// The file.
        path: PathBuf,
        /// The format's name in the plural.
        format: String,
        /// What would bring a reader.
        package: Option<Package>,
    },
    /// It is broken or cut off.
    #[error("{}: damaged or incomplete: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What GStreamer says.
        reason: String,
    },
    /// Every decoder there is failed at its first pictures.
    #[error("{}: the video cannot be decoded: {decoder}: {reason}", .path.display())]
    Undecodable {
        /// The file.
        path: PathBuf,
        /// The decoder that was tried last.
        decoder: String,
        /// What it says.
        reason: String,
    },
    /// It is a row of pictures, and nothing says when each is due.
    #[error("{}: its pictures have no times", .path.display())]
    Timeless {
        /// The file.
        path: PathBuf,
    },
    /// The sink failed.
    #[error("{}: the pictures cannot be shown: {reason}", .path.display())]
    Sink {
        /// The file.
        path: PathBuf,
        /// What the sink says.
        reason: String,
    },
    /// No picture came in time.
    #[error("{}: no picture came within {seconds} s", .path.display())]
    Timeout {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// GStreamer is not whole: it lacks an element that everything needs.
    #[error("GStreamer is incomplete: {0}")]
    Incomplete(String),
    /// The system gives no more.
    #[error("no more descriptors: {0}")]
    Exhausted(#[from] std::io::Error),
}

fn hint(package: Option<&Package>) -> String {
    package.map_or_else(String::new, |package| format!("; install {package}"))
}

/// Gathers what the pipeline says about a file that it does not play.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    path: &'a Path,
    source: &'a Source,
    unreadable: Option<gst::Caps>,
    last_decoder: Option<(String, String)>,
}

impl<'a> Refusal<'a> {
    pub(crate) fn new(path: &'a Path, source: &'a Source) -> Self {
        Self {
            path,
            source,
            unreadable: None,
            last_decoder: None,
        }
    }

    /// Nothing reads data of this type.
    pub(crate) fn unreadable(&mut self, caps: gst::Caps) {
        self.unreadable.get_or_insert(caps);
    }

    /// A decoder was tried in vain.
    pub(crate) fn decoder_failed(&mut self, decoder: String, reason: String) {
        self.last_decoder = Some((decoder, reason));
    }

    /// There is no further decoder.
    pub(crate) fn no_decoder(&self, stream: &gst::CapsRef) -> OpenError {
        let path = self.path.to_owned();
        if let Some((decoder, reason)) = self.last_decoder.clone() {
            return OpenError::Undecodable {
                path,
                decoder,
                reason,
            };
        }
        let package = stream.structure(0).and_then(known).map(|known| known.package);
        OpenError::NoDecoder {
            path,
            codec: name(stream),
            package,
        }
    }

    /// The file's streams are of these types.
    pub(crate) fn no_video(&self, streams: &[String]) -> OpenError {
        let path = self.path.to_owned();
        if streams
            .iter()
            .any(|stream| stream.starts_with("application/x-cenc") || stream.contains("encrypted"))
        {
            return OpenError::Encrypted { path };
        }
        if let Some(caps) = &self.unreadable {
            return self.nothing_reads(caps);
        }
        OpenError::NoVideo { path }
    }

    /// The pipeline stopped without a word; the file's streams are of these types.
    pub(crate) fn silent(&self, streams: &[String]) -> OpenError {
        if !streams.is_empty() || self.unreadable.is_some() {
            return self.no_video(streams);
        }
        OpenError::Damaged {
            path: self.path.to_owned(),
            reason: String::from("nothing in it can be played"),
        }
    }

    /// The pipeline failed before the first picture.
    pub(crate) fn failed(&self, failure: Failure) -> OpenError {
        let path = self.path.to_owned();
        match (&failure.origin, failure.meaning) {
            (Origin::Sink, _) => OpenError::Sink {
                path,
                reason: failure.text,
            },
            (_, Meaning::WrongType | Meaning::UnknownType) if self.source.looks_like_text() => self.text(),
            (_, Meaning::UnknownType) => OpenError::NotMedia {
                path,
                kind: String::from("unknown kind of data"),
            },
            (_, Meaning::Encrypted) => OpenError::Encrypted { path },
            (_, Meaning::MissingPlugin) if self.unreadable.is_none() => OpenError::NoReader {
                path,
                format: String::from("files of this format"),
                package: None,
            },
            (_, Meaning::MissingPlugin) => self
                .unreadable
                .as_deref()
                .map_or_else(|| OpenError::NoVideo { path }, |caps| self.nothing_reads(caps)),
            _ => OpenError::Damaged {
                path,
                reason: failure.text,
            },
        }
    }

    fn text(&self) -> OpenError {
        OpenError::NotMedia {
            path: self.path.to_owned(),
            kind: String::from("text/plain"),
        }
    }

    fn nothing_reads(&self, caps: &gst::CapsRef) -> OpenError {
        let path = self.path.to_owned();
        let Some(structure) = caps.structure(0) else {
            return OpenError::NotMedia {
                path,
                kind: String::from("unknown kind of data"),
            };
        };
        let media_type = structure.name().to_string();
        match known(structure) {
            Some(known) if known.kind == Kind::Codec => OpenError::NoDecoder {
                path,
                codec: known.name.to_owned(),
                package: Some(known.package),
            },
            Some(known) if known.kind == Kind::Picture => OpenError::NoReader {
                path,
                format: format!("{} pictures", known.name),
                package: None,
            },
            Some(known) => OpenError::NoReader {
                path,
                format: known.name.to_owned(),
                package: Some(known.package),
            },
            None if media_type.starts_with("video/") => OpenError::NoDecoder {
                path,
                codec: media_type,
                package: None,
            },
            None if media_type.starts_with("audio/") => OpenError::NoVideo { path },
            None if media_type.contains("cenc") => OpenError::Encrypted { path },
            None => OpenError::NotMedia {
                path,
                kind: media_type,
            },
        }
    }
}
