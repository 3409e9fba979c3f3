//! The globals that a test may choose from.

use wayland_protocols::wp::color_management::v1::server::wp_color_manager_v1::WpColorManagerV1;
use wayland_protocols::wp::color_representation::v1::server::wp_color_representation_manager_v1::WpColorRepresentationManagerV1;
use wayland_protocols::wp::fractional_scale::v1::server::wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1;
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::server::wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1;
use wayland_protocols::wp::presentation_time::server::wp_presentation::WpPresentation;
use wayland_protocols::wp::single_pixel_buffer::v1::server::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1;
use wayland_protocols::wp::viewporter::server::wp_viewporter::WpViewporter;
use wayland_protocols::xdg::shell::server::xdg_wm_base::XdgWmBase;
use wayland_protocols::xdg::xdg_output::zv1::server::zxdg_output_manager_v1::ZxdgOutputManagerV1;
use wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_shell_v1::ZwlrLayerShellV1;
use wayland_server::backend::GlobalId;
use wayland_server::protocol::{
    wl_compositor::WlCompositor,
    wl_output::WlOutput,
    wl_shm::{self, WlShm},
    wl_subcompositor::WlSubcompositor,
};
use wayland_server::{Client, DataInit, DisplayHandle, GlobalDispatch, New, Resource};

use super::node::Handle;
use super::output::{MockOutput, Named, Screen};
use super::record::Role;
use super::refresh::Clock;
use super::state::State;

/// CLOCK_MONOTONIC, as `wp_presentation.clock_id` names it.
const MONOTONIC: u32 = 1;

macro_rules! globals {
    ($($(#[$doc:meta])* $name:ident: $interface:ty = $version:literal $(, $bound:expr)?;)+) => {
        /// A global of a [`Mock`](super::Mock), outputs apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Global {
            $($(#[$doc])* $name,)+
        }

        impl Global {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            fn create(self, display: &DisplayHandle, version: Option<u32>) -> GlobalId {
                match self {
                    $(Self::$name => {
                        display.create_global::<State, $interface, ()>(version.unwrap_or($version), ())
                    })+
                }
            }
        }

        $(impl GlobalDispatch<$interface, ()> for State {
            fn bind(
                state: &mut Self,
                _: &DisplayHandle,
                _: &Client,
                resource: New<$interface>,
                (): &(),
                init: &mut DataInit<'_, Self>,
            ) {
                let bound = init.init(resource, ());
                state.bound.push((<$interface>::interface().name.to_owned(), bound.version()));
                $(($bound)(state, &bound);)?
            }
        })+
    };
}

globals! {
    /// `wl_compositor`.
    Compositor: WlCompositor = 5;
    /// `wl_subcompositor`.
    Subcompositor: WlSubcompositor = 1;
    /// `wl_shm`, with the two formats that it must have.
    Shm: WlShm = 1, |_: &mut State, shm: &WlShm| {
        shm.format(wl_shm::Format::Argb8888);
        shm.format(wl_shm::Format::Xrgb8888);
    };
    /// `wp_viewporter`.
    Viewporter: WpViewporter = 1;
    /// `wp_presentation`.
    Presentation: WpPresentation = 1, |_: &mut State, presentation: &WpPresentation| presentation.clock_id(MONOTONIC);
    /// `wp_single_pixel_buffer_manager_v1`.
    SinglePixel: WpSinglePixelBufferManagerV1 = 1;
    /// `wp_fractional_scale_manager_v1`.
    FractionalScale: WpFractionalScaleManagerV1 = 1;
    /// `zwlr_layer_shell_v1`.
    LayerShell: ZwlrLayerShellV1 = 4;
    /// `xdg_wm_base`.
    WmBase: XdgWmBase = 3;
    /// `zxdg_output_manager_v1`.
    XdgOutput: ZxdgOutputManagerV1 = 3;
    /// `zwp_linux_dmabuf_v1`: see [`MockBuilder::dmabuf`](super::MockBuilder::dmabuf).
    LinuxDmabuf: ZwpLinuxDmabufV1 = 5, |state: &mut State, dmabuf: &ZwpLinuxDmabufV1| {
        state.tell_modifiers(dmabuf)
    };
    /// `wp_color_representation_manager_v1`, for BT.601, 709 and 2020 in both ranges.
    ColorRepresentation: WpColorRepresentationManagerV1 = 1,
        |_: &mut State, manager: &WpColorRepresentationManagerV1| State::tell_representations(manager);
    /// `wp_color_manager_v1`, for BT.2020 in SDR and PQ.
    ColorManagement: WpColorManagerV1 = 1,
        |_: &mut State, manager: &WpColorManagerV1| State::tell_colours(manager);
    /// `wp_linux_drm_syncobj_manager_v1`, with memory files for timelines: eight bytes, the last point that was reached.
    Syncobj: WpLinuxDrmSyncobjManagerV1 = 1;
}

impl Global {
    /// Those that are there only when a test asks for them: a mock has no GPU.
    pub const UNUSUAL: &[Self] = &[
        Self::LinuxDmabuf,
        Self::ColorRepresentation,
        Self::ColorManagement,
        Self::Syncobj,
    ];
}

impl State {
    pub(super) fn add_global(&mut self, global: Global) {
        let id = global.create(&self.display, self.versions.get(&global).copied());
        self.globals.push((global, id));
    }

    pub(super) fn remove_global(&mut self, global: Global) {
        let display = self.display.clone();
        self.globals.retain(|(known, id)| {
            if *known == global {
                display.disable_global::<Self>(id.clone());
            }
            *known != global
        });
    }

    pub(super) fn add_screen(&mut self, spec: MockOutput) {
        let named = Named(spec.name.clone());
        let global = self.display.create_global::<Self, WlOutput, Named>(4, named);
        self.screens.push(Screen {
            spec,
            global,
            resources: Vec::new(),
            xdg: Vec::new(),
            clock: Clock::new(),
        });
    }

    /// An output goes. What waited for its next refresh waits for ever.
    pub(super) fn remove_screen(&mut self, name: &str, close: bool) -> bool {
        let Some(at) = self.screens.iter().position(|screen| screen.spec.name == name) else {
            return false;
        };
        if close {
            self.close(name);
        }
        let screen = self.screens.remove(at);
        // Not removed altogether: a client may be about to bind it, and must not end for that.
        self.display.disable_global::<Self>(screen.global);
        true
    }

    /// Closes all layer surfaces and windows on an output.
    pub(super) fn close(&mut self, name: &str) {
        for id in self.on_output(name) {
            let Some(node) = self.surfaces.get_mut(&id) else {
                continue;
            };
            match &node.handle {
                Some(Handle::Layer(layer)) => layer.closed(),
                Some(Handle::Window(_, window)) => window.close(),
                None => {}
            }
            if let Role::Layer(layer) = &mut node.role {
                layer.closed = true;
            }
        }
    }
}
