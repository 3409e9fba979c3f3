//! `zwp_linux_buffer_params_v1`: buffers of dmabufs. Memory files stand in for dmabufs, so that no device is needed.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use veil_frame::{Colorimetry, Model, PixelFormat, Planes, RectF, Size, Spec};
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_buffer_params_v1::{
    self as params, Error, ZwpLinuxBufferParamsV1,
};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::buffer::Buffer;
use super::representation::Representation;
use super::state::State;
use crate::reference;

#[derive(Debug)]
struct Plane {
    file: File,
    offset: u32,
    stride: u32,
    modifier: u64,
}

/// A picture in dmabufs.
#[derive(Debug)]
pub(super) struct Dmabuf {
    pub(super) size: (i32, i32),
    pub(super) format: DrmFormat,
    pub(super) pixels: PixelFormat,
    planes: Vec<Plane>,
}

impl Dmabuf {
    pub(super) fn inode(&self) -> Option<u64> {
        let found = self.planes.first()?.file.metadata().ok()?;
        Some(found.ino())
    }

    /// Its pixels, row by row, as they are understood when this is told of them.
    pub(super) fn read(&self, told: Option<Representation>) -> Result<Vec<[u8; 4]>> {
        let info = self.pixels.info();
        let size = Size::new(self.size.0 as u32, self.size.1 as u32);
        let mut rows = Vec::new();
        for (index, plane) in self.planes.iter().enumerate() {
            let mut bytes = vec![0; plane.stride as usize * info.plane_rows(index, size.h) as usize];
            plane
                .file
                .read_exact_at(&mut bytes, plane.offset.into())
                .context("the client's dmabuf cannot be read")?;
            rows.push(bytes);
        }
        let mut planes = Planes::default();
        for (index, bytes) in rows.iter().enumerate() {
            planes.data[index] = bytes;
            planes.stride[index] = self.planes[index].stride as usize;
        }
        let untold = match info.model {
            Model::Rgb => Colorimetry::SRGB,
            // Anybody's guess; this one is wrong for most videos.
            _ => Colorimetry::assumed(0),
        };
        let (colorimetry, site) = Representation::colours(told, untold);
        let whole = RectF::whole(size);
        let spec = Spec {
            format: self.pixels,
            stored: size,
            colorimetry,
            site,
            crop: whole,
            size,
        };
        let converted = reference::convert(&spec, &planes).into_iter();
        Ok(converted
            .map(|pixel| pixel.map(|value| value.round().clamp(0.0, 255.0) as u8))
            .collect())
    }
}

/// A buffer in the making.
#[derive(Debug)]
pub(super) struct Params {
    version: u32,
    planes: Mutex<Vec<Option<Plane>>>,
}

/// A `create` that is to be answered.
#[derive(Debug)]
pub(super) struct Creation {
    params: ZwpLinuxBufferParamsV1,
    client: Client,
    /// `None`: it fails.
    made: Option<Arc<Dmabuf>>,
}

impl Params {
    pub(super) fn new(version: u32) -> Self {
        Self {
            version,
            planes: Mutex::default(),
        }
    }

    fn add(&self, index: u32, plane: Plane) -> Result<(), (Error, String)> {
        let mut planes = self.planes.lock().unwrap_or_else(PoisonError::into_inner);
        let at = index as usize;
        if at >= 4 {
            return Err((Error::PlaneIdx, format!("there is no plane {index}")));
        }
        if planes.len() <= at {
            planes.resize_with(at + 1, || None);
        }
        if planes[at].replace(plane).is_some() {
            return Err((Error::PlaneSet, format!("plane {index} was added already")));
        }
        Ok(())
    }

    /// Checks what the protocol has a compositor check.
    fn make(&self, state: &State, w: i32, h: i32, code: u32) -> Result<Dmabuf, (Error, String)> {
        let planes = std::mem::take(&mut *self.planes.lock().unwrap_or_else(PoisonError::into_inner));
        let given = planes.len();
        let planes: Vec<Plane> = planes.into_iter().flatten().collect();
        let unheard = || (Error::InvalidFormat, format!("the format 0x{code:x}"));
        let fourcc = DrmFourcc::try_from(code).map_err(|_| unheard())?;
        let mut formats = PixelFormat::ALL.iter().copied();
        let pixels = formats
            .find(|format| format.info().fourcc == Some(fourcc))
            .ok_or_else(unheard)?;
        let info = pixels.info();
        if planes.len() != usize::from(info.planes) || given != planes.len() {
            return Err((Error::Incomplete, format!("{given} planes of {fourcc}")));
        }
        let modifier = planes[0].modifier;
        if planes.iter().any(|plane| plane.modifier != modifier) {
            return Err((Error::InvalidFormat, "the planes' modifiers differ".into()));
        }
        let format = DrmFormat {
            code: fourcc,
            modifier: DrmModifier::from(modifier),
        };
        if self.version >= 3 && !state.dmabufs.takes(format) {
            return Err((
                Error::InvalidFormat,
                format!("{fourcc} with 0x{modifier:x} was not offered"),
            ));
        }
        if w <= 0 || h <= 0 {
            return Err((Error::InvalidDimensions, format!("{w}x{h}")));
        }
        for (index, plane) in planes.iter().enumerate() {
            let needed = u64::from(plane.offset)
                + u64::from(plane.stride) * u64::from(info.plane_rows(index, h as u32));
            let there = (&plane.file).seek(SeekFrom::End(0)).unwrap_or(0);
            let row = info.plane_row_bytes(index, w as u32);
            if there < needed || (plane.stride as usize) < row {
                let text = format!("plane {index} has {there} bytes, and rows of {}", plane.stride);
                return Err((Error::OutOfBounds, text));
            }
        }
        Ok(Dmabuf {
            size: (w, h),
            format,
            pixels,
            planes,
        })
    }
}

impl State {
    fn answer(&mut self, creation: Creation) {
        let Creation { params, client, made } = creation;
        let Some(made) = made else {
            params.failed();
            return;
        };
        let display = self.display.clone();
        // Fails only when the client is gone.
        let buffer = client.create_resource::<_, _, Self>(&display, 1, Buffer::Dmabuf(made));
        if let Ok(buffer) = buffer {
            params.created(&buffer);
            self.add_buffer(buffer);
        }
    }

    /// Answers all that was asked for by `create`.
    pub(super) fn answer_creations(&mut self) {
        for creation in std::mem::take(&mut self.creations) {
            self.answer(creation);
        }
    }
}

impl Dispatch<ZwpLinuxBufferParamsV1, Params> for State {
    fn request(
        state: &mut Self,
        client: &Client,
        resource: &ZwpLinuxBufferParamsV1,
        request: params::Request,
        data: &Params,
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let failed = match request {
            params::Request::Add {
                fd,
                plane_idx,
                offset,
                stride,
                modifier_hi,
                modifier_lo,
            } => {
                let plane = Plane {
                    file: File::from(fd),
                    offset,
                    stride,
                    modifier: u64::from(modifier_hi) << 32 | u64::from(modifier_lo),
                };
                data.add(plane_idx, plane).err()
            }
            params::Request::Create {
                width,
                height,
                format,
                ..
            } => match data.make(state, width, height, format) {
                Ok(made) => {
                    let refused = state.dmabufs.everywhere.refused.contains(&made.format);
                    let creation = Creation {
                        params: resource.clone(),
                        client: client.clone(),
                        made: (!refused).then(|| Arc::new(made)),
                    };
                    state.created.push("create");
                    if state.dmabufs.everywhere.by_hand {
                        state.creations.push(creation);
                    } else {
                        state.answer(creation);
                    }
                    None
                }
                Err(error) => Some(error),
            },
            params::Request::CreateImmed {
                buffer_id,
                width,
                height,
                format,
                ..
            } => match data.make(state, width, height, format) {
                Ok(made) => {
                    let refused = state.dmabufs.everywhere.refused.contains(&made.format);
                    state.created.push("create_immed");
                    state.add_buffer(init.init(buffer_id, Buffer::Dmabuf(Arc::new(made))));
                    refused.then(|| (Error::InvalidWlBuffer, "this buffer is refused".into()))
                }
                Err(error) => Some(error),
            },
            _ => None,
        };
        if let Some((error, text)) = failed {
            resource.post_error(error, text);
        }
    }
}
