//! The surface that a picture is on: a subsurface in its tree, with what is told of its contents.
//!
//! It lives as long as its pictures have as many planes. KWin (6.7) keeps the textures of a surface while dmabufs follow
//! each other in one size, and ends when the next has another number of planes than those were made for.

use crate::{
    buffer::Quiet,
    color_management::Image,
    desktop::Desktop,
    globals::Globals,
    placement::SurfacePlacement,
    representation::Representation,
    surface::SurfaceId,
    sync::{ExplicitSync, SharedTimeline, SurfaceSync},
};
use std::io;
use veil_frame::{Backing, Labels, Target};
use wayland_client::{
    QueueHandle,
    protocol::{
        wl_buffer::WlBuffer, wl_output::Transform, wl_subsurface::WlSubsurface, wl_surface::WlSurface,
    },
};
use wayland_protocols::wp::{
    linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1,
    viewporter::client::wp_viewport::WpViewport,
};

#[derive(Debug)]
pub(crate) struct PictureSurface {
    subsurface: WlSubsurface,
    surface: WlSurface,
    viewport: WpViewport,
    feedback: Option<ZwpLinuxDmabufFeedbackV1>,
    representation: Representation,
    image: Image,
    sync: Option<SurfaceSync>,
    /// Of the dmabuf that it showed last.
    planes: Option<usize>,
}

impl PictureSurface {
    /// On top of what lies on the parent.
    pub(crate) fn new(
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        id: SurfaceId,
        parent: &WlSurface,
    ) -> Self {
        let (subsurface, surface) = globals.subcompositor.create_subsurface(parent.clone(), qh);
        let viewport = globals.viewporter.get_viewport(&surface, qh, Quiet);
        subsurface.set_desync();
        // Clicks go to what lies below.
        let nowhere = globals.compositor.wl_compositor().create_region(qh, Quiet);
        surface.set_input_region(Some(&nowhere));
        nowhere.destroy();
        let feedback = globals.dmabufs.feedback_of(qh, &surface, id);
        Self {
            subsurface,
            surface,
            viewport,
            feedback,
            representation: Representation::default(),
            image: Image::default(),
            sync: None,
            planes: None,
        }
    }

    pub(crate) fn surface(&self) -> &WlSurface {
        &self.surface
    }

    /// Whether a target can follow on what was shown.
    pub(crate) fn suits(&self, target: &Target) -> bool {
        match (&target.backing, self.planes) {
            (Backing::Dmabuf(next), Some(planes)) => next.planes.len() == planes,
            _ => true,
        }
    }

    /// Says of the dmabuf that is attached next when it may be read, and where its release is to be told.
    pub(crate) fn set_points(
        &mut self,
        sync: &ExplicitSync,
        qh: &QueueHandle<Desktop>,
        target: &Target,
        release: &SharedTimeline,
    ) -> io::Result<()> {
        let surface = match &mut self.sync {
            Some(surface) => surface,
            None => self.sync.insert(SurfaceSync::new(sync, qh, &self.surface)?),
        };
        surface.set_points(target, release)
    }

    /// What is attached next has no fences beside it: memory that is none of a device's must not.
    pub(crate) fn set_no_points(&mut self) {
        self.sync = None;
    }

    /// Attaches the buffer of a target, and says what its numbers mean; takes effect with the commit.
    pub(crate) fn attach(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        (target, buffer): (&Target, &WlBuffer),
        labels: Option<Labels>,
    ) {
        self.surface.attach(Some(buffer), 0, 0);
        let manager = globals.dmabufs.representation.as_ref();
        self.representation.set(manager, qh, &self.surface, labels);
        self.image
            .set(&globals.color_management, qh, &self.surface, labels);
        self.planes = match &target.backing {
            Backing::Dmabuf(dmabuf) => Some(dmabuf.planes.len()),
            Backing::Shm { .. } => None,
        };
        // Not the customary largest rectangle: wlroots 0.15 scales damage by the viewport, and it overflows.
        let (w, h) = (target.size.w, target.size.h);
        self.surface.damage_buffer(0, 0, w as i32, h as i32);
    }

    /// Shows nothing any more.
    pub(crate) fn detach(&mut self) {
        self.surface.attach(None, 0, 0);
        self.representation.clear();
        self.image.clear();
        self.surface.commit();
    }

    /// Sets a new geometry; it takes effect when first this, then the parent is committed.
    pub(crate) fn place(&self, placement: SurfacePlacement) {
        self.subsurface.set_sync();
        let (x, y) = placement.position;
        self.subsurface.set_position(x, y);
        let (w, h) = placement.destination;
        self.viewport.set_destination(w, h);
        match placement.source {
            Some(s) => self.viewport.set_source(s.x, s.y, s.w, s.h),
            // All four -1: no source.
            None => self.viewport.set_source(-1.0, -1.0, -1.0, -1.0),
        }
        let transform = Transform::try_from(placement.transform).unwrap_or(Transform::Normal);
        self.surface.set_buffer_transform(transform);
    }

    /// Its commits take effect at once again.
    pub(crate) fn placed(&self) {
        self.subsurface.set_desync();
    }
}

impl Drop for PictureSurface {
    fn drop(&mut self) {
        // Before the surface, or it is inert.
        self.representation.clear();
        self.image.clear();
        self.sync = None;
        if let Some(feedback) = &self.feedback {
            feedback.destroy();
        }
        self.viewport.destroy();
        self.subsurface.destroy();
        self.surface.destroy();
    }
}
