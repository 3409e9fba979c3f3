//! What is right, computed the plain way: one pixel at a time, in double precision, from the format's description.

use veil_frame::{Model, Planes, Spec, tone_map};

/// Sample `(x, y)` of a component as its code; outside the plane it is the nearest one inside.
fn code(spec: &Spec, planes: &Planes<'_>, component: usize, x: i64, y: i64) -> f64 {
    let info = spec.format.info();
    let c = &info.components[component];
    let (w, h) = info.component_size(component, spec.stored.w, spec.stored.h);
    let (x, y) = (
        x.clamp(0, i64::from(w) - 1) as usize,
        y.clamp(0, i64::from(h) - 1) as usize,
    );
    let plane = usize::from(c.plane);
    let at = y * planes.stride[plane] + usize::from(c.offset) + x * usize::from(c.step);
    let mut word = 0u32;
    for i in 0..usize::from(c.word) {
        let i = if c.big_endian {
            i
        } else {
            usize::from(c.word) - 1 - i
        };
        word = word << 8 | u32::from(planes.data[plane][at + i]);
    }
    f64::from(word >> c.shift & ((1 << c.bits) - 1))
}

/// The samples that make output pixel `i` along an axis, with their weights.
fn taps(start: f64, length: f64, count: u32, i: u32, offset: f64, shared: f64) -> Vec<(i64, f64)> {
    let scale = length / f64::from(count);
    let position = (start + (f64::from(i) + 0.5) * scale - 0.5 - offset) / shared;
    let radius = f64::max(1.0, scale / shared);
    let mut taps = Vec::new();
    for k in (position - radius).floor() as i64..=(position + radius).ceil() as i64 {
        let weight = 1.0 - (k as f64 - position).abs() / radius;
        if weight > 0.0 {
            taps.push((k, weight));
        }
    }
    let sum: f64 = taps.iter().map(|t| t.1).sum();
    taps.into_iter().map(|(k, weight)| (k, weight / sum)).collect()
}

/// The code of a component on the output's grid, for every pixel in the order of rows.
fn resampled(spec: &Spec, planes: &Planes<'_>, component: usize) -> Vec<f64> {
    let info = spec.format.info();
    let chroma = info.is_chroma(component);
    let (sub_w, sub_h) = if chroma { (info.sub_w, info.sub_h) } else { (0, 0) };
    let (off_x, off_y) = (
        spec.site.horizontal.offset(sub_w),
        spec.site.vertical.offset(sub_h),
    );
    let (crop, size) = (spec.crop, spec.size);
    let columns: Vec<_> = (0..size.w)
        .map(|i| taps(crop.x, crop.w, size.w, i, off_x, f64::from(1u32 << sub_w)))
        .collect();
    let mut out = Vec::new();
    for j in 0..size.h {
        let rows = taps(crop.y, crop.h, size.h, j, off_y, f64::from(1u32 << sub_h));
        for column in &columns {
            let mut sum = 0.0;
            for &(y, wy) in &rows {
                for &(x, wx) in column {
                    sum += wy * wx * code(spec, planes, component, x, y);
                }
            }
            out.push(sum);
        }
    }
    out
}

/// R, G, B (premultiplied) and alpha of every pixel, 0 to 255, not rounded.
pub fn convert(spec: &Spec, planes: &Planes<'_>) -> Vec<[f64; 4]> {
    let info = spec.format.info();
    let colors = if info.model == Model::Gray { 1 } else { 3 };
    let components: Vec<Vec<f64>> = (0..info.components.len())
        .map(|i| resampled(spec, planes, i))
        .collect();
    let color = spec.effective_colorimetry();
    (0..(spec.size.w * spec.size.h) as usize)
        .map(|i| {
            let mut rgb = [0.0; 3];
            for component in 0..3 {
                let source = if colors == 1 { 0 } else { component };
                let bits = info.components[source].bits;
                let mut value = components[source][i];
                if bits < 8 {
                    value *= 255.0 / f64::from((1u32 << bits) - 1);
                }
                let map = color.codes_to_rgb(bits.max(8));
                for (out, row) in rgb.iter_mut().zip(map.matrix) {
                    *out += row[component] * (value - map.offset[component]);
                }
            }
            let [r, g, b] = tone_map::to_sdr(color, rgb);
            let alpha = match components.get(colors) {
                Some(alpha) => alpha[i] / f64::from((1u32 << info.components[colors].bits) - 1),
                None => 1.0,
            };
            [r * alpha, g * alpha, b * alpha, alpha].map(|v| v * 255.0)
        })
        .collect()
}
