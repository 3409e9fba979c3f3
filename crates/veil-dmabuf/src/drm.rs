//! The kernel's requests of sync objects, by `drm/drm.h`: one function each.

use rustix::{
    io,
    ioctl::{Updater, ioctl, opcode},
};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// `DRM_CAP_SYNCOBJ_TIMELINE`.
const SYNCOBJ_TIMELINE: u64 = 0x14;
/// `DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE`.
const IMPORT_SYNC_FILE: u32 = 1;

/// Does a request of this number with this structure, again if a signal came in between. The structure must be the
/// request's own, and what it points to must be there.
macro_rules! request {
    ($device:expr, $number:literal, $type:ty, $request:expr) => {
        loop {
            let request: &mut $type = $request;
            // SAFETY: the opcode is that of the structure, which the kernel reads and writes; what the structure points to
            // lives in the caller's frame.
            let done = unsafe {
                let request = Updater::<{ opcode::read_write::<$type>(b'd', $number) }, _>::new(request);
                ioctl($device, request)
            };
            match done {
                Err(io::Errno::INTR | io::Errno::AGAIN) => {}
                other => break other,
            }
        }
    };
}

#[repr(C)]
struct Capability {
    capability: u64,
    value: u64,
}

/// Whether the driver has timelines.
pub(crate) fn has_timelines(device: BorrowedFd<'_>) -> io::Result<bool> {
    let mut asked = Capability {
        capability: SYNCOBJ_TIMELINE,
        value: 0,
    };
    match request!(device, 0x0c, Capability, &mut asked) {
        Ok(()) => Ok(asked.value != 0),
        // Before Linux 5.2.
        Err(io::Errno::INVAL) => Ok(false),
        Err(error) => Err(error),
    }
}

#[repr(C)]
struct Object {
    handle: u32,
    flags: u32,
}

/// Makes a sync object.
pub(crate) fn create(device: BorrowedFd<'_>) -> io::Result<u32> {
    let mut object = Object { handle: 0, flags: 0 };
    request!(device, 0xbf, Object, &mut object)?;
    Ok(object.handle)
}

/// Lets go of a sync object.
pub(crate) fn destroy(device: BorrowedFd<'_>, handle: u32) -> io::Result<()> {
    let mut object = Object { handle, flags: 0 };
    request!(device, 0xc0, Object, &mut object)
}

#[repr(C)]
struct Shared {
    handle: u32,
    flags: u32,
    fd: i32,
    pad: u32,
}

/// A descriptor of a sync object.
pub(crate) fn handle_to_fd(device: BorrowedFd<'_>, handle: u32) -> io::Result<OwnedFd> {
    let mut shared = Shared {
        handle,
        flags: 0,
        fd: -1,
        pad: 0,
    };
    request!(device, 0xc1, Shared, &mut shared)?;
    // SAFETY: the kernel has made this descriptor for the caller just now.
    Ok(unsafe { OwnedFd::from_raw_fd(shared.fd) })
}

/// Puts a sync file's fence into a sync object, in place of the one that it has.
pub(crate) fn import_sync_file(device: BorrowedFd<'_>, handle: u32, fence: BorrowedFd<'_>) -> io::Result<()> {
    let mut shared = Shared {
        handle,
        flags: IMPORT_SYNC_FILE,
        fd: fence.as_raw_fd(),
        pad: 0,
    };
    request!(device, 0xc2, Shared, &mut shared)
}

#[repr(C)]
struct Points {
    handles: u64,
    points: u64,
    count: u32,
    flags: u32,
}

impl Points {
    /// One point of one timeline.
    fn one(handle: &u32, point: &mut u64) -> Self {
        Self {
            handles: std::ptr::from_ref(handle).expose_provenance() as u64,
            points: std::ptr::from_mut(point).expose_provenance() as u64,
            count: 1,
            flags: 0,
        }
    }
}

/// The last point that a timeline has reached.
pub(crate) fn query(device: BorrowedFd<'_>, handle: u32) -> io::Result<u64> {
    let mut point = 0;
    request!(device, 0xcb, Points, &mut Points::one(&handle, &mut point))?;
    Ok(point)
}

/// Lets a timeline reach a point now.
pub(crate) fn signal(device: BorrowedFd<'_>, handle: u32, mut point: u64) -> io::Result<()> {
    request!(device, 0xcd, Points, &mut Points::one(&handle, &mut point))
}

#[repr(C)]
struct Transfer {
    from: u32,
    to: u32,
    from_point: u64,
    to_point: u64,
    flags: u32,
    pad: u32,
}

/// Gives the fence of a sync object to a point of a timeline.
pub(crate) fn transfer(device: BorrowedFd<'_>, from: u32, (to, to_point): (u32, u64)) -> io::Result<()> {
    let mut transfer = Transfer {
        from,
        to,
        from_point: 0,
        to_point,
        flags: 0,
        pad: 0,
    };
    request!(device, 0xcc, Transfer, &mut transfer)
}

#[repr(C)]
struct Notify {
    handle: u32,
    flags: u32,
    point: u64,
    fd: i32,
    pad: u32,
}

/// Has an eventfd be told when a timeline reaches a point.
pub(crate) fn notify(
    device: BorrowedFd<'_>,
    (handle, point): (u32, u64),
    event: BorrowedFd<'_>,
) -> io::Result<()> {
    let mut notify = Notify {
        handle,
        flags: 0,
        point,
        fd: event.as_raw_fd(),
        pad: 0,
    };
    request!(device, 0xcf, Notify, &mut notify)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that `drm/drm.h` makes of its structures, on most machines.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn requests_are_the_kernels() {
        assert_eq!(opcode::read_write::<Capability>(b'd', 0x0c), 0xc010_640c);
        assert_eq!(opcode::read_write::<Object>(b'd', 0xbf), 0xc008_64bf);
        assert_eq!(opcode::read_write::<Shared>(b'd', 0xc1), 0xc010_64c1);
        assert_eq!(opcode::read_write::<Points>(b'd', 0xcb), 0xc018_64cb);
        assert_eq!(opcode::read_write::<Transfer>(b'd', 0xcc), 0xc020_64cc);
        assert_eq!(opcode::read_write::<Notify>(b'd', 0xcf), 0xc018_64cf);
    }
}
