//! What the compositor offers, and which of it veil cannot do without.

use crate::{
    buffer::Quiet, color_management::ColorManagement, desktop::Desktop, dmabuf::Dmabufs,
    presentation::PresentationGlobal, sync::ExplicitSync,
};
use smithay_client_toolkit::{
    compositor::CompositorState,
    shell::{wlr_layer::LayerShell, xdg::XdgShell},
    subcompositor::SubcompositorState,
};
use wayland_client::{Proxy, QueueHandle, globals::GlobalList, protocol::wl_shm::WlShm};
use wayland_protocols::wp::{
    fractional_scale::v1::client::wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1,
    presentation_time::client::wp_presentation::WpPresentation,
    single_pixel_buffer::v1::client::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1,
    viewporter::client::wp_viewporter::WpViewporter,
};

/// Where pictures are to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// On outputs: `zwlr_layer_shell_v1`.
    Layer,
    /// In a window: `xdg_wm_base`.
    Window,
}

#[derive(Debug)]
pub(crate) struct Globals {
    pub(crate) compositor: CompositorState,
    pub(crate) subcompositor: SubcompositorState,
    pub(crate) layer_shell: Option<LayerShell>,
    pub(crate) xdg_shell: Option<XdgShell>,
    pub(crate) shm: WlShm,
    pub(crate) viewporter: WpViewporter,
    pub(crate) presentation: Option<WpPresentation>,
    pub(crate) single_pixel: Option<WpSinglePixelBufferManagerV1>,
    pub(crate) fractional_scale: Option<WpFractionalScaleManagerV1>,
    pub(crate) dmabufs: Dmabufs,
    pub(crate) color_management: ColorManagement,
    pub(crate) sync: ExplicitSync,
    /// Draws a wallpaper's picture anew only when the surface below it is committed too.
    pub(crate) needs_parent: bool,
}

impl Globals {
    /// Binds what veil uses; an error is the name of a missing interface.
    pub(crate) fn bind(
        globals: &GlobalList,
        qh: &QueueHandle<Desktop>,
        shell: Shell,
    ) -> Result<Self, &'static str> {
        // First the one that decides: without it there is no place for a picture.
        let (mut layer_shell, mut xdg_shell, mut fractional_scale) = (None, None, None);
        match shell {
            Shell::Layer => {
                layer_shell = Some(LayerShell::bind(globals, qh).map_err(|_| "zwlr_layer_shell_v1")?)
            }
            Shell::Window => {
                xdg_shell = Some(XdgShell::bind(globals, qh).map_err(|_| "xdg_wm_base")?);
                fractional_scale = globals.bind(qh, 1..=1, Quiet).ok();
            }
        }
        let compositor = CompositorState::bind(globals, qh).map_err(|_| "wl_compositor")?;
        if compositor.wl_compositor().version() < 4 {
            return Err("wl_compositor version 4 (wl_surface.damage_buffer)");
        }
        let subcompositor = SubcompositorState::bind(compositor.wl_compositor().clone(), globals, qh)
            .map_err(|_| "wl_subcompositor")?;
        // Hyprland (0.56) hears of commits of a window's subsurfaces, but not of a layer surface's: without its parent's
        // commit, which has no protocol of its own to be known by, a picture is seen when something else changes.
        let needs_parent = layer_shell.is_some()
            && globals.contents().with_list(|list| {
                list.iter()
                    .any(|global| global.interface.starts_with("hyprland_"))
            });
        Ok(Self {
            compositor,
            subcompositor,
            layer_shell,
            xdg_shell,
            shm: globals.bind(qh, 1..=1, Quiet).map_err(|_| "wl_shm")?,
            viewporter: globals.bind(qh, 1..=1, Quiet).map_err(|_| "wp_viewporter")?,
            presentation: globals.bind(qh, 1..=1, PresentationGlobal).ok(),
            single_pixel: globals.bind(qh, 1..=1, Quiet).ok(),
            fractional_scale,
            dmabufs: Dmabufs::bind(globals, qh),
            color_management: ColorManagement::bind(globals, qh),
            sync: ExplicitSync::bind(globals, qh),
            needs_parent,
        })
    }
}
