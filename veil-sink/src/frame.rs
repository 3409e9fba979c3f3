//! A decoder's buffer as planes that can be read.
//!
//! Where planes lie in a buffer is said by its VideoMeta, and only without one by the caps. The buffer may consist of
//! several memories; a plane usually lies in one of them. All lengths are checked here, once, against the memory that
//! is really there: `gst_video_frame_map` trusts the meta, and hands out planes whose last row is full although
//! decoders leave its padding out.

use gstreamer as gst;
use gstreamer_video as gst_video;

use crate::{caps::StreamFormat, dmabuf_memory, unpack::ReadError};
use drm_fourcc::{DrmFormat, DrmModifier};
use gst::{
    buffer::{BufferMap, Readable},
    memory::MemoryMap,
};
use gst_video::{VideoCropMeta, VideoMeta};
use veil_convert::Planes;
use veil_frame::{BorrowedDmabuf, Orientation, Picture, PixelFormat, Rect, Size, dmabuf::MOST_PLANES};

/// The buffer is not what its caps and metas say.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// VideoMeta and caps name different formats.
    #[error("a buffer of {meta} in a stream of {caps}")]
    Format {
        /// By VideoMeta.
        meta: String,
        /// By the caps.
        caps: &'static str,
    },
    /// A plane has a stride that is negative or shorter than a row.
    #[error("plane {plane} has a stride of {stride} bytes, where a row has {row}")]
    Stride {
        /// Its number.
        plane: usize,
        /// As told.
        stride: i32,
        /// Bytes needed.
        row: usize,
    },
    /// A plane ends before its last row.
    #[error("plane {plane} has {have} bytes of {need}")]
    Short {
        /// Its number.
        plane: usize,
        /// Bytes there are.
        have: usize,
        /// Bytes needed.
        need: usize,
    },
    /// A picture that GStreamer unpacks lies elsewhere than GStreamer has it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The kernel does not say how large a dmabuf is.
    #[error("a frame's dmabuf has no size: {0}")]
    Size(#[source] std::io::Error),
    /// The memory cannot be read.
    #[error("cannot map the buffer: {0}")]
    Map(#[from] gst::glib::BoolError),
}

/// Where a picture lies in a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    format: PixelFormat,
    offset: [usize; 4],
    stride: [usize; 4],
    /// Bytes of a plane, from the start of its first row to the end of its last.
    need: [usize; 4],
    planes: usize,
    /// Columns and rows that may be read: up to the end of what is seen. Padding beyond is no part of the picture.
    stored: Size,
    /// The part of them that is seen.
    crop: Rect,
    /// Columns and rows of the memory: padding is counted.
    coded: Size,
}

impl Layout {
    /// Finds it.
    pub(crate) fn of(buffer: &gst::BufferRef, stream: &StreamFormat) -> Result<Self, FrameError> {
        let format = stream.description.format;
        let caps_size = stream.description.size;
        let meta = buffer.meta::<VideoMeta>();
        let (offset, stride, stored) = match &meta {
            // Of dmabufs, elements say either of what is in them, or only that they are dmabufs.
            Some(meta) if meta.format() == stream.info.format() || stream.drm.is_some() => (
                meta.offset(),
                meta.stride(),
                Size::new(meta.width(), meta.height()),
            ),
            Some(meta) => {
                return Err(FrameError::Format {
                    meta: meta.format().to_string(),
                    caps: stream.description.name,
                });
            }
            None => (stream.info.offset(), stream.info.stride(), caps_size),
        };
        // A decoder's frame may be larger than the picture (whole macroblocks), then a crop meta says where the picture
        // is; without one it begins at the first pixel, and the caps say where it ends.
        let whole = Rect::whole(caps_size).clamped(stored);
        let crop = buffer
            .meta::<VideoCropMeta>()
            .map(|meta| meta.rect())
            .map(|(x, y, w, h)| Rect { x, y, w, h }.clamped(stored))
            .filter(|rect| !rect.size().is_empty())
            .unwrap_or(whole);
        // GStreamer unpacks the last of an odd number of columns less well than others.
        let shared = 1
            << stream
                .unpacking
                .map_or(0, |unpacking| unpacking.target.info().sub_w);
        let columns = (crop.x + crop.w).next_multiple_of(shared).min(stored.w);
        let coded = stored;
        let stored = Size::new(columns, crop.y + crop.h);
        let mut layout = Self {
            format,
            offset: [0; 4],
            stride: [0; 4],
            need: [0; 4],
            planes: (stream.info.n_planes() as usize).min(4),
            stored,
            crop,
            coded,
        };
        let tiled = stream
            .drm
            .is_some_and(|format| format.modifier != DrmModifier::Linear);
        for plane in 0..layout.planes {
            let told = stride.get(plane).copied().unwrap_or(0);
            // Of what is unpacked, rows are GStreamer's business.
            let row = match stream.unpacking {
                Some(_) => 1,
                // What a stride of tiles means, the modifier says.
                None if tiled => 1,
                None => format.info().plane_row_bytes(plane, stored.w),
            };
            layout.stride[plane] =
                usize::try_from(told)
                    .ok()
                    .filter(|&stride| stride >= row)
                    .ok_or(FrameError::Stride {
                        plane,
                        stride: told,
                        row,
                    })?;
            layout.offset[plane] = offset.get(plane).copied().unwrap_or(0);
            layout.need[plane] = match &stream.unpacking {
                Some(unpacking) => {
                    let stride = layout.stride[plane];
                    unpacking.plane_bytes(plane, stride, stored)?
                }
                None => {
                    let rows = format.info().plane_rows(plane, stored.h) as usize;
                    layout.stride[plane]
                        .saturating_mul(rows.saturating_sub(1))
                        .saturating_add(row)
                }
            };
        }
        Ok(layout)
    }

    /// The dmabufs that it lies in, as far as they have this format: `None` where a plane does not lie in a dmabuf, or in more
    /// than one.
    pub(crate) fn dmabuf<'a>(
        &self,
        buffer: &'a gst::BufferRef,
        format: Option<DrmFormat>,
    ) -> Option<BorrowedDmabuf<'a>> {
        let mut planes = [None; MOST_PLANES];
        for (plane, to) in planes.iter_mut().enumerate().take(self.planes) {
            let stride = u32::try_from(self.stride[plane]).ok()?;
            *to = Some(dmabuf_memory::plane(buffer, self.offset[plane], stride)?);
        }
        Some(BorrowedDmabuf {
            size: self.coded,
            format: format?,
            planes,
        })
    }

    /// Checks that the planes lie within their dmabufs, whose sizes the kernel knows. Of tiles only the modifier says how many
    /// bytes they take; then each plane must at least begin there.
    pub(crate) fn check_dmabuf(&self, dmabuf: &BorrowedDmabuf<'_>) -> Result<(), FrameError> {
        let linear = dmabuf.format.modifier == DrmModifier::Linear;
        for (plane, memory) in dmabuf.planes().enumerate() {
            let have = veil_dmabuf::size(memory.fd).map_err(FrameError::Size)?;
            let have = usize::try_from(have).unwrap_or(usize::MAX);
            let have = have.saturating_sub(memory.offset as usize);
            let rows = self.format.info().plane_rows(plane, self.coded.h) as usize;
            let row = self.format.info().plane_row_bytes(plane, self.coded.w);
            let need = match linear {
                // What is attached is the whole picture, with its padding.
                true => (memory.stride as usize)
                    .saturating_mul(rows.saturating_sub(1))
                    .saturating_add(row),
                false => 1,
            };
            if have < need {
                return Err(FrameError::Short { plane, have, need });
            }
        }
        Ok(())
    }

    /// The picture that lies there, with the padding around it.
    pub(crate) fn coded_picture(&self, pixel_aspect: (u32, u32), orientation: Orientation) -> Picture {
        Picture {
            stored: self.coded,
            ..self.picture(pixel_aspect, orientation)
        }
    }

    /// The picture that lies there.
    pub(crate) fn picture(&self, pixel_aspect: (u32, u32), orientation: Orientation) -> Picture {
        Picture {
            stored: self.stored,
            crop: self.crop,
            pixel_aspect,
            orientation,
            opaque: !self.format.has_alpha(),
        }
    }

    /// Makes its planes readable, without copying where every plane lies in one memory.
    pub(crate) fn map<'a>(&self, buffer: &'a gst::BufferRef) -> Result<Mapped<'a>, FrameError> {
        let planes = self.planes;
        let mut mapped = Mapped {
            layout: *self,
            whole: None,
            parts: [const { None }; 4],
        };
        if buffer.n_memory() > 1 && self.map_parts(buffer, &mut mapped.parts[..planes])? {
            return Ok(mapped);
        }
        // One memory; or a plane spread over several, which mapping the whole puts together by copying.
        let whole = mapped.whole.insert(buffer.map_readable()?);
        for plane in 0..planes {
            let have = whole.len().saturating_sub(self.offset[plane]);
            let need = self.need[plane];
            if have < need {
                return Err(FrameError::Short { plane, have, need });
            }
        }
        Ok(mapped)
    }

    /// Maps the memory of each plane; false if a plane is not in one.
    fn map_parts<'a>(
        &self,
        buffer: &'a gst::BufferRef,
        parts: &mut [Option<Part<'a>>],
    ) -> Result<bool, FrameError> {
        for (plane, part) in parts.iter_mut().enumerate() {
            let start = self.offset[plane];
            let Some((memories, skip)) = start
                .checked_add(1)
                .and_then(|end| buffer.find_memory(start..end))
            else {
                return Ok(false);
            };
            let map = buffer.peek_memory(memories.start).map_readable()?;
            if map.len().saturating_sub(skip) < self.need[plane] {
                return Ok(false);
            }
            *part = Some(Part { map, skip });
        }
        Ok(true)
    }
}

/// A buffer whose planes can be read until this is dropped.
pub(crate) struct Mapped<'a> {
    layout: Layout,
    /// All of it, unless each plane has a part.
    whole: Option<BufferMap<'a, Readable>>,
    parts: [Option<Part<'a>>; 4],
}

/// The memory that a plane lies in, and where in it.
struct Part<'a> {
    map: MemoryMap<'a, gst::memory::Readable>,
    skip: usize,
}

impl Mapped<'_> {
    /// The planes, each from its first row to the end of its last.
    pub(crate) fn planes(&self) -> Planes<'_> {
        let Layout {
            offset, stride, need, ..
        } = self.layout;
        // Lengths were checked when the maps were made; planes that the format lacks need nothing.
        let data = std::array::from_fn(|plane| {
            let (bytes, start) = match (&self.parts[plane], &self.whole) {
                (Some(part), _) => (part.map.as_slice(), part.skip),
                (None, Some(whole)) => (whole.as_slice(), offset[plane]),
                (None, None) => (&[][..], 0),
            };
            bytes
                .get(start..)
                .and_then(|bytes| bytes.get(..need[plane]))
                .unwrap_or_default()
        });
        Planes { data, stride }
    }
}
