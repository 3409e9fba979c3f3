//! `wp_linux_drm_syncobj_manager_v1`: fences beside the buffer. Only the rules are real: a timeline is a memory file that
//! begins with the number of the last point that was reached.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use wayland_protocols::wp::linux_drm_syncobj::v1::server::{
    wp_linux_drm_syncobj_manager_v1::{self as manager, WpLinuxDrmSyncobjManagerV1},
    wp_linux_drm_syncobj_surface_v1::{self as surface, Error, WpLinuxDrmSyncobjSurfaceV1},
    wp_linux_drm_syncobj_timeline_v1::{self as timeline, WpLinuxDrmSyncobjTimelineV1},
};
use wayland_server::backend::ClientId;
use wayland_server::protocol::wl_buffer::WlBuffer;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::buffer::Buffer;
use super::record::SurfaceId;
use super::state::State;
use super::surface::surface_id;

/// A timeline of a client.
#[derive(Debug)]
pub(super) struct Timeline(File);

impl Timeline {
    fn inode(&self) -> u64 {
        self.0.metadata().map_or(0, |found| found.ino())
    }
}

/// A point of a timeline.
#[derive(Clone, Debug)]
pub(super) struct Point {
    timeline: Arc<Timeline>,
    number: u64,
}

impl Point {
    /// Reaches it.
    pub(super) fn signal(&self) {
        let mut reached = [0; 8];
        let _ = self.timeline.0.read_exact_at(&mut reached, 0);
        if u64::from_ne_bytes(reached) < self.number {
            let _ = self.timeline.0.write_all_at(&self.number.to_ne_bytes(), 0);
        }
    }
}

/// Gives a buffer back, in the way that it was given.
pub(super) fn release((buffer, point): (WlBuffer, Option<Point>)) {
    match point {
        Some(point) => point.signal(),
        None => buffer.release(),
    }
}

/// The points of the next commit.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    acquire: Option<Point>,
    pub(super) release: Option<Point>,
}

impl State {
    /// What a commit has to obey.
    pub(super) fn check_points(&mut self, id: SurfaceId) {
        let Some(node) = self.surfaces.get(&id) else {
            return;
        };
        let Some(object) = &node.synced else {
            return;
        };
        let Points { acquire, release } = &node.pending.points;
        let error = match (&node.pending.buffer, acquire, release) {
            (Some(Some(buffer)), Some(acquire), Some(release)) => {
                let conflict =
                    acquire.timeline.inode() == release.timeline.inode() && acquire.number >= release.number;
                let is_dmabuf = matches!(buffer.data::<Buffer>(), Some(Buffer::Dmabuf(_)));
                match (is_dmabuf, conflict) {
                    (false, _) => Some(Error::UnsupportedBuffer),
                    (true, true) => Some(Error::ConflictingPoints),
                    (true, false) => None,
                }
            }
            (Some(Some(_)), None, _) => Some(Error::NoAcquirePoint),
            (Some(Some(_)), Some(_), None) => Some(Error::NoReleasePoint),
            (_, None, None) => None,
            _ => Some(Error::NoBuffer),
        };
        if let Some(error) = error {
            let text = format!("{error:?} in a commit of surface {}", id.0);
            self.complaints.push(text.clone());
            object.post_error(error, text);
        }
    }
}

impl Dispatch<WpLinuxDrmSyncobjManagerV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        resource: &WpLinuxDrmSyncobjManagerV1,
        request: manager::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        match request {
            manager::Request::GetSurface { id, surface } => {
                let surface = surface_id(&surface);
                let object = init.init(id, surface);
                if let Some(node) = state.surfaces.get_mut(&surface)
                    && node.synced.replace(object).is_some()
                {
                    resource.post_error(manager::Error::SurfaceExists, "it has such an object already");
                }
            }
            manager::Request::ImportTimeline { id, fd } => {
                init.init(id, Arc::new(Timeline(File::from(fd))));
            }
            _ => {}
        }
    }
}

impl Dispatch<WpLinuxDrmSyncobjTimelineV1, Arc<Timeline>> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WpLinuxDrmSyncobjTimelineV1,
        _: timeline::Request,
        _: &Arc<Timeline>,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }
}

impl Dispatch<WpLinuxDrmSyncobjSurfaceV1, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        object: &WpLinuxDrmSyncobjSurfaceV1,
        request: surface::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let point = |timeline: WpLinuxDrmSyncobjTimelineV1, high: u32, low: u32| {
            let timeline = Arc::clone(timeline.data::<Arc<Timeline>>()?);
            let number = u64::from(high) << 32 | u64::from(low);
            Some(Point { timeline, number })
        };
        let Some(node) = state.surfaces.get_mut(id) else {
            if !matches!(request, surface::Request::Destroy) {
                object.post_error(Error::NoSurface, "its surface is gone");
            }
            return;
        };
        match request {
            surface::Request::SetAcquirePoint {
                timeline,
                point_hi,
                point_lo,
            } => node.pending.points.acquire = point(timeline, point_hi, point_lo),
            surface::Request::SetReleasePoint {
                timeline,
                point_hi,
                point_lo,
            } => node.pending.points.release = point(timeline, point_hi, point_lo),
            surface::Request::Destroy => {
                node.pending.points = Points::default();
                node.synced = None;
            }
            _ => {}
        }
    }

    fn destroyed(state: &mut Self, _: ClientId, object: &WpLinuxDrmSyncobjSurfaceV1, id: &SurfaceId) {
        if let Some(node) = state.surfaces.get_mut(id) {
            node.synced.take_if(|known| known == object);
        }
    }
}
