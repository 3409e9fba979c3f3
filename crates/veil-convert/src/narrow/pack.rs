//! The last step: matrix, rounding, and pixels.

use crate::{level::Cpu, matrix::Affine, source::Align};
use veil_frame::Siting;

/// What 1 is in colours before the last rounding: 5 bits of fraction.
const UNIT: f64 = 32.0 * 255.0;

/// A factor for samples of 15 bits, times 2¹⁵; `per_sample` is for those of 16.
fn factor(per_sample: f64) -> f64 {
    (per_sample * UNIT * 65536.0).round()
}

/// A constant, with the half that rounds and what the products' cutting off takes on average.
fn bias(constant: f64) -> i16 {
    (constant * UNIT + 16.0 + 0.5).round() as i16
}

/// The matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colors {
    /// Luma in every colour.
    pub(crate) luma: u16,
    /// Cr in red, Cb in green, Cr in green, Cb in blue.
    pub(crate) cr_r: i16,
    pub(crate) cb_g: i16,
    pub(crate) cr_g: i16,
    pub(crate) cb_b: i16,
    /// Constants of red, green and blue.
    pub(crate) bias: [i16; 3],
}

impl Colors {
    pub(super) fn new(affine: &Affine) -> Self {
        let m = &affine.matrix;
        Self {
            luma: factor(m[0][0]) as u16,
            cr_r: factor(m[0][2]) as i16,
            cb_g: factor(m[1][1]) as i16,
            cr_g: factor(m[1][2]) as i16,
            cb_b: factor(m[2][1]) as i16,
            bias: affine.constant.map(bias),
        }
    }
}

/// Factors and constants of red, green and blue.
pub(super) fn rgb_scale(affine: &Affine) -> ([u16; 3], [i16; 3]) {
    (
        [0, 1, 2].map(|i: usize| factor(affine.matrix[i][i]) as u16),
        affine.constant.map(bias),
    )
}

/// Luma as the last step reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Luma<'a> {
    /// Samples of 8 bits.
    Bytes(&'a [u8]),
    /// Samples in pairs of bytes.
    Pairs(&'a [[u8; 2]], Align),
    /// Samples of 15 bits, up to a multiple of 32.
    Line(&'a [i16]),
}

/// What chroma adds to colours, for every other column. Entry 0 belongs to the sample before that of the first pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chroma<'a> {
    /// Of red, green and blue.
    pub(crate) terms: [&'a [i16]; 3],
    /// Where they are.
    pub(crate) phase: Phase,
}

/// Where pixels of a pair lie among the chroma samples a, b and c, of which b belongs to the pair's first pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// On b, and half way to c.
    On,
    /// Half way from b to c, and on c.
    OnOdd,
    /// A quarter from b to a, and a quarter from b to c.
    Around,
    /// A quarter from b to c, and a quarter from c to b.
    AroundOdd,
}

impl Phase {
    pub(super) fn new(siting: Siting, odd: bool) -> Self {
        match (siting, odd) {
            (Siting::Cosited, false) => Self::On,
            (Siting::Cosited, true) => Self::OnOdd,
            (Siting::Centered, false) => Self::Around,
            (Siting::Centered, true) => Self::AroundOdd,
        }
    }

    #[inline(always)]
    fn pair(self, a: i16, b: i16, c: i16) -> (i16, i16) {
        match self {
            Self::On => (b, (b + c) >> 1),
            Self::OnOdd => ((b + c) >> 1, c),
            Self::Around => (b + ((a - b) >> 2), b + ((c - b) >> 2)),
            Self::AroundOdd => (b + ((c - b) >> 2), c + ((b - c) >> 2)),
        }
    }
}

/// `x · factor` of a sample of 15 bits, rounded.
#[inline(always)]
fn times(x: i16, factor: i16) -> i16 {
    ((i32::from(x) * i32::from(factor) + 0x4000) >> 15) as i16
}

/// `x · factor` of a sample of 16 bits, cut off.
#[inline(always)]
fn times_full(x: u16, factor: u16) -> i16 {
    (u32::from(x) * u32::from(factor) >> 16) as i16
}

#[inline(always)]
fn byte(color: i16) -> u8 {
    (color >> 5).clamp(0, 255) as u8
}

/// What chroma adds to each colour, constants included.
pub(super) fn terms(cpu: Cpu, colors: &Colors, [cb, cr]: [&[i16]; 2], out: &mut [Vec<i16>; 3]) {
    let [r, g, b] = out;
    let out = [r, g, b].map(|row| &mut row[..cb.len()]);
    match cpu {
        Cpu::Portable => terms_from(0, colors, [cb, cr], out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.terms(colors, [cb, cr], out),
    }
}

/// The same, from sample `from` on.
#[inline(always)]
pub(crate) fn terms_from(from: usize, colors: &Colors, [cb, cr]: [&[i16]; 2], [r, g, b]: [&mut [i16]; 3]) {
    for i in from..cb.len().min(cr.len()) {
        r[i] = times(cr[i], colors.cr_r).wrapping_add(colors.bias[0]);
        g[i] = times(cb[i], colors.cb_g)
            .wrapping_add(times(cr[i], colors.cr_g))
            .wrapping_add(colors.bias[1]);
        b[i] = times(cb[i], colors.cb_b).wrapping_add(colors.bias[2]);
    }
}

/// Pixels of luma and chroma of half its columns.
pub(super) fn half(cpu: Cpu, colors: &Colors, luma: Luma<'_>, chroma: Chroma<'_>, out: &mut [u8]) {
    match cpu {
        Cpu::Portable => half_any(colors, luma, chroma, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.pack_half(colors, luma, chroma, out),
    }
}

fn half_any(colors: &Colors, luma: Luma<'_>, chroma: Chroma<'_>, out: &mut [u8]) {
    match luma {
        Luma::Bytes(row) => half_of(colors, |i| u16::from(row[i]) << 8, chroma, out),
        Luma::Pairs(row, align) => half_of(colors, |i| align.sample(row[i]), chroma, out),
        Luma::Line(row) => half_of(colors, |i| (row[i] as u16) << 1, chroma, out),
    }
}

#[inline(always)]
fn half_of(colors: &Colors, luma: impl Fn(usize) -> u16, chroma: Chroma<'_>, out: &mut [u8]) {
    let width = out.len() / 4;
    for (i, pixels) in out.chunks_mut(8).enumerate() {
        let [r, g, b] = chroma.terms.map(|t| chroma.phase.pair(t[i], t[i + 1], t[i + 2]));
        let y = times_full(luma(2 * i), colors.luma);
        pixels[..4].copy_from_slice(&[byte(y + b.0), byte(y + g.0), byte(y + r.0), 0xff]);
        if 2 * i + 1 < width {
            let y = times_full(luma(2 * i + 1), colors.luma);
            pixels[4..].copy_from_slice(&[byte(y + b.1), byte(y + g.1), byte(y + r.1), 0xff]);
        }
    }
}

/// Pixels of luma and chroma on the same grid; rows go up to a multiple of 32.
pub(super) fn full(cpu: Cpu, colors: &Colors, rows: [&[i16]; 3], out: &mut [u8]) {
    match cpu {
        Cpu::Portable => full_any(colors, rows, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.pack_full(colors, rows, out),
    }
}

#[inline(always)]
fn full_any(colors: &Colors, [y, cb, cr]: [&[i16]; 3], out: &mut [u8]) {
    for (pixel, ((&y, &cb), &cr)) in out
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .zip(y.iter().zip(cb).zip(cr))
    {
        let y = times_full((y as u16) << 1, colors.luma);
        let r = times(cr, colors.cr_r).wrapping_add(colors.bias[0]);
        let g = times(cb, colors.cb_g)
            .wrapping_add(times(cr, colors.cr_g))
            .wrapping_add(colors.bias[1]);
        let b = times(cb, colors.cb_b).wrapping_add(colors.bias[2]);
        *pixel = [
            byte(y.wrapping_add(b)),
            byte(y.wrapping_add(g)),
            byte(y.wrapping_add(r)),
            0xff,
        ];
    }
}

/// Pixels of red, green and blue; rows go up to a multiple of 32.
pub(super) fn rgb(cpu: Cpu, scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], out: &mut [u8]) {
    match cpu {
        Cpu::Portable => rgb_any(scale, bias, rows, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.pack_rgb(scale, bias, rows, out),
    }
}

#[inline(always)]
fn rgb_any(scale: [u16; 3], bias: [i16; 3], [r, g, b]: [&[i16]; 3], out: &mut [u8]) {
    for (pixel, ((&r, &g), &b)) in out.as_chunks_mut::<4>().0.iter_mut().zip(r.iter().zip(g).zip(b)) {
        let color = |v: i16, i: usize| byte(times_full((v as u16) << 1, scale[i]).wrapping_add(bias[i]));
        *pixel = [color(b, 2), color(g, 1), color(r, 0), 0xff];
    }
}
