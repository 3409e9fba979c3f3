//! The loops of the conversion in single precision. Each is written once and compiled for each level.

use crate::{
    level::Cpu,
    light::{CHUNK, Light},
    source::Words,
};

/// From samples on the output's grid to bytes.
#[derive(Debug)]
pub(crate) struct Color {
    /// See [`Affine`](crate::matrix::Affine).
    pub(crate) matrix: [[f32; 3]; 3],
    /// See [`Affine`](crate::matrix::Affine).
    pub(crate) constant: [f32; 3],
    /// Tables, where light must be touched.
    pub(crate) light: Option<Light>,
    /// Scale of alpha samples, where there are any.
    pub(crate) alpha: Option<f32>,
    /// Whether the three components are one.
    pub(crate) grey: bool,
}

/// Adds `weight` times a row to `sum`, or puts it there.
pub(super) fn accumulate(cpu: Cpu, sum: &mut [f32], row: Words<'_>, weight: f32, add: bool) {
    match cpu {
        Cpu::Portable => accumulate_any(sum, row, weight, add),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.wide_accumulate(sum, row, weight, add),
    }
}

#[inline(always)]
pub(crate) fn accumulate_any(sum: &mut [f32], row: Words<'_>, weight: f32, add: bool) {
    match row {
        Words::Bytes(row) => {
            let weight = weight * 256.0;
            for (sum, &v) in sum.iter_mut().zip(row) {
                *sum = weight * f32::from(v) + if add { *sum } else { 0.0 };
            }
        }
        Words::Pairs(row, align) => {
            for (sum, &v) in sum.iter_mut().zip(row) {
                *sum = weight * f32::from(align.sample(v)) + if add { *sum } else { 0.0 };
            }
        }
    }
}

/// Takes every `step`th sample.
pub(super) fn take(cpu: Cpu, row: &[f32], step: usize, out: &mut [f32]) {
    match cpu {
        Cpu::Portable => take_any(row, step, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.wide_take(row, step, out),
    }
}

#[inline(always)]
pub(crate) fn take_any(row: &[f32], step: usize, out: &mut [f32]) {
    match step {
        1 => out.copy_from_slice(&row[..out.len()]),
        2 => {
            // The last sample's neighbour may be missing.
            let whole = row.as_chunks::<2>().0.iter();
            let last = row.len() - row.len() % 2;
            for (to, from) in out
                .iter_mut()
                .zip(whole.map(|pair| pair[0]).chain(row[last..].iter().copied()))
            {
                *to = from;
            }
        }
        _ => {
            for (to, from) in out.iter_mut().zip(row.iter().step_by(step)) {
                *to = *from;
            }
        }
    }
}

/// Resamples a row: output pixel `i` is `taps` samples from `first[i]` on with their weights.
pub(super) fn resample(cpu: Cpu, row: &[f32], first: &[u32], taps: usize, weights: &[f32], out: &mut [f32]) {
    match cpu {
        Cpu::Portable => resample_any(row, first, taps, weights, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.wide_resample(row, first, taps, weights, out),
    }
}

#[inline(always)]
pub(crate) fn resample_any(row: &[f32], first: &[u32], taps: usize, weights: &[f32], out: &mut [f32]) {
    // Loops whose length the compiler knows are worth it for the usual ones.
    match taps {
        1 => {
            for ((out, &first), &weight) in out.iter_mut().zip(first).zip(weights) {
                *out = row[first as usize] * weight;
            }
        }
        2 => resample_by::<2>(row, first, weights, out),
        4 => resample_by::<4>(row, first, weights, out),
        _ => {
            for ((out, &first), weights) in out.iter_mut().zip(first).zip(weights.chunks_exact(taps)) {
                let samples = &row[first as usize..][..taps];
                *out = samples.iter().zip(weights).map(|(v, w)| v * w).sum();
            }
        }
    }
}

#[inline(always)]
fn resample_by<const TAPS: usize>(row: &[f32], first: &[u32], weights: &[f32], out: &mut [f32]) {
    for ((out, &first), weights) in out.iter_mut().zip(first).zip(weights.as_chunks::<TAPS>().0) {
        let samples = &row[first as usize..][..TAPS];
        *out = (0..TAPS).map(|i| samples[i] * weights[i]).sum();
    }
}

/// Turns component rows into pixels.
pub(super) fn colors(cpu: Cpu, color: &Color, rows: [&[f32]; 3], alpha: Option<&[f32]>, out: &mut [u8]) {
    match cpu {
        Cpu::Portable => colors_any(color, rows, alpha, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.wide_colors(color, rows, alpha, out),
    }
}

#[inline(always)]
pub(crate) fn colors_any(color: &Color, rows: [&[f32]; 3], alpha: Option<&[f32]>, out: &mut [u8]) {
    let (m, k) = (&color.matrix, &color.constant);
    let pixels = out.as_chunks_mut::<4>().0;
    let mut rgb = [[0.0; CHUNK]; 3];
    for (chunk, pixels) in pixels.chunks_mut(CHUNK).enumerate() {
        let [x, y, z] = rows.map(|row| &row[chunk * CHUNK..][..pixels.len()]);
        for (c, channel) in rgb.iter_mut().enumerate() {
            for (((v, x), y), z) in channel.iter_mut().zip(x).zip(y).zip(z) {
                *v = m[c][0] * x + m[c][1] * y + m[c][2] * z + k[c];
            }
        }
        if let Some(light) = &color.light {
            light.pixels(&mut rgb, pixels);
            continue;
        }
        for (i, pixel) in pixels.iter_mut().enumerate() {
            let [r, g, b] = [0, 1, 2].map(|c: usize| (rgb[c][i].max(0.0).min(1.0) * 255.0 + 0.5) as u8);
            *pixel = [b, g, r, 0xff];
        }
    }
    let (Some(alpha), Some(scale)) = (alpha, color.alpha) else {
        return;
    };
    for (pixel, &a) in out.as_chunks_mut::<4>().0.iter_mut().zip(alpha) {
        let a = (a * scale).max(0.0).min(1.0);
        *pixel = pixel.map(|v| (f32::from(v) * a + 0.5) as u8);
    }
}
