//! What the element's properties say of where and how pictures are shown.

use crate::route::{Asked, RouteChoice};
use gstreamer::glib;
use veil_frame::{FitMode, Rgb};
use veil_wayland::{Layer, Shell};

/// Where pictures are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, glib::Enum)]
#[repr(i32)]
#[enum_type(name = "GstVeilSinkLayer")]
pub enum LayerKind {
    /// In a window.
    #[default]
    #[enum_value(name = "In a window", nick = "window")]
    Window,
    /// Behind everything: a wallpaper.
    #[enum_value(name = "A wallpaper, behind everything", nick = "background")]
    Background,
    /// Above the background, below windows.
    #[enum_value(name = "Above the background, below windows", nick = "bottom")]
    Bottom,
    /// Above windows.
    #[enum_value(name = "Above windows", nick = "top")]
    Top,
    /// Above everything.
    #[enum_value(name = "Above everything", nick = "overlay")]
    Overlay,
}

impl LayerKind {
    /// The layer of a layer shell; `None` is a window.
    pub(crate) const fn layer(self) -> Option<Layer> {
        match self {
            Self::Window => None,
            Self::Background => Some(Layer::Background),
            Self::Bottom => Some(Layer::Bottom),
            Self::Top => Some(Layer::Top),
            Self::Overlay => Some(Layer::Overlay),
        }
    }

    /// What the compositor must offer for it.
    pub(crate) const fn shell(self) -> Shell {
        match self {
            Self::Window => Shell::Window,
            _ => Shell::Layer,
        }
    }
}

/// How a picture is fitted to where it is shown; see [`FitMode`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, glib::Enum)]
#[repr(i32)]
#[enum_type(name = "GstVeilSinkMode")]
pub enum Mode {
    /// All of it, with its shape; the background colour beside it.
    #[default]
    #[enum_value(name = "All of the picture, in its shape", nick = "fit")]
    Fit,
    /// Everywhere, with its shape; what is too much is cut off.
    #[enum_value(name = "No space left, what is too much cut off", nick = "fill")]
    Fill,
    /// Everywhere, in another shape.
    #[enum_value(name = "No space left, in another shape", nick = "stretch")]
    Stretch,
    /// In its own size, in the middle.
    #[enum_value(name = "In its own size, in the middle", nick = "center")]
    Center,
    /// In its own size, repeated.
    #[enum_value(name = "In its own size, repeated", nick = "tile")]
    Tile,
}

impl From<Mode> for FitMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Fit => Self::Fit,
            Mode::Fill => Self::Fill,
            Mode::Stretch => Self::Stretch,
            Mode::Center => Self::Center,
            Mode::Tile => Self::Tile,
        }
    }
}

/// The layer surfaces' namespace unless told otherwise; documented, since compositors' rules name it.
pub(crate) const NAMESPACE: &str = "veil-wallpaper";

/// All of the properties that this module knows.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) layer: LayerKind,
    pub(crate) mode: Mode,
    /// The name of an output; `None` is all of them, or for a window that fills one, any.
    pub(crate) output: Option<String>,
    /// 0xRRGGBB.
    pub(crate) background: u32,
    pub(crate) fullscreen: bool,
    /// The compositor's socket; `None` is the environment's.
    pub(crate) display: Option<String>,
    pub(crate) namespace: String,
    /// The window's; `None` is the application's name.
    pub(crate) title: Option<String>,
    pub(crate) route: RouteChoice,
    /// The GPU, by name or render node; `None` is the compositor's.
    pub(crate) device: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            layer: LayerKind::default(),
            mode: Mode::default(),
            output: None,
            background: 0,
            fullscreen: false,
            display: None,
            namespace: String::from(NAMESPACE),
            title: None,
            route: RouteChoice::default(),
            device: None,
        }
    }
}

impl Settings {
    /// What is asked for of the frames' way.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            choice: self.route,
            device: self.device.clone(),
        }
    }

    /// The colour where no picture is.
    pub(crate) fn color(&self) -> Rgb {
        color(self.background)
    }
}

/// A colour that is written as 0xRRGGBB.
pub(crate) const fn color(number: u32) -> Rgb {
    let [_, r, g, b] = number.to_be_bytes();
    Rgb { r, g, b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_from_the_high_byte_down() {
        assert_eq!(
            color(0x20_40_60),
            Rgb {
                r: 0x20,
                g: 0x40,
                b: 0x60
            }
        );
    }
}
