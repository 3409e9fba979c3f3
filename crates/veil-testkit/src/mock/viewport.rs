//! `wp_viewporter` and `wp_fractional_scale_manager_v1`.

use wayland_protocols::wp::fractional_scale::v1::server::{
    wp_fractional_scale_manager_v1::{self, WpFractionalScaleManagerV1},
    wp_fractional_scale_v1::{self, WpFractionalScaleV1},
};
use wayland_protocols::wp::viewporter::server::{
    wp_viewport::{self, WpViewport},
    wp_viewporter::{self, WpViewporter},
};
use wayland_server::backend::ClientId;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::record::SurfaceId;
use super::state::State;
use super::surface::surface_id;

impl Dispatch<WpViewporter, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WpViewporter,
        request: wp_viewporter::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let wp_viewporter::Request::GetViewport { id, surface } = request {
            init.init(id, surface_id(&surface));
        }
    }
}

impl Dispatch<WpViewport, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        viewport: &WpViewport,
        request: wp_viewport::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let Some(node) = state.surfaces.get_mut(id) else {
            return;
        };
        match request {
            wp_viewport::Request::SetSource { x, y, width, height } => {
                let source = [x, y, width, height];
                let none = source == [-1.0; 4];
                if !none && (x < 0.0 || y < 0.0 || width <= 0.0 || height <= 0.0) {
                    viewport.post_error(wp_viewport::Error::BadValue, format!("the source {source:?}"));
                }
                node.pending.source = Some((!none).then_some(source));
            }
            wp_viewport::Request::SetDestination { width, height } => {
                let none = (width, height) == (-1, -1);
                if !none && (width <= 0 || height <= 0) {
                    viewport.post_error(
                        wp_viewport::Error::BadValue,
                        format!("the destination {width}x{height}"),
                    );
                }
                node.pending.destination = Some((!none).then_some((width, height)));
            }
            wp_viewport::Request::Destroy => {
                node.pending.source = Some(None);
                node.pending.destination = Some(None);
            }
            _ => {}
        }
    }
}

impl Dispatch<WpFractionalScaleManagerV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &WpFractionalScaleManagerV1,
        request: wp_fractional_scale_manager_v1::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let wp_fractional_scale_manager_v1::Request::GetFractionalScale { id, surface } = request {
            let surface = surface_id(&surface);
            let scale = init.init(id, surface);
            if let Some(node) = state.surfaces.get_mut(&surface) {
                node.fractional = Some(scale);
            }
            state.tell_scale(surface);
        }
    }
}

impl State {
    /// Tells a surface the scale of its output, if it wants to know and is on one.
    pub(super) fn tell_scale(&self, id: SurfaceId) {
        let screen = self.output_of(id).and_then(|name| self.screen(name));
        let fractional = self.surfaces.get(&id).and_then(|node| node.fractional.as_ref());
        if let (Some(screen), Some(fractional)) = (screen, fractional) {
            fractional.preferred_scale((screen.spec.scale * 120.0).round() as u32);
        }
    }
}

impl Dispatch<WpFractionalScaleV1, SurfaceId> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WpFractionalScaleV1,
        _: wp_fractional_scale_v1::Request,
        _: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }

    fn destroyed(state: &mut Self, _: ClientId, _: &WpFractionalScaleV1, id: &SurfaceId) {
        if let Some(node) = state.surfaces.get_mut(id) {
            node.fractional = None;
        }
    }
}
