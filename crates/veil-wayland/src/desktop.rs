//! The outputs and veil's surfaces: what Wayland's events change.
//!
//! Event handlers only write down what happened; whoever drives the loop takes the [`Event`]s when the dispatch is
//! over. So no handler calls back into the rest of veil, and nothing is changed while the queue is being read.

use crate::{
    globals::Globals,
    output::{Output, OutputId},
    pace::{Held, refresh_period},
    presentation::Witness,
    surface::{Content, Placed, SurfaceError, SurfaceId, VeilSurface, WindowSettings},
    sync::SyncDevice,
    tree::Commit,
};
use drm_fourcc::DrmFormat;
use smithay_client_toolkit::{output::OutputState, registry::RegistryState, shell::wlr_layer::Layer};
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};
use veil_frame::{DmabufSupport, Rgb, Shown, Size};
use wayland_client::{QueueHandle, globals::GlobalList, protocol::wl_output::WlOutput};

/// What happened on the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An output is there, and all is known of it.
    OutputAdded(OutputId),
    /// Its mode, scale, transform or name changed.
    OutputChanged(OutputId),
    /// It is gone; a surface on it is destroyed already.
    OutputRemoved(OutputId),
    /// A surface got this logical size, for the first time or a new one, or another scale. What it shows must be shown
    /// again.
    SurfaceConfigured(SurfaceId, Size),
    /// The compositor took the surface away, or the user closed the window; it is destroyed already.
    SurfaceClosed(SurfaceId),
    /// What a surface takes in dmabufs is another than before: [`Desktop::dmabuf_support`].
    SupportChanged(SurfaceId),
    /// The compositor does not take a dmabuf of a format and modifier that it had listed. It counts as not listed from now
    /// on; the picture was not shown.
    BufferRejected {
        /// Where it was to be shown.
        surface: SurfaceId,
        /// What is not taken.
        format: DrmFormat,
    },
    /// What became of the commit with this token.
    Presented {
        /// Where.
        surface: SurfaceId,
        /// The number given to [`Desktop::show`].
        token: u64,
        /// When, if ever.
        shown: Shown,
    },
}

/// The outputs, and veil's surfaces.
#[derive(Debug)]
pub struct Desktop {
    pub(crate) registry: RegistryState,
    pub(crate) outputs: OutputState,
    pub(crate) globals: Globals,
    qh: QueueHandle<Self>,
    pub(crate) known: BTreeMap<OutputId, Output>,
    pub(crate) surfaces: BTreeMap<SurfaceId, VeilSurface>,
    events: VecDeque<Event>,
}

impl Desktop {
    pub(crate) fn new(list: &GlobalList, qh: &QueueHandle<Self>, globals: Globals) -> Self {
        Self {
            registry: RegistryState::new(list),
            outputs: OutputState::new(list, qh),
            globals,
            qh: qh.clone(),
            known: BTreeMap::new(),
            surfaces: BTreeMap::new(),
            events: VecDeque::new(),
        }
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.events.push_back(event);
    }

    pub(crate) fn witness(&mut self, id: SurfaceId) -> Option<&mut Witness> {
        self.surfaces.get_mut(&id).map(|surface| surface.tree.witness())
    }

    /// A frame callback came on a surface: what waits there is committed.
    pub(crate) fn answered(&mut self, id: SurfaceId, token: u64) {
        let Some(surface) = self.surfaces.get_mut(&id) else {
            return;
        };
        if let Err(error) = surface.tree.answered(&self.globals, &self.qh, token) {
            tracing::warn!("cannot show the picture: {error}");
        }
    }

    pub(crate) fn give_up(&mut self, surface: SurfaceId, held: Option<Held>) {
        if let Some(held) = held {
            let (token, shown) = (held.token, Shown::Never);
            self.push(Event::Presented {
                surface,
                token,
                shown,
            });
        }
    }

    /// The oldest event not yet taken.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The outputs that are there, oldest first.
    pub fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.known.values()
    }

    /// One of them.
    pub fn output(&self, id: OutputId) -> Option<&Output> {
        self.known.get(&id)
    }

    /// Asks for a wallpaper on an output, if there is none yet; [`Event::SurfaceConfigured`] says when it can be used.
    pub fn create_surface(&mut self, id: OutputId, layer: Layer, namespace: &str, color: Rgb) {
        if self.surfaces.contains_key(&id.into()) {
            return;
        }
        let Some(wl_output) = self.wl_output(id) else {
            return;
        };
        let as_what = (layer, namespace);
        if let Some(surface) =
            VeilSurface::wallpaper(&self.globals, &self.qh, (id, &wl_output), as_what, color)
        {
            self.surfaces.insert(id.into(), surface);
        }
    }

    /// Asks for the window, if there is none yet; [`Event::SurfaceConfigured`] says when it can be used. `on` is the
    /// output that it should fill, if it is to fill one.
    pub fn create_window(&mut self, settings: &WindowSettings, on: Option<OutputId>) {
        if self.surfaces.contains_key(&SurfaceId::Window) {
            return;
        }
        let on = on.and_then(|id| self.wl_output(id));
        if let Some(surface) = VeilSurface::window(&self.globals, &self.qh, settings, on.as_ref()) {
            self.surfaces.insert(SurfaceId::Window, surface);
        }
    }

    /// Makes the window fill an output, or not any more.
    pub fn set_fullscreen(&mut self, fullscreen: bool, on: Option<OutputId>) {
        let on = on.and_then(|id| self.wl_output(id));
        if let Some(surface) = self.surfaces.get(&SurfaceId::Window) {
            surface.set_fullscreen(fullscreen, on.as_ref());
        }
    }

    /// Destroys a surface, if it is there.
    pub fn destroy_surface(&mut self, id: impl Into<SurfaceId>) {
        self.surfaces.remove(&id.into());
    }

    /// Whether there is such a surface, configured or not.
    pub fn has_surface(&self, id: impl Into<SurfaceId>) -> bool {
        self.surfaces.contains_key(&id.into())
    }

    /// The logical size of a surface; `None` while there is none, or none that was configured.
    pub fn surface_size(&self, id: impl Into<SurfaceId>) -> Option<Size> {
        self.surfaces.get(&id.into())?.tree.logical()
    }

    /// Pixels of the screen that a surface covers: all of its output, or what the window's size and scale make.
    pub fn surface_pixels(&self, id: impl Into<SurfaceId>) -> Option<Size> {
        match id.into() {
            SurfaceId::Wallpaper(output) => self.known.get(&output).map(|output| output.pixels),
            SurfaceId::Window => self.surfaces.get(&SurfaceId::Window)?.window_pixels(),
        }
    }

    /// Whether pictures wait for the compositor to take the ones before: then its descriptor must be watched.
    pub fn holds_pictures(&self) -> bool {
        self.surfaces.values().any(|surface| surface.tree.holds())
    }

    /// Shows a picture on a surface, at once or as soon as the compositor has taken the one before.
    /// [`Event::Presented`] with this token says what became of it.
    ///
    /// # Errors
    /// [`SurfaceError`] when there is no surface or the picture's memory cannot be shown.
    pub fn show(
        &mut self,
        id: impl Into<SurfaceId>,
        content: &Content,
        token: u64,
    ) -> Result<Placed, SurfaceError> {
        let id = id.into();
        let commit = Commit {
            pixels: self.surface_pixels(id).unwrap_or_default(),
            refresh: self.refresh(id),
            token,
        };
        let surface = self.surfaces.get_mut(&id).ok_or(SurfaceError::NoSurface)?;
        let (placed, given_up) = surface.tree.show(&self.globals, &self.qh, content, commit)?;
        self.give_up(id, given_up);
        Ok(placed)
    }

    /// What a surface takes in dmabufs; of one that does not exist yet, what all take unless they say otherwise. `None` where
    /// the compositor takes none at all.
    pub fn dmabuf_support(&self, id: impl Into<SurfaceId>) -> Option<DmabufSupport> {
        let surface = self.surfaces.get(&id.into());
        let feedback = surface.and_then(|surface| surface.tree.feedback());
        let support = self.globals.dmabufs.support(feedback)?;
        Some(DmabufSupport {
            colours: self.globals.color_management.colours(),
            explicit_sync: self.globals.sync.is_used(),
            ..support
        })
    }

    /// Shows the picture that waited for its buffer on a surface.
    pub(crate) fn show_awaited(&mut self, id: SurfaceId) {
        let Some(surface) = self.surfaces.get_mut(&id) else {
            return;
        };
        let Some((held, commit)) = surface.tree.take_awaited() else {
            return;
        };
        match surface.tree.show(&self.globals, &self.qh, &held.content, commit) {
            Ok((Placed::Nowhere, given_up)) => {
                self.give_up(id, given_up);
                self.give_up(id, Some(held));
            }
            Ok((_, given_up)) => self.give_up(id, given_up),
            Err(error) => {
                tracing::warn!("cannot show the picture: {error}");
                self.give_up(id, Some(held));
            }
        }
    }

    /// Makes timelines for `wp_linux_drm_syncobj_v1` with this device, where the compositor has that, instead of its own
    /// device: for tests.
    pub fn use_sync_device(&mut self, device: Box<dyn SyncDevice>) {
        self.globals.sync.use_device(device);
    }

    /// Lets go of the targets whose release points were reached.
    pub(crate) fn take_releases(&mut self) {
        if self.globals.sync.take_event() {
            for surface in self.surfaces.values_mut() {
                surface.tree.take_releases();
            }
        }
    }

    fn refresh(&self, id: SurfaceId) -> Duration {
        let mhz = match id {
            SurfaceId::Wallpaper(output) => self.known.get(&output).map(|output| output.refresh_mhz),
            // On the fastest output that it may be on.
            SurfaceId::Window => self.known.values().map(|output| output.refresh_mhz).max(),
        };
        refresh_period(mhz.unwrap_or(0))
    }

    /// Changes the colour of the parts where no picture is.
    ///
    /// # Errors
    /// [`SurfaceError::Memory`] when there is none for a pixel.
    pub fn set_background(&mut self, id: impl Into<SurfaceId>, color: Rgb) -> Result<(), SurfaceError> {
        match self.surfaces.get_mut(&id.into()) {
            Some(surface) => surface.tree.set_color(&self.globals, &self.qh, color),
            None => Ok(()),
        }
    }

    /// Takes the picture off a surface; the background colour remains.
    pub fn clear(&mut self, id: impl Into<SurfaceId>) {
        let id = id.into();
        let held = self
            .surfaces
            .get_mut(&id)
            .and_then(|surface| surface.tree.clear());
        self.give_up(id, held);
    }

    /// Destroys buffers whose targets are gone: to be called when a stream of pictures has ended.
    pub fn forget_gone_targets(&mut self) {
        for surface in self.surfaces.values_mut() {
            surface.tree.forget_gone();
        }
    }

    fn wl_output(&self, id: OutputId) -> Option<WlOutput> {
        self.outputs
            .outputs()
            .find(|output| self.outputs.info(output).is_some_and(|info| info.id == id.0))
    }

    pub(crate) fn id_of(&self, output: &WlOutput) -> Option<OutputId> {
        self.outputs.info(output).map(|info| OutputId(info.id))
    }
}
