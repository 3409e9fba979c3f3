//! Formats that the conversion has no description of: tiled ones, those whose samples cross words, palettes, and what
//! GStreamer will have in future. GStreamer unpacks them row by row; here their samples are put into planes of a format
//! that the conversion reads.
//!
//! An unpacked row has chroma for every pixel, copied from where it is stored; only the stored samples are taken, so
//! the conversion interpolates them as it does those of any format.

mod rows;
mod samples;
mod shape;

pub(crate) use shape::ReadError;

use gstreamer_video as gst_video;

use gst_video::{VideoFormat, VideoFormatInfo};
use rows::{Rows, Samples};
use samples::Part;
use shape::Shape;
use veil_convert::Planes;
use veil_frame::{Model, PixelFormat, Range, Size};

/// How frames of a format are unpacked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacking {
    format: VideoFormat,
    /// What becomes of them.
    pub(crate) target: PixelFormat,
}

impl Unpacking {
    /// For a format; `None` if GStreamer cannot unpack it.
    pub(crate) fn of(format: VideoFormat) -> Option<Self> {
        let samples = rows::unpacked(format)?;
        let info = VideoFormatInfo::from_format(format);
        let model = match (info.is_gray(), info.is_rgb(), info.is_yuv()) {
            (true, _, _) => Model::Gray,
            (_, true, _) => Model::Rgb,
            (_, _, true) => Model::Yuv,
            _ => return None,
        };
        let sub = |of: &[u32]| of.get(1).copied().unwrap_or(0);
        let sub = (sub(info.w_sub()), sub(info.h_sub()));
        let target = target(model, sub, samples, info.has_alpha());
        Some(Self { format, target })
    }

    /// Bytes that plane `plane` has at least in a picture of `size` with such a stride.
    pub(crate) fn plane_bytes(&self, plane: usize, stride: usize, size: Size) -> Result<usize, ReadError> {
        Shape::new(self.format, size, plane)?.bytes(stride, plane)
    }
}

/// The format that keeps all samples, of those that the conversion reads fastest. Chroma that is shared by pixels in no
/// way that it knows counts as every pixel's own.
fn target(model: Model, sub: (u32, u32), samples: Samples, alpha: bool) -> PixelFormat {
    use PixelFormat as F;
    match (model, samples, alpha) {
        (Model::Gray, Samples::Bytes, _) => F::Gray8,
        (Model::Gray, Samples::Words, _) => F::Gray16Le,
        (Model::Rgb, Samples::Bytes, false) => F::Xrgb,
        (Model::Rgb, Samples::Bytes, true) => F::Argb,
        (Model::Rgb, Samples::Words, false) => F::Gbr16,
        (Model::Rgb, Samples::Words, true) => F::Argb64Le,
        (Model::Yuv, Samples::Bytes, false) => match sub {
            (1, 1) => F::I420,
            (1, 0) => F::Y42b,
            (2, 0) => F::Y41b,
            (2, 2) => F::Yuv9,
            _ => F::Y444,
        },
        (Model::Yuv, Samples::Bytes, true) => match sub {
            (1, 1) => F::A420,
            (1, 0) => F::A422,
            _ => F::A444,
        },
        (Model::Yuv, Samples::Words, false) => match sub {
            (1, 1) => F::P016,
            (1, 0) => F::Y216,
            _ => F::Y44416,
        },
        (Model::Yuv, Samples::Words, true) => match sub {
            (1, 1) => F::A42016,
            (1, 0) => F::A42216,
            _ => F::A44416,
        },
    }
}

/// Unpacks frames of one size; its memory is used for all of them.
#[derive(Debug)]
pub(crate) struct Unpacker {
    rows: Rows,
    target: PixelFormat,
    size: Size,
    /// Whether codes count from 0 in the topmost bits, as those of limited range do; else they are shares of full scale.
    cut: bool,
    planes: [Vec<u8>; 4],
    stride: [usize; 4],
}

impl Unpacker {
    /// For frames of this size and range.
    ///
    /// # Errors
    /// GStreamer has no layout for this size.
    pub(crate) fn new(unpacking: Unpacking, size: Size, range: Range) -> Result<Self, ReadError> {
        let Unpacking { format, target } = unpacking;
        let info = target.info();
        let stride = std::array::from_fn(|plane| info.plane_row_bytes(plane, size.w));
        let plane = |plane: usize| vec![0; stride[plane] * info.plane_rows(plane, size.h) as usize];
        Ok(Self {
            rows: Rows::new(format, size).ok_or(ReadError::Size(size))?,
            target,
            size,
            cut: range == Range::Limited && info.model != Model::Rgb,
            planes: std::array::from_fn(plane),
            stride,
        })
    }

    /// Unpacks a frame; gives planes of [`Unpacking::target`].
    ///
    /// # Errors
    /// The planes are shorter than the format's are in this size.
    pub(crate) fn unpack(&mut self, planes: &Planes<'_>) -> Result<Planes<'_>, ReadError> {
        let info = self.target.info();
        let samples = self.rows.samples();
        self.rows.start();
        for y in 0..self.size.h {
            let row = self.rows.unpack(planes, y, self.cut)?;
            for (index, component) in info.components.iter().enumerate() {
                let (sub, sub_h) = if info.is_chroma(index) {
                    (info.sub_w, info.sub_h)
                } else {
                    (0, 0)
                };
                if y % (1 << sub_h) > 0 {
                    continue;
                }
                let plane = usize::from(component.plane);
                let to = &mut self.planes[plane][(y >> sub_h) as usize * self.stride[plane]..];
                let part = Part {
                    row,
                    samples,
                    // Alpha is the first of the four samples of a pixel.
                    place: (index + 1) % 4,
                    sub,
                    columns: info.component_size(index, self.size.w, 1).0 as usize,
                };
                part.put(component, to);
            }
        }
        Ok(Planes {
            data: std::array::from_fn(|plane| self.planes[plane].as_slice()),
            stride: self.stride,
        })
    }
}
