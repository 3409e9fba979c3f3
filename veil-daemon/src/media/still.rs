//! Still pictures: decoded, turned upright, scaled and laid over the background at the size of the output's mode.
//!
//! What comes out is exactly what the output shows, pixel for pixel, so no compositor scales it. Only the memory that
//! the compositor reads remains; the decoded picture is dropped.

use fast_image_resize::{
    FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::{
    fs::File,
    io::{BufReader, Read, Seek},
    sync::Arc,
};
use veil_frame::{
    Backing, FitMode, Picture, Placement, Presentable, Rgb, Size, Target, TargetPlan, place,
    presentable::Released,
};
use veil_wayland::SharedMemory;

/// The longest side that is read, in pixels.
const MAX_SIDE: u32 = 16384;
/// The most bytes that a decoded picture may have.
const MAX_BYTES: u64 = 512 << 20;

/// A still picture cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StillError {
    /// Its sides are too long.
    #[error("the picture is {0}x{1} pixels; more than {MAX_SIDE} a side is refused")]
    Sides(u32, u32),
    /// It would take too much memory.
    #[error("the picture would take {} MiB decoded; more than {} MiB is refused", .0 >> 20, MAX_BYTES >> 20)]
    Bytes(u64),
    /// The decoder gives up.
    #[error("not a whole {0} picture: {1}")]
    Decode(&'static str, String),
    /// It has no pixel.
    #[error("the picture has no pixels")]
    Empty,
    /// It cannot be scaled.
    #[error("the picture cannot be scaled: {0}")]
    Scale(String),
    /// Memory has run out.
    #[error(transparent)]
    Memory(#[from] veil_wayland::MemoryError),
}

/// A decoded picture, upright, 8 bits a channel.
pub(crate) struct Still {
    image: DynamicImage,
}

/// The name that people know a format by.
fn format_name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        ImageFormat::WebP => "WebP",
        ImageFormat::Pnm => "PNM",
        ImageFormat::Tiff => "TIFF",
        ImageFormat::Tga => "TGA",
        ImageFormat::Bmp => "BMP",
        ImageFormat::Ico => "ICO",
        ImageFormat::Hdr => "Radiance HDR",
        ImageFormat::OpenExr => "OpenEXR",
        ImageFormat::Qoi => "QOI",
        _ => "known",
    }
}

impl Still {
    /// Decodes the picture in a file. Its size is checked before any pixel is decoded.
    pub(crate) fn decode(mut file: File, format: ImageFormat) -> Result<Self, StillError> {
        if format == ImageFormat::Jpeg && !is_whole_jpeg(&mut file) {
            return Err(StillError::Decode(
                format_name(format),
                "it ends too early".to_owned(),
            ));
        }
        Self::decode_from(BufReader::new(file), format)
    }

    fn decode_from<R: Read + std::io::BufRead + Seek>(
        reader: R,
        format: ImageFormat,
    ) -> Result<Self, StillError> {
        let error = |error: image::ImageError| StillError::Decode(format_name(format), error.to_string());
        let mut reader = ImageReader::with_format(reader, format);
        // Checked below, with a better message; what a decoder needs for itself is limited here.
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(2 * MAX_BYTES);
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(error)?;
        let (w, h) = decoder.dimensions();
        if w > MAX_SIDE || h > MAX_SIDE {
            return Err(StillError::Sides(w, h));
        }
        if decoder.total_bytes() > MAX_BYTES {
            return Err(StillError::Bytes(decoder.total_bytes()));
        }
        let orientation = decoder.orientation().map_err(error)?;
        let mut image = DynamicImage::from_decoder(decoder).map_err(error)?;
        image.apply_orientation(orientation);
        if image.width() == 0 || image.height() == 0 {
            return Err(StillError::Empty);
        }
        let image = if image.color().has_alpha() {
            DynamicImage::ImageRgba8(image.into_rgba8())
        } else {
            DynamicImage::ImageRgb8(image.into_rgb8())
        };
        Ok(Self { image })
    }

    /// Columns and rows.
    fn size(&self) -> Size {
        Size::new(self.image.width(), self.image.height())
    }

    /// Draws the picture for an output of `output` pixels.
    pub(crate) fn draw(
        &self,
        mode: FitMode,
        background: Rgb,
        output: Size,
    ) -> Result<Presentable, StillError> {
        let size = self.size();
        let placement = place(mode, (f64::from(size.w), f64::from(size.h)), output);
        let part = self.scaled(&placement)?;
        let stride = output.w as usize * 4;
        let mut memory = SharedMemory::new(stride * output.h as usize)?;
        let canvas = Canvas {
            bytes: memory.bytes_mut(),
            stride,
            size: output,
        };
        paint(canvas, &part, &placement, mode, background);
        let len = memory.len();
        let fd = memory
            .share()
            .map_err(|source| veil_wayland::MemoryError { len, source })?;
        let backing = Backing::Shm { fd, len };
        let fourcc = drm_fourcc::DrmFourcc::Xrgb8888;
        let target = Target::new(
            backing,
            output,
            stride as u32,
            fourcc,
            Arc::new(Released::default()),
        );
        let plan = TargetPlan::whole(Picture::plain(output));
        // A target that was just made is free.
        let target = target.try_take().ok_or(StillError::Empty)?;
        Ok(Presentable {
            target,
            plan,
            sequence: 0,
            labels: None,
        })
    }

    /// The visible part at the size it is shown at.
    fn scaled(&self, placement: &Placement) -> Result<Part, StillError> {
        let scale = |error: &dyn std::fmt::Display| StillError::Scale(error.to_string());
        let (pixel, bytes) = match &self.image {
            DynamicImage::ImageRgba8(image) => (PixelType::U8x4, image.as_raw().as_slice()),
            DynamicImage::ImageRgb8(image) => (PixelType::U8x3, image.as_raw().as_slice()),
            _ => return Err(StillError::Scale("not 8 bits a channel".to_owned())),
        };
        let (w, h) = (
            placement.dest.w.round().max(1.0) as u32,
            placement.dest.h.round().max(1.0) as u32,
        );
        let source =
            ImageRef::new(self.image.width(), self.image.height(), bytes, pixel).map_err(|e| scale(&e))?;
        let mut part = Image::new(w, h, pixel);
        let crop = placement.source;
        let options = ResizeOptions::new()
            .crop(crop.x, crop.y, crop.w, crop.h)
            .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
            .use_alpha(true);
        Resizer::new()
            .resize(&source, &mut part, &options)
            .map_err(|e| scale(&e))?;
        Ok(Part {
            size: Size::new(w, h),
            channels: pixel.size(),
            bytes: part.into_vec(),
        })
    }
}

/// Whether a JPEG file has an end. Its decoder makes do without one, and shows grey where the picture is missing.
///
/// After the last start of a scan (SOS) there must be an end of image (EOI; ITU-T T.81, annex B). Coded data holds no
/// markers; a thumbnail in the file's head has both, but the picture's own scan comes after it.
fn is_whole_jpeg(file: &mut File) -> bool {
    let mut scan_is_open = false;
    let mut previous = 0;
    let mut chunk = [0; 1 << 16];
    loop {
        let count = match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // The decoder says it better.
            Err(_) => return true,
        };
        for &byte in &chunk[..count] {
            match (previous, byte) {
                (0xff, 0xda) => scan_is_open = true,
                (0xff, 0xd9) => scan_is_open = false,
                _ => {}
            }
            previous = byte;
        }
    }
    !scan_is_open && file.rewind().is_ok()
}

/// R, G, B and perhaps A, row after row.
struct Part {
    size: Size,
    channels: usize,
    bytes: Vec<u8>,
}

/// XRGB8888 to draw in.
struct Canvas<'a> {
    bytes: &'a mut [u8],
    stride: usize,
    size: Size,
}

impl Part {
    fn row(&self, y: usize) -> &[u8] {
        let len = self.size.w as usize * self.channels;
        &self.bytes[y * len..][..len]
    }
}

fn paint(canvas: Canvas<'_>, part: &Part, placement: &Placement, mode: FitMode, background: Rgb) {
    let background_word = background.xrgb8888().to_le_bytes();
    let (left, top) = (placement.dest.x as usize, placement.dest.y as usize);
    let (w, h) = (part.size.w as usize, part.size.h as usize);
    for (y, row) in canvas.bytes.chunks_exact_mut(canvas.stride).enumerate() {
        let row = &mut row[..canvas.size.w as usize * 4];
        if mode == FitMode::Tile {
            for tile in row.chunks_mut(w * 4) {
                draw_row(tile, part.row(y % h), part.channels, background);
            }
            continue;
        }
        let inside = y.checked_sub(top).filter(|y| *y < h);
        let Some(inside) = inside else {
            row.as_chunks_mut::<4>().0.fill(background_word);
            continue;
        };
        let (before, rest) = row.split_at_mut((left * 4).min(row.len()));
        let (middle, after) = rest.split_at_mut((w * 4).min(rest.len()));
        before.as_chunks_mut::<4>().0.fill(background_word);
        draw_row(middle, part.row(inside), part.channels, background);
        after.as_chunks_mut::<4>().0.fill(background_word);
    }
}

/// Writes as many pixels as `out` has room for.
fn draw_row(out: &mut [u8], row: &[u8], channels: usize, background: Rgb) {
    let out = out.as_chunks_mut::<4>().0;
    if channels == 3 {
        for (out, pixel) in out.iter_mut().zip(row.as_chunks::<3>().0) {
            *out = [pixel[2], pixel[1], pixel[0], 255];
        }
        return;
    }
    for (out, &[r, g, b, a]) in out.iter_mut().zip(row.as_chunks::<4>().0) {
        let over = |color: u8, below: u8| {
            let (color, below, a) = (u32::from(color), u32::from(below), u32::from(a));
            ((color * a + below * (255 - a) + 127) / 255) as u8
        };
        *out = [
            over(b, background.b),
            over(g, background.g),
            over(r, background.r),
            255,
        ];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Rgba, RgbaImage};
    use std::{io::Cursor, os::unix::fs::FileExt};

    const GREY: Rgb = Rgb { r: 64, g: 64, b: 64 };

    fn pixels(shown: &Presentable) -> Vec<[u8; 4]> {
        let Backing::Shm { fd, len } = &shown.target.target().backing else {
            panic!("not in shared memory");
        };
        let mut bytes = vec![0; *len];
        File::from(fd.try_clone().unwrap())
            .read_exact_at(&mut bytes, 0)
            .unwrap();
        bytes.as_chunks::<4>().0.to_vec()
    }

    fn still(w: u32, h: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> Still {
        let image = RgbaImage::from_fn(w, h, |x, y| Rgba(pixel(x, y)));
        Still {
            image: DynamicImage::ImageRgba8(image),
        }
    }

    #[test]
    fn one_to_one_changes_nothing() {
        let checker = still(31, 17, |x, y| {
            if (x + y) % 2 == 0 {
                [0, 0, 0, 255]
            } else {
                [255, 255, 255, 255]
            }
        });
        for mode in FitMode::ALL {
            let shown = pixels(&checker.draw(mode, GREY, Size::new(31, 17)).unwrap());
            for (i, pixel) in shown.iter().enumerate() {
                let want = if (i % 31 + i / 31) % 2 == 0 { 0 } else { 255 };
                assert_eq!(*pixel, [want, want, want, 255], "{mode} {i}");
            }
        }
    }

    #[test]
    fn fit_leaves_bars_and_tile_repeats() {
        let red = still(10, 10, |_, _| [255, 0, 0, 255]);
        let shown = pixels(&red.draw(FitMode::Fit, GREY, Size::new(40, 20)).unwrap());
        assert_eq!(shown[40 * 5 + 1], [64, 64, 64, 255]);
        assert_eq!(shown[40 * 10 + 20], [0, 0, 255, 255]);
        let half = still(
            4,
            4,
            |x, _| if x < 2 { [255, 0, 0, 255] } else { [0, 0, 255, 255] },
        );
        let shown = pixels(&half.draw(FitMode::Tile, GREY, Size::new(10, 6)).unwrap());
        let row: Vec<u8> = shown[50..60].iter().map(|p| p[2]).collect();
        assert_eq!(row, [255, 255, 0, 0, 255, 255, 0, 0, 255, 255]);
    }

    #[test]
    fn alpha_lies_over_the_background() {
        let veil = still(8, 8, |_, _| [255, 255, 255, 51]);
        let shown = pixels(&veil.draw(FitMode::Fill, GREY, Size::new(8, 8)).unwrap());
        assert_eq!(shown[9], [102, 102, 102, 255]);
    }

    #[test]
    fn a_picture_that_is_too_large_is_refused_before_decoding() {
        // A PNM header alone: decoding would fail differently.
        let header = Cursor::new(b"P6 20000 10 255\n".to_vec());
        let error = Still::decode_from(header, ImageFormat::Pnm).err().unwrap();
        assert!(matches!(error, StillError::Sides(20000, 10)), "{error}");
        let header = Cursor::new(b"P6 16384 16384 255\n".to_vec());
        let error = Still::decode_from(header, ImageFormat::Pnm).err().unwrap();
        assert!(matches!(error, StillError::Bytes(_)), "{error}");
        let cut = Cursor::new(b"\x89PNG\r\n\x1a\n".to_vec());
        let error = Still::decode_from(cut, ImageFormat::Png).err().unwrap();
        assert!(error.to_string().starts_with("not a whole PNG"), "{error}");
    }
}
