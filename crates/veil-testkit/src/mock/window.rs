//! `xdg_wm_base`: windows.

use wayland_protocols::xdg::shell::server::{
    xdg_popup::{self, XdgPopup},
    xdg_positioner::{self, XdgPositioner},
    xdg_surface::{self, XdgSurface},
    xdg_toplevel::{self, XdgToplevel},
    xdg_wm_base::{self, XdgWmBase},
};
use wayland_server::backend::ClientId;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::node::Handle;
use super::record::{Role, SurfaceId};
use super::state::State;
use super::surface::surface_id;

impl Dispatch<XdgWmBase, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &XdgWmBase,
        request: xdg_wm_base::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        match request {
            xdg_wm_base::Request::GetXdgSurface { id, surface } => {
                init.init(id, surface_id(&surface));
            }
            xdg_wm_base::Request::CreatePositioner { id } => {
                init.init(id, ());
            }
            _ => {}
        }
    }
}

impl Dispatch<XdgSurface, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        resource: &XdgSurface,
        request: xdg_surface::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let Some(node) = state.surfaces.get_mut(id) else {
            return;
        };
        match request {
            xdg_surface::Request::GetToplevel { id } => {
                let surface = surface_id(&node.resource);
                let window = init.init(id, surface);
                node.role = Role::Window {
                    title: String::new(),
                    app_id: String::new(),
                };
                node.handle = Some(Handle::Window(resource.clone(), window));
                state.tell_scale(surface);
            }
            xdg_surface::Request::GetPopup { id, .. } => {
                // Nobody here has popups; the object must be there all the same.
                init.init(id, ());
            }
            xdg_surface::Request::AckConfigure { serial } if !node.acknowledge(serial) => {
                resource.post_error(
                    xdg_surface::Error::InvalidSerial,
                    format!("there was no configure {serial}"),
                );
            }
            _ => {}
        }
    }
}

impl Dispatch<XdgToplevel, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &XdgToplevel,
        request: xdg_toplevel::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let Some(Role::Window { title, app_id }) = state.surfaces.get_mut(id).map(|node| &mut node.role)
        else {
            return;
        };
        match request {
            xdg_toplevel::Request::SetTitle { title: new } => *title = new,
            xdg_toplevel::Request::SetAppId { app_id: new } => *app_id = new,
            _ => {}
        }
    }

    fn destroyed(state: &mut Self, _: ClientId, _: &XdgToplevel, id: &SurfaceId) {
        if let Some(node) = state.surfaces.get_mut(id) {
            node.role = Role::None;
            node.handle = None;
        }
    }
}

impl Dispatch<XdgPositioner, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &XdgPositioner,
        _: xdg_positioner::Request,
        (): &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }
}

impl Dispatch<XdgPopup, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &XdgPopup,
        _: xdg_popup::Request,
        (): &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }
}
