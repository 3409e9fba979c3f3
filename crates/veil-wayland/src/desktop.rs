//! The outputs and veil's surfaces on them: what Wayland's events change.
//!
//! Event handlers only write down what happened; whoever drives the loop takes the [`Event`]s when the dispatch is
//! over. So no handler calls back into the rest of veil, and nothing is changed while the queue is being read.

use crate::{
    buffer::Quiet,
    output::{Output, OutputId},
    presentation::{PresentationGlobal, Witness},
    surface::{Content, SurfaceError, WallpaperSurface},
};
use smithay_client_toolkit::{
    compositor::{CompositorHandler, CompositorState},
    delegate_dispatch2, delegate_registry,
    dispatch2::Dispatch2,
    output::{OutputHandler, OutputState},
    registry::{ProvidesRegistryState, RegistryState},
    registry_handlers,
    shell::wlr_layer::{LayerShell, LayerShellHandler, LayerSurface, LayerSurfaceConfigure},
    subcompositor::SubcompositorState,
};
use std::collections::{BTreeMap, VecDeque};
use veil_frame::{Rgb, Shown, Size};
use wayland_client::{
    Connection, Proxy, QueueHandle,
    globals::GlobalList,
    protocol::{
        wl_output::{Transform, WlOutput},
        wl_region::{self, WlRegion},
        wl_shm::WlShm,
        wl_surface::WlSurface,
    },
};
use wayland_protocols::wp::{
    presentation_time::client::wp_presentation::WpPresentation,
    single_pixel_buffer::v1::client::wp_single_pixel_buffer_manager_v1::{
        self, WpSinglePixelBufferManagerV1,
    },
    viewporter::client::{
        wp_viewport::{self, WpViewport},
        wp_viewporter::{self, WpViewporter},
    },
};

/// What happened on the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An output is there, and all is known of it.
    OutputAdded(OutputId),
    /// Its mode, scale, transform or name changed.
    OutputChanged(OutputId),
    /// It is gone; a surface on it is destroyed already.
    OutputRemoved(OutputId),
    /// veil's surface on this output got this logical size, for the first time or a new one. What it shows must be
    /// shown again.
    SurfaceConfigured(OutputId, Size),
    /// The compositor took the surface away; it is destroyed already.
    SurfaceClosed(OutputId),
    /// What became of the commit with this token.
    Presented {
        /// Where.
        output: OutputId,
        /// The number given to [`Desktop::show`].
        token: u64,
        /// When, if ever.
        shown: Shown,
    },
}

/// What the compositor offers.
#[derive(Debug)]
pub(crate) struct Globals {
    pub(crate) compositor: CompositorState,
    pub(crate) subcompositor: SubcompositorState,
    pub(crate) layer_shell: LayerShell,
    pub(crate) shm: WlShm,
    pub(crate) viewporter: WpViewporter,
    pub(crate) presentation: Option<WpPresentation>,
    pub(crate) single_pixel: Option<WpSinglePixelBufferManagerV1>,
}

impl Globals {
    /// Binds what veil uses; an error is the name of a missing interface.
    pub(crate) fn bind(globals: &GlobalList, qh: &QueueHandle<Desktop>) -> Result<Self, &'static str> {
        // First the one that decides: without it there is no place for a wallpaper.
        let layer_shell = LayerShell::bind(globals, qh).map_err(|_| "zwlr_layer_shell_v1")?;
        let compositor = CompositorState::bind(globals, qh).map_err(|_| "wl_compositor")?;
        if compositor.wl_compositor().version() < 4 {
            return Err("wl_compositor version 4 (wl_surface.damage_buffer)");
        }
        let subcompositor = SubcompositorState::bind(compositor.wl_compositor().clone(), globals, qh)
            .map_err(|_| "wl_subcompositor")?;
        Ok(Self {
            compositor,
            subcompositor,
            layer_shell,
            shm: globals.bind(qh, 1..=1, Quiet).map_err(|_| "wl_shm")?,
            viewporter: globals.bind(qh, 1..=1, Quiet).map_err(|_| "wp_viewporter")?,
            presentation: globals.bind(qh, 1..=1, PresentationGlobal).ok(),
            single_pixel: globals.bind(qh, 1..=1, Quiet).ok(),
        })
    }
}

/// The outputs, and veil's surfaces on them.
#[derive(Debug)]
pub struct Desktop {
    registry: RegistryState,
    outputs: OutputState,
    globals: Globals,
    qh: QueueHandle<Self>,
    known: BTreeMap<OutputId, Output>,
    surfaces: BTreeMap<OutputId, WallpaperSurface>,
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

    pub(crate) fn witness(&mut self, id: OutputId) -> Option<&mut Witness> {
        self.surfaces.get_mut(&id).map(WallpaperSurface::witness)
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

    /// Asks for a surface on an output, if there is none yet; [`Event::SurfaceConfigured`] says when it can be used.
    pub fn create_surface(&mut self, id: OutputId, namespace: &str, color: Rgb) {
        if self.surfaces.contains_key(&id) {
            return;
        }
        let Some(wl_output) = self.wl_output(id) else {
            return;
        };
        let surface = WallpaperSurface::new(&self.globals, &self.qh, (id, &wl_output), namespace, color);
        self.surfaces.insert(id, surface);
    }

    /// Destroys the surface on an output, if there is one.
    pub fn destroy_surface(&mut self, id: OutputId) {
        self.surfaces.remove(&id);
    }

    /// The logical size of the surface on this output; `None` while there is none, or none that was configured.
    pub fn surface_size(&self, id: OutputId) -> Option<Size> {
        self.surfaces.get(&id)?.logical()
    }

    /// Shows a picture on an output. [`Event::Presented`] with this token says what became of it.
    ///
    /// False, and nothing done, while the surface waits for its size, or if no pixel of the picture would be seen.
    ///
    /// # Errors
    /// [`SurfaceError`] when there is no surface or the picture's memory cannot be shown.
    pub fn show(&mut self, id: OutputId, content: &Content, token: u64) -> Result<bool, SurfaceError> {
        let surface = self.surfaces.get_mut(&id).ok_or(SurfaceError::NoSurface)?;
        let pixels = self.known.get(&id).ok_or(SurfaceError::NoSurface)?.pixels;
        surface.show(&self.globals, &self.qh, content, pixels, token)
    }

    /// Changes the colour of the parts where no picture is.
    ///
    /// # Errors
    /// [`SurfaceError::Memory`] when there is none for a pixel.
    pub fn set_background(&mut self, id: OutputId, color: Rgb) -> Result<(), SurfaceError> {
        match self.surfaces.get_mut(&id) {
            Some(surface) => surface.set_color(&self.globals, &self.qh, color),
            None => Ok(()),
        }
    }

    /// Takes the picture off an output; the background colour remains.
    pub fn clear(&mut self, id: OutputId) {
        if let Some(surface) = self.surfaces.get_mut(&id) {
            surface.clear();
        }
    }

    /// Destroys buffers whose targets are gone: to be called when a stream of pictures has ended.
    pub fn forget_gone_targets(&mut self) {
        for surface in self.surfaces.values_mut() {
            surface.forget_gone();
        }
    }

    fn wl_output(&self, id: OutputId) -> Option<WlOutput> {
        self.outputs
            .outputs()
            .find(|output| self.outputs.info(output).is_some_and(|info| info.id == id.0))
    }

    fn id_of(&self, output: &WlOutput) -> Option<OutputId> {
        self.outputs.info(output).map(|info| OutputId(info.id))
    }
}

impl OutputHandler for Desktop {
    fn output_state(&mut self) -> &mut OutputState {
        &mut self.outputs
    }

    fn new_output(&mut self, _: &Connection, _: &QueueHandle<Self>, output: WlOutput) {
        let Some(info) = self.outputs.info(&output) else {
            return;
        };
        let output = Output::from_info(&info);
        let id = output.id;
        self.known.insert(id, output);
        self.push(Event::OutputAdded(id));
    }

    fn update_output(&mut self, _: &Connection, _: &QueueHandle<Self>, output: WlOutput) {
        let Some(info) = self.outputs.info(&output) else {
            return;
        };
        let output = Output::from_info(&info);
        let id = output.id;
        // `done` also follows things that do not matter here; those make no event.
        match self.known.insert(id, output.clone()) {
            Some(before) if before == output => {}
            Some(_) => self.push(Event::OutputChanged(id)),
            None => self.push(Event::OutputAdded(id)),
        }
    }

    fn output_destroyed(&mut self, _: &Connection, _: &QueueHandle<Self>, output: WlOutput) {
        let Some(id) = self.id_of(&output) else { return };
        self.surfaces.remove(&id);
        if self.known.remove(&id).is_some() {
            self.push(Event::OutputRemoved(id));
        }
    }
}

impl LayerShellHandler for Desktop {
    fn closed(&mut self, _: &Connection, _: &QueueHandle<Self>, layer: &LayerSurface) {
        let found = self
            .surfaces
            .iter()
            .find(|(_, surface)| surface.is(layer))
            .map(|(id, _)| *id);
        if let Some(id) = found {
            self.surfaces.remove(&id);
            self.push(Event::SurfaceClosed(id));
        }
    }

    fn configure(
        &mut self,
        _: &Connection,
        qh: &QueueHandle<Self>,
        layer: &LayerSurface,
        configure: LayerSurfaceConfigure,
        _: u32,
    ) {
        let found = self.surfaces.iter_mut().find(|(_, surface)| surface.is(layer));
        let Some((&id, surface)) = found else { return };
        let (w, h) = configure.new_size;
        let mut size = Size::new(w, h);
        if size.is_empty() {
            // The compositor leaves the size to the client: all of the output.
            let Some(output) = self.known.get(&id) else { return };
            let scale = output.integer_scale.max(1);
            size = Size::new((output.pixels.w / scale).max(1), (output.pixels.h / scale).max(1));
        }
        let before = surface.logical();
        if let Err(error) = surface.configure(&self.globals, qh, size) {
            tracing::warn!("cannot draw the background: {error}");
        }
        if before != Some(size) {
            self.push(Event::SurfaceConfigured(id, size));
        }
    }
}

impl CompositorHandler for Desktop {
    fn scale_factor_changed(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: i32) {}
    fn transform_changed(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: Transform) {}
    fn frame(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: u32) {}
    fn surface_enter(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: &WlOutput) {}
    fn surface_leave(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: &WlOutput) {}
}

impl ProvidesRegistryState for Desktop {
    fn registry(&mut self) -> &mut RegistryState {
        &mut self.registry
    }

    registry_handlers![OutputState];
}

delegate_dispatch2!(Desktop);
delegate_registry!(Desktop);

macro_rules! no_events {
    ($($interface:ty => $event:ty),+ $(,)?) => {
        $(impl Dispatch2<$interface, Desktop> for Quiet {
            fn event(&self, _: &mut Desktop, _: &$interface, _: $event, _: &Connection, _: &QueueHandle<Desktop>) {}
        })+
    };
}

no_events! {
    WlRegion => wl_region::Event,
    WpViewport => wp_viewport::Event,
    WpViewporter => wp_viewporter::Event,
    WpSinglePixelBufferManagerV1 => wp_single_pixel_buffer_manager_v1::Event,
}
