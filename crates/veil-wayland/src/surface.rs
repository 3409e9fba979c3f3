//! The tree of surfaces on one output.
//!
//! A layer surface on the background layer covers the output: one pixel in the background colour, stretched by a
//! viewport. On it lies a subsurface with the picture. The subsurface is desynchronised, so a new frame is one commit;
//! only when its geometry changes do both surfaces commit together. Both have empty input regions, so that clicks
//! reach whatever the compositor has below (the pointer of a KDE desktop, for one).

use crate::{
    buffer::{BufferError, Buffers, InFlight, Quiet},
    desktop::{Desktop, Globals},
    memory::{MemoryError, SharedMemory},
    output::OutputId,
    placement::{SurfacePlacement, surface_placement},
    presentation::{Asked, Witness},
};
use smithay_client_toolkit::{
    compositor::Surface,
    shell::{
        WaylandSurface,
        wlr_layer::{Anchor, KeyboardInteractivity, Layer, LayerSurface},
    },
};
use std::os::fd::AsFd;
use veil_frame::{FitMode, Presentable, Rgb, Size, TargetPlan};
use wayland_client::{
    QueueHandle,
    protocol::{
        wl_buffer::WlBuffer, wl_output::Transform, wl_output::WlOutput, wl_shm, wl_subsurface::WlSubsurface,
        wl_surface::WlSurface,
    },
};
use wayland_protocols::wp::viewporter::client::wp_viewport::WpViewport;

/// Something cannot be shown on a surface.
#[derive(Debug, thiserror::Error)]
pub enum SurfaceError {
    /// There is no surface on this output.
    #[error("veil has no surface on this output")]
    NoSurface,
    /// The target cannot become a buffer.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// There is no memory for the background.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// A picture and how it is fitted.
#[derive(Clone, Debug)]
pub struct Content {
    /// The picture.
    pub presentable: Presentable,
    /// How it is fitted to the output.
    pub mode: FitMode,
}

/// What the placement was computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Basis {
    plan: TargetPlan,
    mode: FitMode,
    pixels: Size,
    logical: Size,
}

#[derive(Debug)]
pub(crate) struct WallpaperSurface {
    output: OutputId,
    layer: LayerSurface,
    layer_viewport: WpViewport,
    subsurface: WlSubsurface,
    picture: WlSurface,
    picture_viewport: WpViewport,
    buffers: Buffers,
    /// The stretched pixel, and the one before, which the compositor may still read.
    background: Vec<WlBuffer>,
    color: Rgb,
    logical: Option<Size>,
    basis: Option<Basis>,
    placement: Option<SurfacePlacement>,
    witness: Witness,
}

impl WallpaperSurface {
    /// Asks for the surface; it shows nothing until it was configured.
    pub(crate) fn new(
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        output: (OutputId, &WlOutput),
        namespace: &str,
        color: Rgb,
    ) -> Self {
        let (id, wl_output) = output;
        let surface = globals.compositor.create_surface(qh);
        let layer_viewport = globals.viewporter.get_viewport(&surface, qh, Quiet);
        let layer = globals.layer_shell.create_layer_surface(
            qh,
            Surface::from(surface.clone()),
            Layer::Background,
            Some(namespace),
            Some(wl_output),
        );
        let nowhere = globals.compositor.wl_compositor().create_region(qh, Quiet);
        surface.set_input_region(Some(&nowhere));
        layer.set_anchor(Anchor::all());
        layer.set_exclusive_zone(-1);
        layer.set_keyboard_interactivity(KeyboardInteractivity::None);
        layer.commit();
        // Only now: sway 1.7 knows the layer surface from its first commit on, and hears of commits of just those
        // subsurfaces that are made later.
        let (subsurface, picture) = globals.subcompositor.create_subsurface(surface, qh);
        let picture_viewport = globals.viewporter.get_viewport(&picture, qh, Quiet);
        subsurface.set_desync();
        picture.set_input_region(Some(&nowhere));
        nowhere.destroy();
        Self {
            output: id,
            layer,
            layer_viewport,
            subsurface,
            picture,
            picture_viewport,
            buffers: Buffers::default(),
            background: Vec::new(),
            color,
            logical: None,
            basis: None,
            placement: None,
            witness: Witness::new(globals.presentation.is_some()),
        }
    }

    pub(crate) fn is(&self, layer: &LayerSurface) -> bool {
        self.layer == *layer
    }

    /// Whose word counts on when a commit was shown.
    pub(crate) fn witness(&mut self) -> &mut Witness {
        &mut self.witness
    }

    pub(crate) fn logical(&self) -> Option<Size> {
        self.logical
    }

    /// The compositor gave the surface this logical size.
    pub(crate) fn configure(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        size: Size,
    ) -> Result<(), SurfaceError> {
        if self.logical != Some(size) {
            self.logical = Some(size);
            self.layer_viewport.set_destination(size.w as i32, size.h as i32);
        }
        if self.background.is_empty() {
            self.draw_background(globals, qh)?;
        }
        // Also where nothing changed: the acknowledgement takes effect with a commit.
        self.layer.commit();
        Ok(())
    }

    /// Changes the colour where no picture is.
    pub(crate) fn set_color(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        color: Rgb,
    ) -> Result<(), SurfaceError> {
        if self.color == color {
            return Ok(());
        }
        self.color = color;
        if self.logical.is_some() {
            self.draw_background(globals, qh)?;
            self.layer.commit();
        }
        Ok(())
    }

    fn draw_background(&mut self, globals: &Globals, qh: &QueueHandle<Desktop>) -> Result<(), SurfaceError> {
        let buffer = match &globals.single_pixel {
            Some(manager) => {
                // The whole range of 32 bits stands for 0 to 1.
                let wide = |byte: u8| u32::from(byte) * 0x0101_0101;
                let Rgb { r, g, b } = self.color;
                let buffer = InFlight::default();
                manager.create_u32_rgba_buffer(wide(r), wide(g), wide(b), u32::MAX, qh, buffer)
            }
            None => {
                let mut memory = SharedMemory::new(4)?;
                memory
                    .bytes_mut()
                    .copy_from_slice(&self.color.xrgb8888().to_le_bytes());
                let pool = globals.shm.create_pool(memory.as_fd(), 4, qh, Quiet);
                let buffer =
                    pool.create_buffer(0, 1, 1, 4, wl_shm::Format::Xrgb8888, qh, InFlight::default());
                pool.destroy();
                buffer
            }
        };
        let surface = self.layer.wl_surface();
        surface.attach(Some(&buffer), 0, 0);
        surface.damage_buffer(0, 0, 1, 1);
        self.background.push(buffer);
        while self.background.len() > 2 {
            self.background.remove(0).destroy();
        }
        Ok(())
    }

    /// Attaches a picture and commits it; whether it is on the screen, and when, comes later under this token.
    ///
    /// False, and nothing done, while the surface is not configured or nothing of the picture would be seen.
    pub(crate) fn show(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        content: &Content,
        pixels: Size,
        token: u64,
    ) -> Result<bool, SurfaceError> {
        let Some(logical) = self.logical else {
            return Ok(false);
        };
        let basis = Basis {
            plan: content.presentable.plan,
            mode: content.mode,
            pixels,
            logical,
        };
        let moved = self.basis != Some(basis);
        if moved {
            let placement = surface_placement(&basis.plan, basis.mode, pixels, logical);
            let Some(placement) = placement else {
                return Ok(false);
            };
            self.basis = Some(basis);
            if self.placement != Some(placement) {
                self.place(placement);
            }
        }
        let buffer = self.buffers.hold(&globals.shm, qh, &content.presentable.target)?;
        self.picture.attach(Some(buffer), 0, 0);
        // Not the customary largest rectangle: wlroots 0.15 scales damage by the viewport, and it overflows.
        let Size { w, h } = content.presentable.target.target().size;
        self.picture.damage_buffer(0, 0, w as i32, h as i32);
        let asked = Asked {
            output: self.output,
            token,
        };
        if let Some(presentation) = globals
            .presentation
            .as_ref()
            .filter(|_| self.witness.asks_feedback())
        {
            presentation.feedback(&self.picture, qh, asked);
        }
        if self.witness.asks_callback() {
            self.picture.frame(qh, asked);
        }
        self.picture.commit();
        if moved {
            self.layer.commit();
            self.subsurface.set_desync();
        }
        Ok(true)
    }

    /// Sets the new geometry; it takes effect when first the picture, then the layer surface is committed.
    fn place(&mut self, placement: SurfacePlacement) {
        self.subsurface.set_sync();
        let (x, y) = placement.position;
        self.subsurface.set_position(x, y);
        let (w, h) = placement.destination;
        self.picture_viewport.set_destination(w, h);
        match placement.source {
            Some(s) => self.picture_viewport.set_source(s.x, s.y, s.w, s.h),
            // All four -1: no source.
            None => self.picture_viewport.set_source(-1.0, -1.0, -1.0, -1.0),
        }
        let transform = Transform::try_from(placement.transform).unwrap_or(Transform::Normal);
        self.picture.set_buffer_transform(transform);
        self.placement = Some(placement);
    }

    /// Takes the picture away; the background colour remains.
    pub(crate) fn clear(&mut self) {
        self.picture.attach(None, 0, 0);
        self.picture.commit();
        self.basis = None;
    }

    /// Destroys the buffers of targets that are gone.
    pub(crate) fn forget_gone(&mut self) {
        self.buffers.forget_gone();
    }
}

impl Drop for WallpaperSurface {
    fn drop(&mut self) {
        self.picture_viewport.destroy();
        self.subsurface.destroy();
        self.picture.destroy();
        self.layer_viewport.destroy();
        for buffer in &self.background {
            buffer.destroy();
        }
        // The layer surface and its wl_surface destroy themselves, in the order that the protocol asks for.
    }
}
