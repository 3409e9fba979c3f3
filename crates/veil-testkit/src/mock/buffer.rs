//! Buffers: memory of the client, and single pixels.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use anyhow::{Context, Result};
use wayland_protocols::wp::single_pixel_buffer::v1::server::wp_single_pixel_buffer_manager_v1::{
    self as single_pixel, WpSinglePixelBufferManagerV1,
};
use wayland_server::protocol::wl_buffer::{self, WlBuffer};
use wayland_server::protocol::wl_shm::{self, WlShm};
use wayland_server::protocol::wl_shm_pool::{self, WlShmPool};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum};

use super::params::Dmabuf;
use super::representation::Representation;
use super::state::State;

/// The file that a client shares.
#[derive(Debug)]
pub(super) struct Pool {
    file: File,
    inode: u64,
    size: AtomicI32,
}

/// What a `wl_buffer` stands for.
#[derive(Clone, Debug)]
pub(super) enum Buffer {
    /// A part of a pool.
    Shm {
        pool: Arc<Pool>,
        offset: i32,
        size: (i32, i32),
        stride: i32,
        alpha: bool,
    },
    /// Dmabufs.
    Dmabuf(Arc<Dmabuf>),
    /// One pixel: red, green, blue, alpha, as bytes.
    Pixel([u8; 4]),
}

impl Buffer {
    pub(super) fn size(&self) -> (i32, i32) {
        match self {
            Self::Shm { size, .. } => *size,
            Self::Dmabuf(dmabuf) => dmabuf.size,
            Self::Pixel(_) => (1, 1),
        }
    }

    /// The number of the file that its memory is.
    pub(super) fn memory(&self) -> Option<u64> {
        match self {
            Self::Shm { pool, .. } => Some(pool.inode),
            Self::Dmabuf(dmabuf) => dmabuf.inode(),
            Self::Pixel(_) => None,
        }
    }

    /// Its pixels, row by row: red, green, blue, alpha, the colours premultiplied. `told`: what was told of its numbers.
    pub(super) fn pixels(&self, told: Option<Representation>) -> Result<Vec<[u8; 4]>> {
        match self {
            Self::Pixel(pixel) => Ok(vec![*pixel]),
            Self::Dmabuf(dmabuf) => dmabuf.read(told),
            Self::Shm {
                pool,
                offset,
                size: (w, h),
                stride,
                alpha,
            } => {
                let mut pixels = Vec::with_capacity(*w as usize * *h as usize);
                let mut row = vec![0; *w as usize * 4];
                for y in 0..*h {
                    let at = i64::from(*offset) + i64::from(y) * i64::from(*stride);
                    pool.file
                        .read_exact_at(&mut row, at as u64)
                        .context("the client's memory is smaller than its buffer")?;
                    pixels.extend(
                        row.chunks_exact(4)
                            .map(|p| [p[2], p[1], p[0], if *alpha { p[3] } else { 255 }]),
                    );
                }
                Ok(pixels)
            }
        }
    }
}

impl Dispatch<WlShm, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        shm: &WlShm,
        request: wl_shm::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let wl_shm::Request::CreatePool { id, fd, size } = request {
            let file = File::from(fd);
            let (actual, inode) = file.metadata().map_or((0, 0), |found| (found.len(), found.ino()));
            let pool = Pool {
                file,
                inode,
                size: size.into(),
            };
            init.init(id, Arc::new(pool));
            if size <= 0 || actual < size as u64 {
                shm.post_error(
                    wl_shm::Error::InvalidFd,
                    format!("a pool of {size} bytes in a file of {actual}"),
                );
            }
        }
    }
}

impl Dispatch<WlShmPool, Arc<Pool>> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        resource: &WlShmPool,
        request: wl_shm_pool::Request,
        pool: &Arc<Pool>,
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        match request {
            wl_shm_pool::Request::CreateBuffer {
                id,
                offset,
                width,
                height,
                stride,
                format,
            } => {
                let alpha = match format {
                    WEnum::Value(wl_shm::Format::Argb8888) => true,
                    WEnum::Value(wl_shm::Format::Xrgb8888) => false,
                    _ => {
                        resource.post_error(wl_shm::Error::InvalidFormat, "not one of the two formats");
                        return;
                    }
                };
                let end = i64::from(offset) + i64::from(stride) * i64::from(height);
                let fits = width > 0
                    && height > 0
                    && offset >= 0
                    && i64::from(stride) >= 4 * i64::from(width)
                    && end <= i64::from(pool.size.load(Ordering::Relaxed));
                if !fits {
                    resource.post_error(
                        wl_shm::Error::InvalidStride,
                        format!("{width}x{height} by {stride}"),
                    );
                    return;
                }
                let buffer = Buffer::Shm {
                    pool: Arc::clone(pool),
                    offset,
                    size: (width, height),
                    stride,
                    alpha,
                };
                state.add_buffer(init.init(id, buffer));
            }
            wl_shm_pool::Request::Resize { size } => pool.size.store(size, Ordering::Relaxed),
            _ => {}
        }
    }
}

impl Dispatch<WpSinglePixelBufferManagerV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &WpSinglePixelBufferManagerV1,
        request: single_pixel::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let single_pixel::Request::CreateU32RgbaBuffer { id, r, g, b, a } = request {
            let pixel = [r, g, b, a].map(|wide| (wide >> 24) as u8);
            state.add_buffer(init.init(id, Buffer::Pixel(pixel)));
        }
    }
}

impl Dispatch<WlBuffer, Buffer> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WlBuffer,
        _: wl_buffer::Request,
        _: &Buffer,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }

    fn destroyed(state: &mut Self, _: wayland_server::backend::ClientId, buffer: &WlBuffer, _: &Buffer) {
        state.forget_buffer(buffer);
    }
}
