//! One surface: what is shown, and what waits for a commit.

use drm_fourcc::DrmFormat;
use wayland_protocols::wp::color_management::v1::server::wp_color_management_surface_v1::WpColorManagementSurfaceV1;
use wayland_protocols::wp::color_representation::v1::server::wp_color_representation_surface_v1::WpColorRepresentationSurfaceV1;
use wayland_protocols::wp::fractional_scale::v1::server::wp_fractional_scale_v1::WpFractionalScaleV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::server::wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1;
use wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::WpPresentationFeedback;
use wayland_protocols::xdg::shell::server::{xdg_surface::XdgSurface, xdg_toplevel::XdgToplevel};
use wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_surface_v1::ZwlrLayerSurfaceV1;
use wayland_server::Resource;
use wayland_server::protocol::{wl_buffer::WlBuffer, wl_callback::WlCallback, wl_surface::WlSurface};

use super::buffer::Buffer;
use super::color_management::ImageDescription;
use super::record::{Area, Role, SurfaceId};
use super::representation::Representation;
use super::syncobj::{Point, Points};

/// What requests change, and a commit brings into force.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) buffer: Option<Option<WlBuffer>>,
    pub(super) damage: Vec<Area>,
    pub(super) input: Option<Option<Vec<Area>>>,
    pub(super) transform: Option<u32>,
    pub(super) scale: Option<i32>,
    pub(super) source: Option<Option<[f64; 4]>>,
    pub(super) destination: Option<Option<(i32, i32)>>,
    pub(super) callbacks: Vec<WlCallback>,
    pub(super) feedback: Vec<WpPresentationFeedback>,
    pub(super) representation: Option<Option<Representation>>,
    pub(super) image: Option<Option<ImageDescription>>,
    /// They go with the buffer.
    pub(super) points: Points,
}

/// How the compositor reaches the client's object for a surface's role.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    Layer(ZwlrLayerSurfaceV1),
    Window(XdgSurface, XdgToplevel),
}

/// One surface.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) resource: WlSurface,
    pub(super) role: Role,
    pub(super) handle: Option<Handle>,
    pub(super) children: Vec<SurfaceId>,
    pub(super) pending: Changes,
    /// What a synchronised subsurface has committed and its parent not yet.
    pub(super) cached: Changes,
    pub(super) next_position: Option<(i32, i32)>,
    pub(super) buffer: Option<WlBuffer>,
    /// Where its release is told, if it is not by its own event.
    pub(super) release: Option<Point>,
    pub(super) source: Option<[f64; 4]>,
    pub(super) destination: Option<(i32, i32)>,
    pub(super) transform: u32,
    pub(super) scale: i32,
    pub(super) input: Option<Vec<Area>>,
    pub(super) commits: u64,
    pub(super) callbacks: Vec<WlCallback>,
    pub(super) feedback: Vec<WpPresentationFeedback>,
    /// Buffers that it showed before and that were not released.
    pub(super) held: Vec<(WlBuffer, Option<Point>)>,
    /// Serials of configure events that wait to be acknowledged.
    pub(super) serials: Vec<u32>,
    pub(super) acknowledged: bool,
    /// Where it wants to hear its scale in 120ths.
    pub(super) fractional: Option<WpFractionalScaleV1>,
    /// It knows which output it is on.
    pub(super) entered: bool,
    pub(super) representation: Option<Representation>,
    pub(super) represents: Option<WpColorRepresentationSurfaceV1>,
    pub(super) image: Option<ImageDescription>,
    pub(super) described: Option<WpColorManagementSurfaceV1>,
    pub(super) synced: Option<WpLinuxDrmSyncobjSurfaceV1>,
}

impl Node {
    pub(super) fn new(resource: WlSurface) -> Self {
        Self {
            resource,
            role: Role::None,
            handle: None,
            children: Vec::new(),
            pending: Changes::default(),
            cached: Changes::default(),
            next_position: None,
            buffer: None,
            release: None,
            source: None,
            destination: None,
            transform: 0,
            scale: 1,
            input: None,
            commits: 0,
            callbacks: Vec::new(),
            feedback: Vec::new(),
            held: Vec::new(),
            serials: Vec::new(),
            acknowledged: false,
            fractional: None,
            entered: false,
            representation: None,
            represents: None,
            image: None,
            described: None,
            synced: None,
        }
    }

    /// `ack_configure`. False if there was no such configure.
    pub(super) fn acknowledge(&mut self, serial: u32) -> bool {
        let Some(at) = self.serials.iter().position(|known| *known == serial) else {
            return false;
        };
        self.serials.drain(..=at);
        self.acknowledged = true;
        if let Role::Layer(layer) = &mut self.role {
            layer.acknowledged = Some(serial);
        }
        true
    }

    /// Width and height of what it shows, before a viewport: the buffer turned upright and scaled.
    pub(super) fn content_size(&self) -> Option<(i32, i32)> {
        let (w, h) = self.buffer.as_ref().and_then(size_of)?;
        let (w, h) = if self.transform % 2 == 1 { (h, w) } else { (w, h) };
        Some((w / self.scale.max(1), h / self.scale.max(1)))
    }
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_none()
            && self.input.is_none()
            && self.transform.is_none()
            && self.scale.is_none()
            && self.source.is_none()
            && self.destination.is_none()
            && self.callbacks.is_empty()
            && self.feedback.is_empty()
            && self.representation.is_none()
            && self.image.is_none()
    }

    /// Lays newer changes over these. A buffer that will never be shown now is returned.
    pub(super) fn merge(&mut self, newer: Self) -> Option<(WlBuffer, Option<Point>)> {
        let replaced = if newer.buffer.is_some() {
            let points = std::mem::replace(&mut self.points, newer.points);
            let buffer = std::mem::replace(&mut self.buffer, newer.buffer);
            buffer.flatten().map(|buffer| (buffer, points.release))
        } else {
            None
        };
        self.damage.extend(newer.damage);
        self.input = newer.input.or(self.input.take());
        self.transform = newer.transform.or(self.transform);
        self.scale = newer.scale.or(self.scale);
        self.source = newer.source.or(self.source);
        self.destination = newer.destination.or(self.destination);
        self.representation = newer.representation.or(self.representation);
        self.image = newer.image.or(self.image);
        self.callbacks.extend(newer.callbacks);
        for feedback in self.feedback.drain(..) {
            feedback.discarded();
        }
        self.feedback = newer.feedback;
        replaced
    }
}

pub(super) fn size_of(buffer: &WlBuffer) -> Option<(i32, i32)> {
    buffer.data::<Buffer>().map(Buffer::size)
}

pub(super) fn format_of(buffer: &WlBuffer) -> Option<DrmFormat> {
    match buffer.data::<Buffer>()? {
        Buffer::Dmabuf(dmabuf) => Some(dmabuf.format),
        _ => None,
    }
}

pub(super) fn memory_of(buffer: &WlBuffer) -> Option<u64> {
    buffer.data::<Buffer>().and_then(Buffer::memory)
}
