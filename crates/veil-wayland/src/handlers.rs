//! What the compositor's events change: see [`Desktop`].

use crate::{
    buffer::{Quiet, no_events},
    desktop::{Desktop, Event},
    output::Output,
    surface::SurfaceId,
};
use smithay_client_toolkit::reexports::csd_frame::WindowState;
use smithay_client_toolkit::{
    compositor::CompositorHandler,
    delegate_dispatch2, delegate_registry,
    dispatch2::Dispatch2,
    output::{OutputHandler, OutputState},
    registry::{ProvidesRegistryState, RegistryState},
    registry_handlers,
    shell::{
        wlr_layer::{LayerShellHandler, LayerSurface, LayerSurfaceConfigure},
        xdg::window::{Window, WindowConfigure, WindowHandler},
    },
};
use std::num::NonZeroU32;
use veil_frame::Size;
use wayland_client::{
    Connection, QueueHandle,
    protocol::{
        wl_output::{Transform, WlOutput},
        wl_region::WlRegion,
        wl_surface::WlSurface,
    },
};
use wayland_protocols::wp::{
    color_representation::v1::client::wp_color_representation_surface_v1::WpColorRepresentationSurfaceV1,
    fractional_scale::v1::client::{
        wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1,
        wp_fractional_scale_v1::{self, WpFractionalScaleV1},
    },
    single_pixel_buffer::v1::client::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1,
    viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter},
};

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
        self.surfaces.remove(&id.into());
        if self.known.remove(&id).is_some() {
            self.push(Event::OutputRemoved(id));
        }
    }
}

impl Desktop {
    /// A surface was told its size.
    fn configured(&mut self, qh: &QueueHandle<Self>, id: SurfaceId, size: Size) {
        let Some(surface) = self.surfaces.get_mut(&id) else {
            return;
        };
        let before = surface.tree.logical();
        if let Err(error) = surface.tree.configure(&self.globals, qh, size) {
            tracing::warn!("cannot draw the background: {error}");
        }
        if before != Some(size) {
            self.push(Event::SurfaceConfigured(id, size));
        }
    }

    /// The window's scale became another.
    fn scaled(&mut self, size: Option<Size>) {
        if let Some(size) = size {
            self.push(Event::SurfaceConfigured(SurfaceId::Window, size));
        }
    }
}

impl LayerShellHandler for Desktop {
    fn closed(&mut self, _: &Connection, _: &QueueHandle<Self>, layer: &LayerSurface) {
        let found = self
            .surfaces
            .iter()
            .find(|(_, surface)| surface.is_layer(layer))
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
        let found = self
            .surfaces
            .iter()
            .find(|(_, surface)| surface.is_layer(layer))
            .map(|(id, _)| *id);
        let Some(id @ SurfaceId::Wallpaper(output)) = found else {
            return;
        };
        let (w, h) = configure.new_size;
        let mut size = Size::new(w, h);
        if size.is_empty() {
            // The compositor leaves the size to the client: all of the output.
            let Some(output) = self.known.get(&output) else {
                return;
            };
            size = output.logical;
        }
        self.configured(qh, id, size);
    }
}

impl WindowHandler for Desktop {
    fn request_close(&mut self, _: &Connection, _: &QueueHandle<Self>, window: &Window) {
        let id = SurfaceId::Window;
        if self
            .surfaces
            .get(&id)
            .is_some_and(|surface| surface.is_window(window))
        {
            self.surfaces.remove(&id);
            self.push(Event::SurfaceClosed(id));
        }
    }

    fn configure(
        &mut self,
        _: &Connection,
        qh: &QueueHandle<Self>,
        window: &Window,
        configure: WindowConfigure,
        _: u32,
    ) {
        let id = SurfaceId::Window;
        let surface = self.surfaces.get_mut(&id);
        let Some(surface) = surface.filter(|surface| surface.is_window(window)) else {
            return;
        };
        // What the compositor leaves open: the size of the window by itself, no larger than there is room.
        let free = surface.wanted().unwrap_or_default();
        let bounds = configure.suggested_bounds.unwrap_or_default();
        let side = |told: Option<NonZeroU32>, free: u32, bound: u32| match (told, bound) {
            (Some(told), _) => told.get(),
            (None, 0) => free.max(1),
            (None, bound) => free.clamp(1, bound),
        };
        let (w, h) = configure.new_size;
        let size = Size::new(side(w, free.w, bounds.0), side(h, free.h, bounds.1));
        let filling = WindowState::MAXIMIZED | WindowState::FULLSCREEN | WindowState::TILED;
        if !configure.state.intersects(filling) {
            surface.remember(size);
        }
        self.configured(qh, id, size);
    }
}

impl CompositorHandler for Desktop {
    fn scale_factor_changed(&mut self, _: &Connection, _: &QueueHandle<Self>, of: &WlSurface, factor: i32) {
        let whole = u32::try_from(factor).unwrap_or(1).saturating_mul(120);
        if let Some(window) = self.surfaces.get_mut(&SurfaceId::Window)
            && window.tree.is_parent(of)
            && window.set_scale(whole, true)
        {
            let size = window.tree.logical();
            self.scaled(size);
        }
    }

    fn transform_changed(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: Transform) {}
    fn frame(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: u32) {}
    fn surface_enter(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: &WlOutput) {}
    fn surface_leave(&mut self, _: &Connection, _: &QueueHandle<Self>, _: &WlSurface, _: &WlOutput) {}
}

impl Dispatch2<WpFractionalScaleV1, Desktop> for Quiet {
    fn event(
        &self,
        desktop: &mut Desktop,
        object: &WpFractionalScaleV1,
        event: wp_fractional_scale_v1::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        let wp_fractional_scale_v1::Event::PreferredScale { scale } = event else {
            return;
        };
        if let Some(window) = desktop.surfaces.get_mut(&SurfaceId::Window)
            && window.is_scaled_by(object)
            && window.set_scale(scale, false)
        {
            let size = window.tree.logical();
            desktop.scaled(size);
        }
    }
}

impl ProvidesRegistryState for Desktop {
    fn registry(&mut self) -> &mut RegistryState {
        &mut self.registry
    }

    registry_handlers![OutputState];
}

delegate_dispatch2!(Desktop);
delegate_registry!(Desktop);

no_events!(
    WlRegion,
    WpViewport,
    WpViewporter,
    WpFractionalScaleManagerV1,
    WpColorRepresentationSurfaceV1,
    WpSinglePixelBufferManagerV1,
);
