//! Fences handed over beside the buffer: `wp_linux_drm_syncobj_v1`.
//!
//! A surface that has a sync object says with every buffer, and only with one, when it may be read (the acquire point of a
//! timeline) and when it may be written again (the release point); anything else is a protocol error, as is a buffer that
//! is no dmabuf. `wl_buffer.release` means nothing there. Release points of different buffers are reached in any order, and
//! a timeline's in none but its own: so each buffer has a timeline for them, and the surface has one for acquire points.
//!
//! Reached points are told by one eventfd for all, which the owner of the event loop watches beside the connection.

use crate::{
    buffer::{Quiet, no_events},
    desktop::Desktop,
};
use rustix::event::{EventfdFlags, eventfd};
use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicBool, Ordering},
};
use veil_dmabuf::fence::{self, Use};
use veil_frame::{Backing, Target};
use wayland_client::{QueueHandle, globals::GlobalList, protocol::wl_surface::WlSurface};
use wayland_protocols::wp::linux_drm_syncobj::v1::client::{
    wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1,
    wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1,
    wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1,
};

/// The variable that, set to `implicit`, keeps from handing fences over beside buffers.
const SWITCH: &str = "VEIL_SYNC";

/// Makes timelines: a device, or what stands in for it in tests.
pub trait SyncDevice: fmt::Debug + Send {
    /// A new timeline, at point 0.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn timeline(&self) -> io::Result<Box<dyn SyncTimeline>>;
}

/// A timeline: see [`veil_dmabuf::syncobj`].
pub trait SyncTimeline: fmt::Debug + Send {
    /// A descriptor for the compositor.
    ///
    /// # Errors
    /// When descriptors have run out.
    fn share(&self) -> io::Result<OwnedFd>;

    /// Has a point signal when a sync file does; `None`: now.
    ///
    /// # Errors
    /// When the fence is none.
    fn signal(&self, point: u64, fence: Option<BorrowedFd<'_>>) -> io::Result<()>;

    /// Whether a point was reached.
    ///
    /// # Errors
    /// When the device is gone.
    fn has_reached(&self, point: u64) -> io::Result<bool>;

    /// Makes an eventfd readable once a point is reached.
    ///
    /// # Errors
    /// When that cannot be had.
    fn notify(&self, point: u64, event: BorrowedFd<'_>) -> io::Result<()>;
}

impl SyncDevice for veil_dmabuf::syncobj::SyncDevice {
    fn timeline(&self) -> io::Result<Box<dyn SyncTimeline>> {
        Ok(Box::new(self.timeline()?))
    }
}

impl SyncTimeline for veil_dmabuf::syncobj::Timeline {
    fn share(&self) -> io::Result<OwnedFd> {
        self.share()
    }

    fn signal(&self, point: u64, fence: Option<BorrowedFd<'_>>) -> io::Result<()> {
        self.signal(point, fence)
    }

    fn has_reached(&self, point: u64) -> io::Result<bool> {
        self.has_reached(point)
    }

    fn notify(&self, point: u64, event: BorrowedFd<'_>) -> io::Result<()> {
        self.notify(point, event)
    }
}

/// What the connection has of it.
#[derive(Debug)]
pub(crate) struct ExplicitSync {
    manager: Option<WpLinuxDrmSyncobjManagerV1>,
    device: Option<Box<dyn SyncDevice>>,
    event: Option<OwnedFd>,
    /// Something failed: fences go with the dmabufs from now on.
    broken: AtomicBool,
}

impl ExplicitSync {
    pub(crate) fn bind(globals: &GlobalList, qh: &QueueHandle<Desktop>) -> Self {
        // A way out where a driver does it wrong: fences then go with the dmabufs.
        let wanted = std::env::var_os(SWITCH).is_none_or(|told| told != "implicit");
        Self {
            manager: wanted.then(|| globals.bind(qh, 1..=1, Quiet).ok()).flatten(),
            device: None,
            event: None,
            broken: AtomicBool::new(false),
        }
    }

    /// Makes timelines with the compositor's device from now on, where that can be.
    pub(crate) fn open(&mut self, device: Option<u64>) {
        let (Some(_), Some(device)) = (&self.manager, device) else {
            return;
        };
        match veil_dmabuf::syncobj::SyncDevice::open(device) {
            Ok(Some(device)) => self.use_device(Box::new(device)),
            Ok(None) => {
                tracing::debug!("the compositor's device has no timelines; fences go with the dmabufs")
            }
            Err(error) => tracing::debug!("the compositor's device cannot be opened for timelines: {error}"),
        }
    }

    pub(crate) fn use_device(&mut self, device: Box<dyn SyncDevice>) {
        match eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK) {
            Ok(event) => (self.event, self.device) = (Some(event), Some(device)),
            Err(error) => tracing::warn!("no descriptor for the releases of dmabufs: {error}"),
        }
    }

    /// What is needed to use it; `None` where that cannot be.
    fn usable(&self) -> Option<(&WpLinuxDrmSyncobjManagerV1, &dyn SyncDevice, BorrowedFd<'_>)> {
        if self.broken.load(Ordering::Relaxed) {
            return None;
        }
        Some((
            self.manager.as_ref()?,
            self.device.as_deref()?,
            self.event.as_ref()?.as_fd(),
        ))
    }

    /// Whether it is used.
    pub(crate) fn is_used(&self) -> bool {
        self.usable().is_some()
    }

    /// What is readable once a buffer was released.
    pub(crate) fn event(&self) -> Option<BorrowedFd<'_>> {
        self.event.as_ref().map(AsFd::as_fd)
    }

    /// Whether a buffer was released since this was asked last.
    pub(crate) fn take_event(&self) -> bool {
        self.event()
            .is_some_and(|event| rustix::io::read(event, &mut [0; 8]).is_ok())
    }

    pub(crate) fn give_up(&self, error: &io::Error) {
        tracing::warn!("no explicit synchronisation any more, fences go with the dmabufs: {error}");
        self.broken.store(true, Ordering::Relaxed);
    }
}

/// A timeline that the compositor has, too.
#[derive(Debug)]
pub(crate) struct SharedTimeline {
    timeline: Box<dyn SyncTimeline>,
    object: WpLinuxDrmSyncobjTimelineV1,
    last: u64,
}

impl SharedTimeline {
    fn new(
        manager: &WpLinuxDrmSyncobjManagerV1,
        qh: &QueueHandle<Desktop>,
        device: &dyn SyncDevice,
    ) -> io::Result<Self> {
        let timeline = device.timeline()?;
        let shared = timeline.share()?;
        Ok(Self {
            timeline,
            object: manager.import_timeline(shared.as_fd(), qh, Quiet),
            last: 0,
        })
    }

    /// The next point is one that the compositor reaches when it has read a buffer.
    pub(crate) fn expect(
        this: &mut Option<Self>,
        sync: &ExplicitSync,
        qh: &QueueHandle<Desktop>,
    ) -> io::Result<()> {
        let Some((manager, device, event)) = sync.usable() else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let timeline = match this {
            Some(timeline) => timeline,
            None => this.insert(Self::new(manager, qh, device)?),
        };
        timeline.timeline.notify(timeline.last + 1, event)?;
        timeline.last += 1;
        Ok(())
    }

    /// Whether the last point was reached. A device that is gone holds nothing.
    pub(crate) fn is_reached(&self) -> bool {
        self.timeline.has_reached(self.last).unwrap_or(true)
    }
}

impl Drop for SharedTimeline {
    fn drop(&mut self) {
        self.object.destroy();
    }
}

/// The sync object of a surface.
#[derive(Debug)]
pub(crate) struct SurfaceSync {
    object: WpLinuxDrmSyncobjSurfaceV1,
    acquire: SharedTimeline,
}

impl SurfaceSync {
    pub(crate) fn new(
        sync: &ExplicitSync,
        qh: &QueueHandle<Desktop>,
        surface: &WlSurface,
    ) -> io::Result<Self> {
        let (manager, device, _) = sync.usable().ok_or(io::ErrorKind::Unsupported)?;
        let acquire = SharedTimeline::new(manager, qh, device)?;
        Ok(Self {
            object: manager.get_surface(surface, qh, Quiet),
            acquire,
        })
    }

    /// Says of the buffer that is attached next when it may be read, and where its release is to be told.
    pub(crate) fn set_points(&mut self, target: &Target, release: &SharedTimeline) -> io::Result<()> {
        let fence = acquire_fence(target)?;
        let point = self.acquire.last + 1;
        self.acquire
            .timeline
            .signal(point, fence.as_ref().map(AsFd::as_fd))?;
        self.acquire.last = point;
        let halves = |point: u64| ((point >> 32) as u32, point as u32);
        let (high, low) = halves(point);
        self.object.set_acquire_point(&self.acquire.object, high, low);
        let (high, low) = halves(release.last);
        self.object.set_release_point(&release.object, high, low);
        Ok(())
    }
}

impl Drop for SurfaceSync {
    fn drop(&mut self) {
        self.object.destroy();
    }
}

/// The fence that signals when a target can be read: its own; else those of writers that its dmabufs carry, to which the
/// compositor does not look where there is an acquire point. `None`: it can be read now.
fn acquire_fence(target: &Target) -> io::Result<Option<OwnedFd>> {
    if let Some(own) = target.acquire()? {
        return Ok(Some(own));
    }
    let Backing::Dmabuf(dmabuf) = &target.backing else {
        return Ok(None);
    };
    let mut all: Option<OwnedFd> = None;
    for plane in &dmabuf.planes {
        let Some(one) = fence::export(&plane.fd, Use::Read)? else {
            continue;
        };
        all = Some(match all {
            None => one,
            Some(others) => fence::merge(&others, &one)?,
        });
    }
    Ok(all)
}

no_events!(
    WpLinuxDrmSyncobjManagerV1,
    WpLinuxDrmSyncobjTimelineV1,
    WpLinuxDrmSyncobjSurfaceV1
);
