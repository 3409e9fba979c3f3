//! Buffers in shared memory: `wl_shm`.

use super::{BufferError, InFlight, Quiet, int, no_events};
use crate::desktop::Desktop;
use drm_fourcc::DrmFourcc;
use rustix::fs::fstat;
use std::os::fd::{AsFd, OwnedFd};
use veil_frame::Target;
use wayland_client::{
    QueueHandle,
    protocol::{
        wl_buffer::WlBuffer,
        wl_shm::{self, WlShm},
        wl_shm_pool::WlShmPool,
    },
};

// The formats: XRGB8888 and ARGB8888, all that veil uses, are always there (wayland.xml, `wl_shm`).
no_events!(WlShm, WlShmPool);

/// A buffer of a target that lies in this file.
pub(super) fn create(
    shm: &WlShm,
    qh: &QueueHandle<Desktop>,
    target: &Target,
    (fd, len): (&OwnedFd, usize),
) -> Result<WlBuffer, BufferError> {
    let format = match target.fourcc {
        DrmFourcc::Xrgb8888 => wl_shm::Format::Xrgb8888,
        DrmFourcc::Argb8888 => wl_shm::Format::Argb8888,
        other => return Err(BufferError::Format(other)),
    };
    let needed = u64::from(target.stride) * u64::from(target.size.h);
    // A compositor ends a client whose pool is smaller than its buffer, or whose file is smaller than its pool.
    let actual = fstat(fd).map_or(0, |stat| stat.st_size as u64).min(len as u64);
    if actual < needed || u64::from(target.stride) < u64::from(target.size.w) * 4 {
        return Err(BufferError::TooSmall { actual, needed });
    }
    let (w, h, stride) = (
        int(target.size.w.into())?,
        int(target.size.h.into())?,
        int(target.stride.into())?,
    );
    let pool = shm.create_pool(fd.as_fd(), int(needed)?, qh, Quiet);
    let buffer = pool.create_buffer(0, w, h, stride, format, qh, InFlight::default());
    pool.destroy();
    Ok(buffer)
}
