//! Timelines of DRM's sync objects: fences in a row, each with a number, that processes share as a descriptor.
//!
//! A point is reached when its fence and all before it have signalled. Points must be given in rising order. Any device
//! that has timelines will do: a sync object belongs to none (`drm_syncobj.c` in the kernel).

use crate::drm;
use rustix::{
    event::{EventfdFlags, eventfd},
    fs::{Mode, OFlags, open},
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::Arc,
};

/// A device whose kernel driver has timelines.
#[derive(Clone, Debug)]
pub struct SyncDevice(Arc<OwnedFd>);

impl SyncDevice {
    /// Opens a device by its number (`dev_t`, of a primary or a render node). `None` if it has no timelines, or the kernel
    /// cannot tell of their points by eventfd (before Linux 6.6).
    ///
    /// # Errors
    /// When there is no such device, or it cannot be opened.
    pub fn open(device: u64) -> io::Result<Option<Self>> {
        let fd = open(node(device)?, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        if !drm::has_timelines(fd.as_fd())? {
            return Ok(None);
        }
        let device = Self(Arc::new(fd));
        Ok(device.tells_of_points().then_some(device))
    }

    fn tells_of_points(&self) -> bool {
        let try_it = || -> io::Result<()> {
            let timeline = self.timeline()?;
            timeline.signal(1, None)?;
            timeline.notify(1, eventfd(0, EventfdFlags::CLOEXEC)?)
        };
        try_it().is_ok()
    }

    /// A new timeline, at point 0.
    ///
    /// # Errors
    /// When memory has run out.
    pub fn timeline(&self) -> io::Result<Timeline> {
        let handle = drm::create(self.0.as_fd())?;
        Ok(Timeline {
            device: Arc::clone(&self.0),
            handle,
        })
    }
}

/// The render node of a device, which needs no rights over the display; its primary node where it has none.
fn node(device: u64) -> io::Result<PathBuf> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let siblings = std::fs::read_dir(format!("/sys/dev/char/{major}:{minor}/device/drm"))?;
    let mut names: Vec<String> = siblings
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("renderD") || name.starts_with("card"))
        .collect();
    // "renderD" after "card".
    names.sort();
    let name = names.pop().ok_or(io::ErrorKind::NotFound)?;
    Ok(PathBuf::from("/dev/dri").join(name))
}

/// A timeline, and the handle of it that this process has.
#[derive(Debug)]
pub struct Timeline {
    device: Arc<OwnedFd>,
    handle: u32,
}

impl Timeline {
    /// A descriptor, for others to have the same timeline.
    ///
    /// # Errors
    /// When descriptors have run out.
    pub fn share(&self) -> io::Result<OwnedFd> {
        Ok(drm::handle_to_fd(self.device.as_fd(), self.handle)?)
    }

    /// Has a point signal when a sync file does; `None`: now.
    ///
    /// # Errors
    /// When the fence is none, or memory has run out.
    pub fn signal(&self, point: u64, fence: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let device = self.device.as_fd();
        match fence {
            None => drm::signal(device, self.handle, point)?,
            Some(fence) => {
                // A sync file can be put into a sync object without points only.
                let between = Self {
                    device: Arc::clone(&self.device),
                    handle: drm::create(device)?,
                };
                drm::import_sync_file(device, between.handle, fence)?;
                drm::transfer(device, between.handle, (self.handle, point))?;
            }
        }
        Ok(())
    }

    /// Whether a point was reached.
    ///
    /// # Errors
    /// When the device is gone.
    pub fn has_reached(&self, point: u64) -> io::Result<bool> {
        Ok(drm::query(self.device.as_fd(), self.handle)? >= point)
    }

    /// Makes an eventfd readable once a point is reached, which need not have been given yet.
    ///
    /// # Errors
    /// When the kernel cannot (before Linux 6.6), or memory has run out.
    pub fn notify(&self, point: u64, event: impl AsFd) -> io::Result<()> {
        Ok(drm::notify(
            self.device.as_fd(),
            (self.handle, point),
            event.as_fd(),
        )?)
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        // The handle is this value's alone; others have descriptors.
        let _ = drm::destroy(self.device.as_fd(), self.handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_none_is_an_error() {
        // /dev/null has no nodes of DRM.
        assert!(SyncDevice::open(rustix::fs::makedev(1, 3)).is_err());
    }

    /// Only where there is such a device: the test machine has none.
    #[test]
    fn points_are_reached_in_order() {
        let found = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
        let device = found
            .filter_map(|entry| rustix::fs::stat(entry.path()).ok())
            .find_map(|stat| SyncDevice::open(stat.st_rdev).ok().flatten());
        let Some(device) = device else {
            eprintln!("no device with timelines: nothing was tried");
            return;
        };
        let timeline = device.timeline().unwrap();
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        timeline.notify(2, &event).unwrap();
        let told = || rustix::io::read(&event, &mut [0; 8]).is_ok();
        timeline.signal(1, None).unwrap();
        assert!(timeline.has_reached(1).unwrap() && !timeline.has_reached(2).unwrap());
        assert!(!told());
        timeline.signal(2, None).unwrap();
        assert!(timeline.has_reached(2).unwrap());
        assert!(told());
        timeline.share().unwrap();
    }
}
