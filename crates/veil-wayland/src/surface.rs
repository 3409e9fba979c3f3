//! veil's surfaces by their roles: a wallpaper on an output, or a window.
//!
//! A wallpaper is a layer surface that covers its output. It and its picture have empty input regions, so that clicks
//! reach whatever the compositor has below (the pointer of a KDE desktop, for one). A window is an xdg toplevel; its
//! scale is told by `wp_fractional_scale_v1`, or by the surface itself in whole numbers.

use crate::{
    buffer::{BufferError, Quiet},
    desktop::Desktop,
    globals::Globals,
    memory::MemoryError,
    output::OutputId,
    tree::Tree,
};
use smithay_client_toolkit::{
    compositor::Surface,
    shell::{
        WaylandSurface,
        wlr_layer::{Anchor, KeyboardInteractivity, Layer, LayerSurface},
        xdg::window::{Window, WindowDecorations},
    },
};
use veil_frame::{FitMode, Presentable, Rgb, Size};
use wayland_client::{QueueHandle, protocol::wl_output::WlOutput};
use wayland_protocols::wp::fractional_scale::v1::client::wp_fractional_scale_v1::WpFractionalScaleV1;

/// Something cannot be shown on a surface.
#[derive(Debug, thiserror::Error)]
pub enum SurfaceError {
    /// There is no such surface.
    #[error("veil has no surface there")]
    NoSurface,
    /// The target cannot become a buffer.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// There is no memory for the background.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// One of veil's surfaces on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SurfaceId {
    /// The wallpaper on an output.
    Wallpaper(OutputId),
    /// The window.
    Window,
}

impl From<OutputId> for SurfaceId {
    fn from(output: OutputId) -> Self {
        Self::Wallpaper(output)
    }
}

/// A picture and how it is fitted.
#[derive(Clone, Debug)]
pub struct Content {
    /// The picture.
    pub presentable: Presentable,
    /// How it is fitted to the surface.
    pub mode: FitMode,
}

/// What became of a picture that was to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The compositor has it.
    Committed,
    /// The compositor gets it as soon as it has taken the one before.
    Held,
    /// Nothing was done: the surface waits for its size, or no pixel of the picture would be seen.
    Nowhere,
}

/// What a window is like.
#[derive(Clone, Debug)]
pub struct WindowSettings {
    /// Its title.
    pub title: String,
    /// Names the application, as its desktop file is named.
    pub app_id: String,
    /// Logical pixels, where the compositor leaves the choice.
    pub size: Size,
    /// Whether it fills an output.
    pub fullscreen: bool,
    /// The colour of the parts where no picture is.
    pub color: Rgb,
}

/// What a surface is to the compositor. Destroyed after the tree that lies on it, in the order that the protocols ask
/// for.
#[derive(Debug)]
enum Role {
    Layer(LayerSurface),
    Window {
        window: Window,
        /// 120ths of a pixel to a logical one, once told.
        scale: u32,
        fractional: Option<WpFractionalScaleV1>,
        /// The size where the compositor leaves the choice: the last that the window had by itself.
        wanted: Size,
    },
}

#[derive(Debug)]
pub(crate) struct VeilSurface {
    pub(crate) tree: Tree,
    role: Role,
}

impl VeilSurface {
    /// Asks for a wallpaper; it shows nothing until it was configured. `None` without a layer shell.
    pub(crate) fn wallpaper(
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        output: (OutputId, &WlOutput),
        (layer, namespace): (Layer, &str),
        color: Rgb,
    ) -> Option<Self> {
        let shell = globals.layer_shell.as_ref()?;
        let (id, wl_output) = output;
        let surface = globals.compositor.create_surface(qh);
        let on = Surface::from(surface.clone());
        let layer = shell.create_layer_surface(qh, on, layer, Some(namespace), Some(wl_output));
        let nowhere = globals.compositor.wl_compositor().create_region(qh, Quiet);
        surface.set_input_region(Some(&nowhere));
        layer.set_anchor(Anchor::all());
        layer.set_exclusive_zone(-1);
        layer.set_keyboard_interactivity(KeyboardInteractivity::None);
        layer.commit();
        let tree = Tree::new(globals, qh, id.into(), surface, color);
        nowhere.destroy();
        let role = Role::Layer(layer);
        Some(Self { tree, role })
    }

    /// Asks for a window; it shows nothing until it was configured. `None` without an xdg shell.
    pub(crate) fn window(
        globals: &Globals,
        qh: &QueueHandle<Desktop>,
        settings: &WindowSettings,
        on: Option<&WlOutput>,
    ) -> Option<Self> {
        let shell = globals.xdg_shell.as_ref()?;
        let surface = globals.compositor.create_surface(qh);
        let window = shell.create_window(
            Surface::from(surface.clone()),
            WindowDecorations::RequestServer,
            qh,
        );
        window.set_title(settings.title.as_str());
        window.set_app_id(settings.app_id.as_str());
        if settings.fullscreen {
            window.set_fullscreen(on);
        }
        let fractional = globals
            .fractional_scale
            .as_ref()
            .map(|manager| manager.get_fractional_scale(&surface, qh, Quiet));
        window.commit();
        let tree = Tree::new(globals, qh, SurfaceId::Window, surface, settings.color);
        let role = Role::Window {
            window,
            scale: 120,
            fractional,
            wanted: settings.size,
        };
        Some(Self { tree, role })
    }

    pub(crate) fn is_layer(&self, layer: &LayerSurface) -> bool {
        matches!(&self.role, Role::Layer(own) if own == layer)
    }

    pub(crate) fn is_window(&self, other: &Window) -> bool {
        matches!(&self.role, Role::Window { window, .. } if window == other)
    }

    /// The size of a window where the compositor leaves the choice; `None` for a wallpaper.
    pub(crate) fn wanted(&self) -> Option<Size> {
        match &self.role {
            Role::Layer(_) => None,
            Role::Window { wanted, .. } => Some(*wanted),
        }
    }

    /// A window has this size, as a window among others: it goes back to it when it was larger for a while.
    pub(crate) fn remember(&mut self, size: Size) {
        if let Role::Window { wanted, .. } = &mut self.role {
            *wanted = size;
        }
    }

    /// A window's scale became another, in 120ths; whether it did. A whole number does not count where fractions are
    /// told.
    pub(crate) fn set_scale(&mut self, new: u32, whole: bool) -> bool {
        match &mut self.role {
            Role::Window {
                scale, fractional, ..
            } if new > 0 && *scale != new && !(whole && fractional.is_some()) => {
                *scale = new;
                true
            }
            _ => false,
        }
    }

    /// Whether this is the scale object of the window.
    pub(crate) fn is_scaled_by(&self, object: &WpFractionalScaleV1) -> bool {
        matches!(&self.role, Role::Window { fractional, .. } if fractional.as_ref() == Some(object))
    }

    /// Pixels that a window covers: its logical size times its scale, rounded half away from zero, as
    /// `wp_fractional_scale_v1` has it. `None` for a wallpaper, and before the window has a size.
    pub(crate) fn window_pixels(&self) -> Option<Size> {
        let Role::Window { scale, .. } = &self.role else {
            return None;
        };
        let pixels = |logical: u32| {
            let pixels = (u64::from(logical) * u64::from(*scale) + 60) / 120;
            u32::try_from(pixels).unwrap_or(u32::MAX).max(1)
        };
        self.tree
            .logical()
            .map(|size| Size::new(pixels(size.w), pixels(size.h)))
    }

    /// Makes a window fill an output, or not.
    pub(crate) fn set_fullscreen(&self, fullscreen: bool, on: Option<&WlOutput>) {
        if let Role::Window { window, .. } = &self.role {
            if fullscreen {
                window.set_fullscreen(on);
            } else {
                window.unset_fullscreen();
            }
        }
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        // The surfaces and their roles destroy themselves.
        if let Self::Window {
            fractional: Some(fractional),
            ..
        } = self
        {
            fractional.destroy();
        }
    }
}
