//! `wl_compositor` and `wl_subcompositor`: requests become pending changes.

use std::sync::{Mutex, PoisonError};

use wayland_server::backend::ClientId;
use wayland_server::protocol::{
    wl_callback::{self, WlCallback},
    wl_compositor::{self, WlCompositor},
    wl_region::{self, WlRegion},
    wl_subcompositor::{self, WlSubcompositor},
    wl_subsurface::{self, WlSubsurface},
    wl_surface::{self, WlSurface},
};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum};

use super::record::{Area, Role, SurfaceId};
use super::state::State;

/// The rectangles that were added to a region. One that was subtracted from is good enough as the list of the rest
/// only if nothing was left; nobody here does more.
pub(super) type Region = Mutex<Vec<Area>>;

pub(super) fn surface_id(surface: &WlSurface) -> SurfaceId {
    surface.data::<SurfaceId>().copied().unwrap_or(SurfaceId(0))
}

impl Dispatch<WlCompositor, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &WlCompositor,
        request: wl_compositor::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        match request {
            wl_compositor::Request::CreateSurface { id } => {
                let surface = state.next_surface();
                let resource = init.init(id, surface);
                state.add_surface(surface, resource);
            }
            wl_compositor::Request::CreateRegion { id } => {
                init.init(id, Region::default());
            }
            _ => {}
        }
    }
}

impl Dispatch<WlRegion, Region> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WlRegion,
        request: wl_region::Request,
        region: &Region,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let mut region = region.lock().unwrap_or_else(PoisonError::into_inner);
        match request {
            wl_region::Request::Add { x, y, width, height } => region.push((x, y, width, height)),
            wl_region::Request::Subtract { x, y, width, height } => {
                region.retain(|area| *area != (x, y, width, height));
            }
            _ => {}
        }
    }
}

impl Dispatch<WlSurface, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &WlSurface,
        request: wl_surface::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let Some(node) = state.surfaces.get_mut(id) else {
            return;
        };
        let pending = &mut node.pending;
        match request {
            wl_surface::Request::Attach { buffer, .. } => pending.buffer = Some(buffer),
            wl_surface::Request::Damage { x, y, width, height }
            | wl_surface::Request::DamageBuffer { x, y, width, height } => {
                pending.damage.push((x, y, width, height))
            }
            wl_surface::Request::Frame { callback } => pending.callbacks.push(init.init(callback, ())),
            wl_surface::Request::SetInputRegion { region } => {
                let areas = region.and_then(|region| {
                    let areas = region.data::<Region>()?;
                    Some(areas.lock().unwrap_or_else(PoisonError::into_inner).clone())
                });
                pending.input = Some(areas);
            }
            wl_surface::Request::SetBufferTransform {
                transform: WEnum::Value(transform),
            } => pending.transform = Some(transform.into()),
            wl_surface::Request::SetBufferScale { scale } => pending.scale = Some(scale),
            wl_surface::Request::Commit => state.commit(*id),
            _ => {}
        }
    }

    fn destroyed(state: &mut Self, _: ClientId, _: &WlSurface, id: &SurfaceId) {
        state.remove_surface(*id);
    }
}

impl Dispatch<WlCallback, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WlCallback,
        _: wl_callback::Request,
        (): &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }

    fn destroyed(state: &mut Self, _: ClientId, callback: &WlCallback, (): &()) {
        for node in state.surfaces.values_mut() {
            node.callbacks.retain(|known| known != callback);
        }
    }
}

impl Dispatch<WlSubcompositor, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        resource: &WlSubcompositor,
        request: wl_subcompositor::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let wl_subcompositor::Request::GetSubsurface { id, surface, parent } = request else {
            return;
        };
        let (child, parent) = (surface_id(&surface), surface_id(&parent));
        init.init(id, child);
        let Some(node) = state.surfaces.get_mut(&child) else {
            return;
        };
        if node.role != Role::None {
            resource.post_error(
                wl_subcompositor::Error::BadSurface,
                "the surface has a role already",
            );
            return;
        }
        node.role = Role::Subsurface {
            parent,
            position: (0, 0),
            synchronised: true,
        };
        if let Some(parent) = state.surfaces.get_mut(&parent) {
            parent.children.push(child);
        }
    }
}

impl Dispatch<WlSubsurface, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &WlSubsurface,
        request: wl_subsurface::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let Some(node) = state.surfaces.get_mut(id) else {
            return;
        };
        match request {
            wl_subsurface::Request::SetPosition { x, y } => node.next_position = Some((x, y)),
            wl_subsurface::Request::SetSync => {
                if let Role::Subsurface { synchronised, .. } = &mut node.role {
                    *synchronised = true;
                }
            }
            wl_subsurface::Request::SetDesync => state.desynchronise(*id),
            _ => {}
        }
    }

    fn destroyed(state: &mut Self, _: ClientId, _: &WlSubsurface, id: &SurfaceId) {
        state.leave_parent(*id);
    }
}
