//! `wl_buffer`s and who waits for their release.
//!
//! A target that is shown on several surfaces has a buffer for each: the release of one buffer on several surfaces is
//! undefined (wayland.xml, `wl_surface.attach`). While the compositor may read a buffer, the buffer holds a
//! [`TargetUse`]; `wl_buffer.release` drops it.

mod dmabuf;
mod shm;

use crate::{
    desktop::Desktop,
    dmabuf::{Dmabufs, Feedback},
    surface::SurfaceId,
    sync::{ExplicitSync, SharedTimeline},
};
use drm_fourcc::{DrmFormat, DrmFourcc};
use smithay_client_toolkit::dispatch2::Dispatch2;
use std::{
    io,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use veil_frame::{Backing, Target, TargetUse};
use wayland_client::{
    Connection, Proxy, QueueHandle,
    protocol::{
        wl_buffer::{self, WlBuffer},
        wl_shm::WlShm,
    },
};

/// A target cannot become a buffer.
#[derive(Debug, thiserror::Error)]
pub enum BufferError {
    /// The protocols take signed 32-bit sizes only.
    #[error("a size of {0} is too large for a buffer")]
    TooLarge(u64),
    /// `wl_shm` knows the format by another number, or not at all.
    #[error("the pixel format {0} is not one that wl_shm must have")]
    Format(DrmFourcc),
    /// The compositor takes no dmabufs.
    #[error("the compositor takes no dmabufs")]
    NoDmabuf,
    /// The surface takes none of these; or none any more.
    #[error("the surface takes no dmabufs of {} with modifier 0x{:x}", .0.code, u64::from(.0.modifier))]
    NotTaken(DrmFormat),
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

/// Marks the objects whose events veil has no use for, or looks at without knowing more.
#[derive(Debug)]
pub(crate) struct Quiet;

/// Leaves the events of these interfaces alone.
macro_rules! no_events {
    ($($interface:ty),+ $(,)?) => {
        $(impl smithay_client_toolkit::dispatch2::Dispatch2<$interface, $crate::desktop::Desktop>
            for $crate::buffer::Quiet
        {
            fn event(
                &self,
                _: &mut $crate::desktop::Desktop,
                _: &$interface,
                _: <$interface as wayland_client::Proxy>::Event,
                _: &wayland_client::Connection,
                _: &wayland_client::QueueHandle<$crate::desktop::Desktop>,
            ) {
            }
        })+
    };
}
pub(crate) use no_events;

/// The buffers of one surface.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    known: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    target: Weak<Target>,
    id: u64,
    /// `None`: asked for, and still to come.
    buffer: Option<WlBuffer>,
    /// Where its releases are told, once it was shown so.
    releases: Option<SharedTimeline>,
    /// What the compositor may read until the last of them.
    until_release: Option<TargetUse>,
}

impl Known {
    fn in_flight(&self) -> bool {
        let data = self.buffer.as_ref().and_then(Proxy::data::<InFlight>);
        self.until_release.is_some() || data.is_some_and(InFlight::is_some)
    }
}

/// What buffers are made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) shm: &'a WlShm,
    pub(crate) dmabufs: &'a Dmabufs,
    pub(crate) qh: &'a QueueHandle<Desktop>,
    pub(crate) surface: SurfaceId,
    /// The surface's own feedback, if it has come.
    pub(crate) feedback: Option<&'a Feedback>,
}

impl Maker<'_> {
    fn make(&self, target: &Target) -> Result<Option<WlBuffer>, BufferError> {
        match &target.backing {
            Backing::Shm { fd, len } => shm::create(self.shm, self.qh, target, (fd, *len)).map(Some),
            Backing::Dmabuf(dmabuf) => dmabuf::create(self.dmabufs, self.qh, self.surface, target.id, dmabuf),
        }
    }

    /// The feedback may have changed since the buffer was made.
    fn check(&self, target: &Target) -> Result<(), BufferError> {
        match &target.backing {
            Backing::Dmabuf(dmabuf) if !self.dmabufs.takes(self.feedback, dmabuf.format) => {
                Err(BufferError::NotTaken(dmabuf.format))
            }
            _ => Ok(()),
        }
    }
}

fn int(value: u64) -> Result<i32, BufferError> {
    i32::try_from(value).map_err(|_| BufferError::TooLarge(value))
}

impl Buffers {
    /// Whether there is a buffer of this target for this surface. Asks for one where there is none; false if the compositor's
    /// answer is still to come. Buffers of targets that are gone are destroyed when a new one is made.
    pub(crate) fn ready(&mut self, maker: Maker<'_>, target: &Arc<Target>) -> Result<bool, BufferError> {
        maker.check(target)?;
        if let Some(known) = self.known.iter().find(|known| known.id == target.id) {
            return Ok(known.buffer.is_some());
        }
        self.forget_gone();
        let buffer = maker.make(target)?;
        let ready = buffer.is_some();
        self.known.push(Known {
            target: Arc::downgrade(target),
            id: target.id,
            buffer,
            releases: None,
            until_release: None,
        });
        Ok(ready)
    }

    /// The buffer of this target for this surface, from now on held until it is released. `None` while it is not ready.
    pub(crate) fn hold(&mut self, target: &TargetUse) -> Option<&WlBuffer> {
        let id = target.target().id;
        let known = self.known.iter().find(|known| known.id == id)?;
        let buffer = known.buffer.as_ref()?;
        if let Some(in_flight) = buffer.data::<InFlight>() {
            in_flight.set(Some(target.clone()));
        }
        Some(buffer)
    }

    /// The same, to be released at a new point of the timeline that comes with it.
    pub(crate) fn hold_until_point(
        &mut self,
        sync: &ExplicitSync,
        qh: &QueueHandle<Desktop>,
        target: &TargetUse,
    ) -> io::Result<Option<(&WlBuffer, &SharedTimeline)>> {
        let id = target.target().id;
        let Some(known) = self.known.iter_mut().find(|known| known.id == id) else {
            return Ok(None);
        };
        SharedTimeline::expect(&mut known.releases, sync, qh)?;
        known.until_release = Some(target.clone());
        Ok(known.buffer.as_ref().zip(known.releases.as_ref()))
    }

    /// Lets go of the targets whose release points were reached.
    pub(crate) fn take_releases(&mut self) {
        for known in &mut self.known {
            if known.releases.as_ref().is_some_and(SharedTimeline::is_reached) {
                known.until_release = None;
            }
        }
    }

    /// No point is going to be told of this target.
    pub(crate) fn forget_point(&mut self, target: &TargetUse) {
        let id = target.target().id;
        if let Some(known) = self.known.iter_mut().find(|known| known.id == id) {
            known.until_release = None;
        }
    }

    /// A buffer that was asked for has come.
    pub(crate) fn created(&mut self, target: u64, buffer: WlBuffer) {
        match self.known.iter_mut().find(|known| known.id == target) {
            Some(known) if known.buffer.is_none() => known.buffer = Some(buffer),
            // Nobody waits for it; or it was asked for twice, by a surface that is gone and by its successor.
            _ => buffer.destroy(),
        }
    }

    /// A buffer that was asked for will never come.
    pub(crate) fn rejected(&mut self, target: u64) {
        self.known.retain(|known| known.id != target);
    }

    /// Destroys the buffers whose targets nobody draws to any more and that the compositor has given back.
    pub(crate) fn forget_gone(&mut self) {
        self.known.retain(|known| {
            let keep = known.in_flight() || known.target.strong_count() > 0;
            if !keep && let Some(buffer) = &known.buffer {
                buffer.destroy();
            }
            keep
        });
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        for buffer in self.known.iter().filter_map(|known| known.buffer.as_ref()) {
            buffer.destroy();
            // No release will come for it.
            if let Some(in_flight) = buffer.data::<InFlight>() {
                in_flight.set(None);
            }
        }
    }
}
