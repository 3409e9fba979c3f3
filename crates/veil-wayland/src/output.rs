//! What is known of an output.
//!
//! A buffer that is to reach the screen pixel by pixel has the size of the output's mode, turned as the output is
//! turned. `wl_output.scale` is a whole number and says too little for that; the mode is exact.

use smithay_client_toolkit::output::OutputInfo;
use veil_frame::Size;
use wayland_client::protocol::wl_output::Transform;

/// An output of this connection; never given to another one while the connection lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutputId(pub u32);

/// An output as the compositor describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Which one it is.
    pub id: OutputId,
    /// The connector's name, like `DP-1`; made up where the compositor gives none.
    pub name: String,
    /// Make, model and perhaps serial number, for people.
    pub description: String,
    /// Pixels of its mode, after its transform: what an upright screenshot of it measures.
    pub pixels: Size,
    /// Where it lies in the compositor's layout, in logical pixels.
    pub position: (i32, i32),
    /// Its size in logical pixels: what a surface that covers it measures.
    pub logical: Size,
    /// Pixels to a logical pixel, as `wl_output.scale` has it: whole numbers, rounded up. The surface's real scale is
    /// `pixels` over the size of its configure event.
    pub integer_scale: u32,
    /// Refresh rate in mHz, 0 if unknown.
    pub refresh_mhz: u32,
}

impl Output {
    pub(crate) fn from_info(info: &OutputInfo) -> Self {
        let swapped = matches!(
            info.transform,
            Transform::_90 | Transform::_270 | Transform::Flipped90 | Transform::Flipped270
        );
        let mode = info.modes.iter().find(|mode| mode.current);
        let from_pair = |(w, h): (i32, i32)| Size::new(w.max(0) as u32, h.max(0) as u32);
        let scale = info.scale_factor.max(1) as u32;
        let pixels = match mode.map(|mode| from_pair(mode.dimensions)) {
            Some(size) if !size.is_empty() => {
                if swapped {
                    size.swapped()
                } else {
                    size
                }
            }
            // No mode (nested or virtual): the logical size is already turned.
            _ => {
                let logical = info.logical_size.map(from_pair).unwrap_or_default();
                Size::new(logical.w * scale, logical.h * scale)
            }
        };
        // Without xdg-output only whole scales are told.
        let logical = info
            .logical_size
            .map(from_pair)
            .filter(|size| !size.is_empty())
            .unwrap_or_else(|| Size::new((pixels.w / scale).max(1), (pixels.h / scale).max(1)));
        Self {
            id: OutputId(info.id),
            name: info.name.clone().unwrap_or_else(|| format!("output-{}", info.id)),
            description: info
                .description
                .clone()
                .unwrap_or_else(|| format!("{} {}", info.make, info.model).trim().to_owned()),
            pixels,
            position: info.logical_position.unwrap_or(info.location),
            logical,
            integer_scale: scale,
            refresh_mhz: mode.map_or(0, |mode| mode.refresh_rate.max(0) as u32),
        }
    }
}
