//! What `outputs` tells.

use super::app::App;
use veil_frame::Size;
use veil_ipc::protocol::OutputInfo;

impl App {
    /// All outputs, also those that this daemon leaves alone.
    pub(super) fn outputs(&self) -> Vec<OutputInfo> {
        let desktop = self.display.desktop_ref();
        desktop
            .outputs()
            .map(|output| {
                let logical = desktop.surface_size(output.id).unwrap_or(output.logical);
                OutputInfo {
                    name: output.name.clone(),
                    description: output.description.clone(),
                    size: (output.pixels.w, output.pixels.h),
                    position: output.position,
                    logical_size: (logical.w, logical.h),
                    scale: scale(output.pixels, logical, output.integer_scale),
                    refresh_hz: f64::from(output.refresh_mhz) / 1000.0,
                    used: self.screens.contains_key(&output.id),
                }
            })
            .collect()
    }
}

/// Pixels to a logical pixel. Logical sizes are whole, so the quotient is only near the scale that was set: it is told in
/// 120ths, the step of wp_fractional_scale_v1.
pub(super) fn scale(pixels: Size, logical: Size, whole: u32) -> f64 {
    if logical.w == 0 {
        return f64::from(whole);
    }
    (f64::from(pixels.w) / f64::from(logical.w) * 120.0).round() / 120.0
}
