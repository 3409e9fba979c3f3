//! GStreamer's own reading of a row, for any of its formats: the one place that calls it.
//!
//! The bindings have this function too, but theirs counts rows of chroma as if there were as many as of luma, and takes
//! the stride of a tiled format, which is a number of tiles, for bytes; so it refuses most pictures.
//!
//! Some of these functions read a word beyond a row's end (that of NV12_10LE32, where the last Cr of an odd number of
//! columns has no room). So all that has rows is copied, row by row, to where that harms nothing. Others leave out what
//! is no whole group of columns (that of MT2110T a tile); so as many columns are read as the same memory has.

#![allow(unsafe_code)]

use super::shape::{ReadError, Shape};
use gstreamer_video as gst_video;

use gst_video::glib::translate::IntoGlib;
use gst_video::{VideoFormat, VideoFormatInfo, ffi};
use std::ffi::{c_int, c_void};
use veil_convert::Planes;
use veil_frame::Size;

/// Pixels after a row's last that may be written: some functions work in groups.
const SPARE: usize = 64;
/// The most columns that are read beyond the last: those of the widest tile.
const GROUP: u32 = 128;
/// What may be read beyond the end of a row of a plane: neutral chroma, for three samples of 10 bits in 32.
const BEYOND: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = [0x00, 0x02, 0x08, 0x20][i % 4];
        i += 1;
    }
    bytes
};

/// How the pixels of an unpacked row lie, four samples each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Samples {
    /// Bytes: alpha, then Y, Cb, Cr or R, G, B.
    Bytes,
    /// The same in 16-bit words, in the machine's order of bytes.
    Words,
}

type Function = unsafe extern "C" fn(
    *const ffi::GstVideoFormatInfo,
    ffi::GstVideoPackFlags,
    *mut c_void,
    *const *mut c_void,
    *const c_int,
    c_int,
    c_int,
    c_int,
);

/// GStreamer's description of a format.
fn description(format: VideoFormat) -> Option<&'static ffi::GstVideoFormatInfo> {
    // SAFETY: GStreamer gives a static description or null, which it complains of, but nothing else.
    unsafe { ffi::gst_video_format_get_info(format.into_glib()).as_ref() }
}

/// How a format is unpacked; `None` if GStreamer cannot, or only in a way that is unknown here.
pub(crate) fn unpacked(format: VideoFormat) -> Option<Samples> {
    if matches!(format, VideoFormat::Unknown | VideoFormat::Encoded) {
        return None;
    }
    description(format)?.unpack_func?;
    match VideoFormatInfo::from_format(format).unpack_format() {
        VideoFormat::Argb | VideoFormat::Ayuv => Some(Samples::Bytes),
        VideoFormat::Argb64 | VideoFormat::Ayuv64 => Some(Samples::Words),
        _ => None,
    }
}

/// Reads rows of pictures of one format and size. Nothing outside this module changes a field: the call relies on all.
#[derive(Debug)]
pub(crate) struct Rows {
    format: VideoFormat,
    function: Function,
    samples: Samples,
    /// Columns and rows that are in the memory; of the former maybe more than are wanted.
    size: Size,
    /// Of each plane: its shape, a copy of the row that is read, with [`BEYOND`] after it, and which row that is.
    planes: Vec<(Shape, Vec<u8>, Option<usize>)>,
    /// Room for an unpacked row of [`SPARE`] pixels more, four samples of 16 bits each.
    row: Vec<[u16; 4]>,
}

impl Rows {
    /// For pictures of this format and size; `None` if [`unpacked`] has none, or the size no layout.
    pub(crate) fn new(format: VideoFormat, size: Size) -> Option<Self> {
        let samples = unpacked(format)?;
        let function = description(format)?.unpack_func?;
        let count = (VideoFormatInfo::from_format(format).n_planes() as usize).min(4);
        let shape = |w, plane| Shape::new(format, Size { w, ..size }, plane).ok();
        let same = |&w: &u32| (0..count).all(|plane| shape(w, plane) == shape(size.w, plane));
        let w = (size.w..size.w.saturating_add(GROUP)).take_while(same).last()?;
        let plane = |plane| {
            let shape = shape(size.w, plane)?;
            let bytes = match shape {
                Shape::Rows { bytes, .. } => bytes,
                Shape::Palette => shape.bytes(0, plane).ok()?,
                Shape::Tiles { .. } => 0,
            };
            let mut row = vec![0; bytes];
            row.extend(BEYOND);
            Some((shape, row, None))
        };
        Some(Self {
            format,
            function,
            samples,
            size: Size { w, ..size },
            planes: (0..count).map(plane).collect::<Option<_>>()?,
            row: vec![[0; 4]; w as usize + SPARE],
        })
    }

    /// How a row is unpacked.
    pub(crate) fn samples(&self) -> Samples {
        self.samples
    }

    /// To be called before a picture's first row is read.
    pub(crate) fn start(&mut self) {
        for (_, _, held) in &mut self.planes {
            *held = None;
        }
    }

    /// Unpacks row `y` of the picture in these planes; gives at least as many pixels as it has. With `cut` the low bits
    /// of samples with fewer bits than are unpacked are 0, else samples keep their share of full scale.
    ///
    /// # Errors
    /// The planes are shorter than they must be.
    pub(crate) fn unpack(
        &mut self,
        planes: &Planes<'_>,
        y: u32,
        cut: bool,
    ) -> Result<&[[u16; 4]], ReadError> {
        let wrong = ReadError::Size(self.size);
        let info = description(self.format).ok_or(wrong)?;
        let width = c_int::try_from(self.size.w).map_err(|_| wrong)?;
        let y = c_int::try_from(y.min(self.size.h - 1)).map_err(|_| wrong)?;
        let mut data = [std::ptr::null_mut(); 4];
        let mut strides = [0; 4];
        let mut line = 0;
        for (plane, (shape, copy, held)) in self.planes.iter_mut().enumerate() {
            let (from, stride) = (planes.data[plane], planes.stride[plane]);
            let need = shape.bytes(stride, plane)?;
            if from.len() < need {
                let have = from.len();
                return Err(ReadError::Short { plane, have, need });
            }
            strides[plane] = c_int::try_from(stride).map_err(|_| wrong)?;
            let (start, bytes) = match *shape {
                Shape::Tiles { .. } => {
                    data[plane] = from.as_ptr().cast_mut().cast();
                    line = y;
                    continue;
                }
                Shape::Palette => (0, need),
                Shape::Rows { bytes, count, sub } => ((y as usize >> sub).min(count - 1) * stride, bytes),
            };
            if held.replace(start) != Some(start) {
                copy[..bytes].copy_from_slice(&from[start..][..bytes]);
            }
            data[plane] = copy.as_mut_ptr().cast();
        }
        let flags = if cut {
            ffi::GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE
        } else {
            ffi::GST_VIDEO_PACK_FLAG_NONE
        };
        // SAFETY: the function reads columns 0 to `width` of a row of the format that `info` describes. Of tiled formats
        // it is row `y` of a picture of `size`, in planes that have all tiles by their strides, as was checked above.
        // Of others it is row 0 of copies with as many bytes as GStreamer gives a row, and 64 more; the palette has all
        // its entries. It writes `width` pixels, or a few more where they come in groups, and `row` has SPARE more, of
        // the larger kind and aligned for it. Planes are not written, in spite of their type.
        unsafe {
            (self.function)(
                info,
                flags,
                self.row.as_mut_ptr().cast(),
                data.as_ptr(),
                strides.as_ptr(),
                0,
                line,
                width,
            );
        }
        Ok(&self.row)
    }
}
