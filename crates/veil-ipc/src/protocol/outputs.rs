//! What there is to know of the outputs.

use serde::{Deserialize, Serialize};

/// An output, whether veil shows something on it or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputInfo {
    /// The compositor's name for it, as `DP-1`.
    pub name: String,
    /// The compositor's words for it, such as maker and model; may be empty.
    pub description: String,
    /// Width and height of its mode, in pixels, as it is turned.
    pub size: (u32, u32),
    /// Where it lies in the compositor's layout, in logical pixels.
    pub position: (i32, i32),
    /// Its width and height there.
    pub logical_size: (u32, u32),
    /// Pixels for one unit of the compositor's layout.
    pub scale: f64,
    /// Refreshes a second; 0 if nobody knows.
    pub refresh_hz: f64,
    /// Whether it gets wallpapers; not so where the daemon was started for other outputs only.
    pub used: bool,
}
