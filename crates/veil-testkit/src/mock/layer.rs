//! `zwlr_layer_shell_v1`.

use wayland_protocols_wlr::layer_shell::v1::server::{
    zwlr_layer_shell_v1::{self, ZwlrLayerShellV1},
    zwlr_layer_surface_v1::{self, ZwlrLayerSurfaceV1},
};
use wayland_server::backend::ClientId;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum};

use super::node::Handle;
use super::output::Named;
use super::record::{Layer, Role, SurfaceId};
use super::state::State;
use super::surface::surface_id;

impl Dispatch<ZwlrLayerShellV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        shell: &ZwlrLayerShellV1,
        request: zwlr_layer_shell_v1::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let zwlr_layer_shell_v1::Request::GetLayerSurface {
            id,
            surface,
            output,
            layer,
            namespace,
        } = request
        else {
            return;
        };
        let surface = surface_id(&surface);
        let resource = init.init(id, surface);
        let named = output.and_then(|output| output.data::<Named>().map(|name| name.0.clone()));
        let output = named
            .or_else(|| state.screens.first().map(|screen| screen.spec.name.clone()))
            .unwrap_or_default();
        let gone = state.screen(&output).is_none();
        let Some(node) = state.surfaces.get_mut(&surface) else {
            return;
        };
        if node.role != Role::None || node.buffer.is_some() {
            shell.post_error(
                zwlr_layer_shell_v1::Error::Role,
                "the surface has a role or a buffer already",
            );
            return;
        }
        node.role = Role::Layer(Layer {
            output,
            namespace,
            layer: match layer {
                WEnum::Value(layer) => layer.into(),
                WEnum::Unknown(number) => number,
            },
            closed: gone,
            ..Layer::default()
        });
        if gone {
            // The output went before the client knew.
            resource.closed();
        }
        node.handle = Some(Handle::Layer(resource));
        state.tell_scale(surface);
    }
}

impl Dispatch<ZwlrLayerSurfaceV1, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        resource: &ZwlrLayerSurfaceV1,
        request: zwlr_layer_surface_v1::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let Some(node) = state.surfaces.get_mut(id) else {
            return;
        };
        if let zwlr_layer_surface_v1::Request::AckConfigure { serial } = request {
            if !node.acknowledge(serial) {
                let text = format!("there was no configure {serial}");
                resource.post_error(zwlr_layer_surface_v1::Error::InvalidSurfaceState, text);
            }
            return;
        }
        let Role::Layer(layer) = &mut node.role else {
            return;
        };
        match request {
            zwlr_layer_surface_v1::Request::SetSize { width, height } => layer.size = (width, height),
            zwlr_layer_surface_v1::Request::SetAnchor {
                anchor: WEnum::Value(anchor),
            } => layer.anchor = anchor.bits(),
            zwlr_layer_surface_v1::Request::SetExclusiveZone { zone } => layer.exclusive_zone = zone,
            zwlr_layer_surface_v1::Request::SetKeyboardInteractivity {
                keyboard_interactivity: WEnum::Value(keyboard),
            } => layer.keyboard = keyboard.into(),
            zwlr_layer_surface_v1::Request::SetLayer {
                layer: WEnum::Value(number),
            } => layer.layer = number.into(),
            _ => {}
        }
    }

    fn destroyed(state: &mut Self, _: ClientId, _: &ZwlrLayerSurfaceV1, id: &SurfaceId) {
        if let Some(node) = state.surfaces.get_mut(id) {
            // The wl_surface may live on, but never again as anything else: `None` here means that it is not seen.
            node.role = Role::None;
            node.handle = None;
        }
    }
}
