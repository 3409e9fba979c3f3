//! `wl_buffer`s and who waits for their release.
//!
//! A target that is shown on several surfaces has a buffer for each: the release of one buffer on several surfaces is
//! undefined (wayland.xml, `wl_surface.attach`). While the compositor may read a buffer, the buffer holds a
//! [`TargetUse`]; `wl_buffer.release` drops it.

use crate::desktop::Desktop;
use rustix::fs::fstat;
use smithay_client_toolkit::dispatch2::Dispatch2;
use std::{
    os::fd::AsFd,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use veil_frame::{Backing, Target, TargetUse};
use wayland_client::{
    Connection, Proxy, QueueHandle,
    protocol::{
        wl_buffer::{self, WlBuffer},
        wl_shm::{self, WlShm},
        wl_shm_pool::{self, WlShmPool},
    },
};

/// A target cannot become a buffer.
#[derive(Debug, thiserror::Error)]
pub enum BufferError {
    /// `wl_shm` takes signed 32-bit sizes only.
    #[error("a buffer of {0} bytes is too large for wl_shm")]
    TooLarge(u64),
    /// `wl_shm` knows the format by another number, or not at all.
    #[error("the pixel format {0} is not one that wl_shm must have")]
    Format(drm_fourcc::DrmFourcc),
    /// The target is not as large as it says.
    #[error("the memory of a buffer has {actual} bytes, not the {needed} that its size needs")]
    TooSmall {
        /// Bytes there are.
        actual: u64,
        /// Bytes that rows and stride need.
        needed: u64,
    },
}

/// What a `wl_buffer` holds while the compositor may read it.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<Option<TargetUse>>);

impl InFlight {
    fn set(&self, target: Option<TargetUse>) {
        let previous = std::mem::replace(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
            target,
        );
        drop(previous);
    }

    fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Dispatch2<WlBuffer, Desktop> for InFlight {
    fn event(
        &self,
        _: &mut Desktop,
        _: &WlBuffer,
        event: wl_buffer::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        if matches!(event, wl_buffer::Event::Release) {
            self.set(None);
        }
    }
}

/// Marks the objects whose events veil has no use for.
#[derive(Debug)]
pub(crate) struct Quiet;

impl Dispatch2<WlShm, Desktop> for Quiet {
    // The formats: XRGB8888 and ARGB8888, all that veil uses, are always there (wayland.xml, `wl_shm`).
    fn event(&self, _: &mut Desktop, _: &WlShm, _: wl_shm::Event, _: &Connection, _: &QueueHandle<Desktop>) {}
}

impl Dispatch2<WlShmPool, Desktop> for Quiet {
    fn event(
        &self,
        _: &mut Desktop,
        _: &WlShmPool,
        _: wl_shm_pool::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
    }
}

/// The buffers of one surface.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    known: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    target: Weak<Target>,
    id: u64,
    buffer: WlBuffer,
}

impl Known {
    fn in_flight(&self) -> bool {
        self.buffer.data::<InFlight>().is_some_and(InFlight::is_some)
    }
}

impl Buffers {
    /// The buffer of this target for this surface, from now on held until it is released. Buffers of targets that are
    /// gone are destroyed when a new one is made.
    pub(crate) fn hold(
        &mut self,
        shm: &WlShm,
        qh: &QueueHandle<Desktop>,
        target: &TargetUse,
    ) -> Result<&WlBuffer, BufferError> {
        let id = target.target().id;
        let index = match self.known.iter().position(|known| known.id == id) {
            Some(index) => index,
            None => {
                self.forget_gone();
                let buffer = shm_buffer(shm, qh, target.target())?;
                self.known.push(Known {
                    target: Arc::downgrade(target.target()),
                    id,
                    buffer,
                });
                self.known.len() - 1
            }
        };
        let buffer = &self.known[index].buffer;
        if let Some(in_flight) = buffer.data::<InFlight>() {
            in_flight.set(Some(target.clone()));
        }
        Ok(buffer)
    }

    /// Destroys the buffers whose targets nobody draws to any more and that the compositor has given back.
    pub(crate) fn forget_gone(&mut self) {
        self.known.retain(|known| {
            let keep = known.in_flight() || known.target.strong_count() > 0;
            if !keep {
                known.buffer.destroy();
            }
            keep
        });
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        for known in &self.known {
            known.buffer.destroy();
            // No release will come for it.
            if let Some(in_flight) = known.buffer.data::<InFlight>() {
                in_flight.set(None);
            }
        }
    }
}

fn shm_buffer(shm: &WlShm, qh: &QueueHandle<Desktop>, target: &Target) -> Result<WlBuffer, BufferError> {
    let Backing::Shm { fd, len } = &target.backing else {
        return Err(BufferError::Format(target.fourcc));
    };
    let format = match target.fourcc {
        drm_fourcc::DrmFourcc::Xrgb8888 => wl_shm::Format::Xrgb8888,
        drm_fourcc::DrmFourcc::Argb8888 => wl_shm::Format::Argb8888,
        other => return Err(BufferError::Format(other)),
    };
    let needed = u64::from(target.stride) * u64::from(target.size.h);
    // A compositor ends a client whose pool is smaller than its buffer, or whose file is smaller than its pool.
    let actual = fstat(fd).map_or(0, |stat| stat.st_size as u64).min(*len as u64);
    if actual < needed || u64::from(target.stride) < u64::from(target.size.w) * 4 {
        return Err(BufferError::TooSmall { actual, needed });
    }
    let int = |value: u64| i32::try_from(value).map_err(|_| BufferError::TooLarge(needed));
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
