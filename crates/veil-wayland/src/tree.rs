//! A surface in one colour, and on it a subsurface with the picture: what a wallpaper and a window have in common.
//!
//! The parent is a small buffer in the background colour, stretched by a viewport. The subsurface is desynchronised, so a new
//! picture is one commit; only when its geometry changes do both surfaces commit together.

use crate::{
    SurfaceId,
    buffer::{Buffers, InFlight, Maker, Quiet},
    desktop::Desktop,
    dmabuf::Feedback,
    globals::Globals,
    memory::{MemoryError, SharedMemory},
    pace::{Held, Pace},
    picture::PictureSurface,
    placement::{SurfacePlacement, surface_placement},
    presentation::{Asked, Witness},
    surface::{Content, Placed, SurfaceError},
};
use std::{
    os::fd::AsFd,
    time::{Duration, Instant},
};
use veil_frame::{Backing, FitMode, Presentable, Rgb, Size, TargetPlan};
use wayland_client::{
    QueueHandle,
    protocol::{wl_buffer::WlBuffer, wl_shm, wl_surface::WlSurface},
};
use wayland_protocols::wp::viewporter::client::wp_viewport::WpViewport;

/// Logical pixels that one pixel of a background in shared memory is stretched to, at most.
const STRETCH: u32 = 8;

/// A buffer in one colour for a surface of this size.
///
/// One pixel would do, were it not for pixman, by which a compositor without a GPU draws: it steps through the source in
/// 65 536ths of a pixel, and so leaves the source before the last row is drawn. Up to 8 192 rows, an eighth of the size
/// keeps the error below half a step.
fn background_buffer(
    globals: &Globals,
    qh: &QueueHandle<Desktop>,
    color: Rgb,
    size: Size,
) -> Result<WlBuffer, MemoryError> {
    let (w, h) = (size.w.div_ceil(STRETCH).max(1), size.h.div_ceil(STRETCH).max(1));
    let len = w as usize * h as usize * 4;
    let mut memory = SharedMemory::new(len)?;
    let pixel = color.xrgb8888().to_le_bytes();
    for bytes in memory.bytes_mut().chunks_exact_mut(4) {
        bytes.copy_from_slice(&pixel);
    }
    // A surface of 65 535 by 65 535 still fits.
    let pool = globals.shm.create_pool(memory.as_fd(), len as i32, qh, Quiet);
    let (w, h) = (w as i32, h as i32);
    let format = wl_shm::Format::Xrgb8888;
    let buffer = pool.create_buffer(0, w, h, w * 4, format, qh, InFlight::default());
    pool.destroy();
    Ok(buffer)
}

/// What the placement was computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Basis {
    plan: TargetPlan,
    mode: FitMode,
    pixels: Size,
    logical: Size,
}

/// A commit that is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commit {
    /// Pixels that the surface covers on the screen.
    pub(crate) pixels: Size,
    /// Time from one refresh of that screen to the next.
    pub(crate) refresh: Duration,
    /// Names the commit.
    pub(crate) token: u64,
}

/// The surface, its background, and the picture on it. The parent `wl_surface` itself belongs to its role.
#[derive(Debug)]
pub(crate) struct Tree {
    id: SurfaceId,
    parent: WlSurface,
    parent_viewport: WpViewport,
    picture: PictureSurface,
    buffers: Buffers,
    /// The stretched buffer, and the one before, which the compositor may still read.
    background: Vec<WlBuffer>,
    color: Rgb,
    logical: Option<Size>,
    basis: Option<Basis>,
    placement: Option<SurfacePlacement>,
    witness: Witness,
    pace: Pace,
    feedback: Option<Feedback>,
    /// A picture whose buffer the compositor has yet to make. While there is one, the pace holds none.
    awaited: Option<(Held, Commit)>,
}

impl Tree {
    /// Puts a subsurface on a surface. Only after the parent's first commit: sway 1.7 knows a layer surface from then on,
    /// and hears of commits of just those subsurfaces that are made later.
    pub(crate) fn new(
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        id: SurfaceId,
        parent: WlSurface,
        color: Rgb,
    ) -> Self {
        let parent_viewport = globals.viewporter.get_viewport(&parent, qh, Quiet);
        Self {
            id,
            picture: PictureSurface::new(globals, qh, id, &parent),
            parent,
            parent_viewport,
            buffers: Buffers::default(),
            background: Vec::new(),
            color,
            logical: None,
            basis: None,
            placement: None,
            witness: Witness::new(globals.presentation.is_some()),
            pace: Pace::default(),
            feedback: None,
            awaited: None,
        }
    }

    /// What the compositor says that the picture's surface takes in dmabufs.
    pub(crate) fn feedback(&self) -> Option<&Feedback> {
        self.feedback.as_ref()
    }

    /// It says so now; whether that is something else than before.
    pub(crate) fn set_feedback(&mut self, feedback: Feedback) -> bool {
        let changed = self.feedback.as_ref() != Some(&feedback);
        self.feedback = Some(feedback);
        changed
    }

    /// A buffer that was asked for is there.
    pub(crate) fn buffer_created(&mut self, target: u64, buffer: WlBuffer) {
        self.buffers.created(target, buffer);
    }

    /// A buffer that was asked for will never be there; gives back the picture that waits for it.
    pub(crate) fn buffer_rejected(&mut self, target: u64) -> Option<Held> {
        self.buffers.rejected(target);
        let (held, _) = self
            .awaited
            .take_if(|(held, _)| held.content.presentable.target.target().id == target)?;
        Some(held)
    }

    /// Takes the picture that waits for its buffer.
    pub(crate) fn take_awaited(&mut self) -> Option<(Held, Commit)> {
        self.awaited.take()
    }

    /// Whose word counts on when a commit was shown.
    pub(crate) fn witness(&mut self) -> &mut Witness {
        &mut self.witness
    }

    /// The size that the compositor gave, once it did.
    pub(crate) fn logical(&self) -> Option<Size> {
        self.logical
    }

    /// Whether this is the surface that everything lies on.
    pub(crate) fn is_parent(&self, surface: &WlSurface) -> bool {
        self.parent == *surface
    }

    /// Whether a picture waits for a frame callback, or for its buffer.
    pub(crate) fn holds(&self) -> bool {
        self.pace.holds() || self.awaited.is_some()
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
            self.parent_viewport.set_destination(size.w as i32, size.h as i32);
            self.draw_background(globals, qh)?;
        }
        // Also where nothing changed: the acknowledgement takes effect with a commit.
        self.parent.commit();
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
            self.parent.commit();
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
            None => background_buffer(globals, qh, self.color, self.logical.unwrap_or_default())?,
        };
        self.parent.attach(Some(&buffer), 0, 0);
        // More than the buffer has, and not the customary largest rectangle: see `commit`.
        self.parent.damage_buffer(0, 0, 4096, 4096);
        self.background.push(buffer);
        while self.background.len() > 2 {
            self.background.remove(0).destroy();
        }
        Ok(())
    }

    /// Shows a picture: at once, or when the compositor has taken the one before; whether it is on the screen, and when,
    /// comes later under its token. A picture that was still waiting is given back: it will never be shown.
    pub(crate) fn show(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        content: &Content,
        commit: Commit,
    ) -> Result<(Placed, Option<Held>), SurfaceError> {
        let Some(logical) = self.logical else {
            return Ok((Placed::Nowhere, None));
        };
        let maker = Maker {
            shm: &globals.shm,
            dmabufs: &globals.dmabufs,
            qh,
            surface: self.id,
            feedback: self.feedback.as_ref(),
        };
        let target = content.presentable.target.target();
        let ready = self.buffers.ready(maker, target)?;
        let before = self.awaited.take().map(|(held, _)| held);
        if !ready {
            let held = Held {
                content: content.clone(),
                token: commit.token,
            };
            self.awaited = Some((held, commit));
            return Ok((Placed::Held, before.or_else(|| self.pace.take())));
        }
        let basis = Basis {
            plan: content.presentable.plan,
            mode: content.mode,
            pixels: commit.pixels,
            logical,
        };
        let suits = self.picture.suits(target);
        let moved = self.basis != Some(basis) || !suits;
        let now = Instant::now();
        let fast = self.pace.is_fast(now, commit.refresh);
        if !moved && fast && self.pace.must_wait(now, commit.refresh) {
            return Ok((Placed::Held, before.or(self.pace.hold(content, commit.token))));
        }
        let mut outgoing = None;
        if moved {
            let placement = surface_placement(&basis.plan, basis.mode, basis.pixels, basis.logical);
            let Some(placement) = placement else {
                return Ok((Placed::Nowhere, before));
            };
            self.basis = Some(basis);
            if !suits {
                outgoing = Some(self.renew(globals, qh));
            }
            if self.placement != Some(placement) {
                self.picture.place(placement);
                self.placement = Some(placement);
            }
        }
        let given_up = before.or(self.pace.take());
        self.commit(globals, qh, content, commit.token, fast)?;
        self.pace.committed(commit.token, now, fast);
        if moved {
            self.parent.commit();
            self.picture.placed();
        }
        // Only now, or there would be nothing in between.
        drop(outgoing);
        Ok((Placed::Committed, given_up))
    }

    /// A frame callback came: what waited for it is committed.
    pub(crate) fn answered(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        token: u64,
    ) -> Result<(), SurfaceError> {
        if let Some(held) = self.pace.answered(token) {
            self.commit(globals, qh, &held.content, held.token, true)?;
            self.pace.committed(held.token, Instant::now(), true);
        }
        Ok(())
    }

    fn commit(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        content: &Content,
        token: u64,
        fast: bool,
    ) -> Result<(), SurfaceError> {
        if !self.attach_with_points(globals, qh, &content.presentable) {
            self.picture.set_no_points();
            let Presentable { target, labels, .. } = &content.presentable;
            let Some(buffer) = self.buffers.hold(target) else {
                debug_assert!(false, "a picture is committed only when its buffer is ready");
                return Ok(());
            };
            self.picture
                .attach(globals, qh, (target.target(), buffer), *labels);
        }
        let asked = Asked {
            surface: self.id,
            token,
        };
        if let Some(presentation) = globals
            .presentation
            .as_ref()
            .filter(|_| self.witness.asks_feedback())
        {
            presentation.feedback(self.picture.surface(), qh, asked);
        }
        if fast || self.witness.asks_callback() {
            self.picture.surface().frame(qh, asked);
        }
        self.picture.surface().commit();
        if globals.needs_parent {
            self.parent.commit();
        }
        Ok(())
    }

    /// Attaches a dmabuf with its fences beside it; false where that is not to be.
    fn attach_with_points(
        &mut self,
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        presentable: &Presentable,
    ) -> bool {
        let Presentable { target, labels, .. } = presentable;
        let is_dmabuf = matches!(target.target().backing, Backing::Dmabuf(_));
        if !is_dmabuf || !globals.sync.is_used() {
            return false;
        }
        let held = self.buffers.hold_until_point(&globals.sync, qh, target);
        let attached = held.and_then(|held| {
            let Some((buffer, release)) = held else {
                return Ok(false);
            };
            self.picture
                .set_points(&globals.sync, qh, target.target(), release)?;
            self.picture
                .attach(globals, qh, (target.target(), buffer), *labels);
            Ok(true)
        });
        attached.unwrap_or_else(|error| {
            globals.sync.give_up(&error);
            self.buffers.forget_point(target);
            false
        })
    }

    /// Lets go of the targets whose release points were reached.
    pub(crate) fn take_releases(&mut self) {
        self.buffers.take_releases();
    }

    /// Puts a new surface above that of the picture, and gives back the old one.
    fn renew(&mut self, globals: &Globals, qh: &QueueHandle<Desktop>) -> PictureSurface {
        let new = PictureSurface::new(globals, qh, self.id, &self.parent);
        self.placement = None;
        // No frame callback will come from the old one.
        self.pace.forget();
        // Weston (16) discards the first feedback of a surface, which it then shows.
        self.witness = Witness::new(globals.presentation.is_some());
        std::mem::replace(&mut self.picture, new)
    }

    /// Takes the picture away; the background colour remains. What waited is given back.
    pub(crate) fn clear(&mut self) -> Option<Held> {
        self.picture.detach();
        if self.logical.is_some() {
            // For compositors that otherwise draw nothing anew.
            self.parent.commit();
        }
        self.basis = None;
        let awaited = self.awaited.take().map(|(held, _)| held);
        awaited.or_else(|| self.pace.take())
    }

    /// Destroys the buffers of targets that are gone.
    pub(crate) fn forget_gone(&mut self) {
        self.buffers.forget_gone();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.parent_viewport.destroy();
        for buffer in &self.background {
            buffer.destroy();
        }
    }
}
