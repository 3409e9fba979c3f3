//! The job behind `dump`: what an output shows, as a PNG file.
//!
//! The picture lies where the compositor reads it, and whoever draws waits while this job holds it; so it is read once and
//! let go. Memory that is arranged in a vendor's way (a tiled modifier) tells the CPU nothing.

mod frame;

use fast_image_resize::{
    FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};
use frame::{Frame, FrameError};
use image::{
    ColorType, ImageEncoder,
    codecs::png::{CompressionType, PngEncoder},
};
use std::{
    fs,
    io::{self, BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};
use veil_frame::{Rgb, Size};
use veil_wayland::Content;

/// A picture cannot be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DumpError {
    /// Its pixels cannot be had.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// It cannot be brought to the output's size.
    #[error("the picture cannot be scaled: {0}")]
    Scale(String),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What is to be written.
pub(crate) struct Dump {
    /// The picture, and how it is fitted.
    pub(crate) content: Content,
    /// Pixels of the output that shows it.
    pub(crate) output: Size,
    /// The colour around and below it.
    pub(crate) background: Rgb,
    /// Where to.
    pub(crate) file: PathBuf,
}

impl Dump {
    /// Does it; gives the size of the picture, which is the output's.
    pub(crate) fn run(self) -> Result<Size, DumpError> {
        let frame = Frame::read(&self.content.presentable, self.background)?;
        let plan = self.content.presentable.plan;
        let placed = plan.surface(self.content.mode, self.output);
        // The compositor may have the picture back.
        drop(self.content);
        let mut canvas = Canvas::plain(self.output, self.background);
        if let Some(placed) = placed {
            let dest = placed.dest;
            let size = Size::new(
                (dest.w.round() as u32).clamp(1, self.output.w),
                (dest.h.round() as u32).clamp(1, self.output.h),
            );
            let source = placed.source;
            let part = scaled(&frame, (source.x, source.y, source.w, source.h), size)?;
            canvas.put(
                &part,
                size,
                (dest.x.round().max(0.0) as u32, dest.y.round().max(0.0) as u32),
            );
        }
        write(&self.file, &canvas).map_err(|source| DumpError::Write {
            path: self.file.clone(),
            source,
        })?;
        crate::malloc::trim();
        Ok(self.output)
    }
}

/// A part of the picture at this size, R, G, B.
fn scaled(frame: &Frame, (x, y, w, h): (f64, f64, f64, f64), size: Size) -> Result<Vec<u8>, DumpError> {
    let error = |error: &dyn std::fmt::Display| DumpError::Scale(error.to_string());
    let source =
        ImageRef::new(frame.size.w, frame.size.h, &frame.rgb, PixelType::U8x3).map_err(|e| error(&e))?;
    let mut part = Image::new(size.w, size.h, PixelType::U8x3);
    let options = ResizeOptions::new()
        .crop(x, y, w, h)
        .resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
    Resizer::new()
        .resize(&source, &mut part, &options)
        .map_err(|e| error(&e))?;
    Ok(part.into_vec())
}

/// R, G, B, row after row.
struct Canvas {
    size: Size,
    rgb: Vec<u8>,
}

impl Canvas {
    fn plain(size: Size, color: Rgb) -> Self {
        let mut rgb = vec![0; size.w as usize * size.h as usize * 3];
        rgb.as_chunks_mut().0.fill([color.r, color.g, color.b]);
        Self { size, rgb }
    }

    /// Lays a part on it, as much of it as has room.
    fn put(&mut self, part: &[u8], size: Size, (left, top): (u32, u32)) {
        let columns = size.w.min(self.size.w.saturating_sub(left)) as usize * 3;
        let rows = self.rgb.chunks_exact_mut(self.size.w as usize * 3);
        let parts = part.chunks_exact(size.w as usize * 3);
        for (row, part) in rows.skip(top as usize).zip(parts) {
            let left = (left as usize * 3).min(row.len());
            row[left..][..columns].copy_from_slice(&part[..columns]);
        }
    }
}

/// Writes a file that only the user can read, as a whole or not at all.
fn write(path: &Path, canvas: &Canvas) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let written = (|| {
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        let mut file = BufWriter::new(file);
        PngEncoder::new_with_quality(&mut file, CompressionType::Fast, Default::default())
            .write_image(&canvas.rgb, canvas.size.w, canvas.size.h, ColorType::Rgb8.into())
            .map_err(io::Error::other)?;
        file.flush()?;
        fs::rename(&new, path)
    })();
    if written.is_err() {
        // What is half written helps nobody.
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::plain::plain;
    use veil_frame::FitMode;

    const RED: Rgb = Rgb { r: 200, g: 30, b: 10 };

    #[test]
    fn a_colour_fills_the_output() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        let dump = Dump {
            content: Content {
                presentable: plain(RED).unwrap(),
                mode: FitMode::Stretch,
            },
            output: Size::new(33, 17),
            background: Rgb::BLACK,
            file: file.clone(),
        };
        assert_eq!(dump.run().unwrap(), Size::new(33, 17));
        let image = image::open(&file).unwrap().into_rgb8();
        assert_eq!(image.dimensions(), (33, 17));
        assert!(image.pixels().all(|pixel| pixel.0 == [200, 30, 10]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let dump = Dump {
            content: Content {
                presentable: plain(RED).unwrap(),
                mode: FitMode::Center,
            },
            output: Size::new(3, 3),
            background: Rgb::BLACK,
            file: "/nonexistent/a.png".into(),
        };
        let error = dump.run().unwrap_err().to_string();
        assert!(error.starts_with("cannot write /nonexistent/a.png: "), "{error}");
    }

    #[test]
    fn what_is_around_is_the_background() {
        let mut canvas = Canvas::plain(Size::new(4, 3), RED);
        canvas.put(&[1; 2 * 2 * 3], Size::new(2, 2), (3, 2));
        let pixels = canvas.rgb.as_chunks::<3>().0;
        assert_eq!(pixels[11], [1; 3]);
        assert_eq!(pixels.iter().filter(|pixel| **pixel == [200, 30, 10]).count(), 11);
    }
}
