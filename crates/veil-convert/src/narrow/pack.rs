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

    /// What chroma adds to 16 even and 16 odd columns, of 18 terms.
    #[inline(always)]
    fn apply(self, t: &[i16; 18], even: &mut [i16; 16], odd: &mut [i16; 16]) {
        for (i, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
            let (a, b, c) = (t[i], t[i + 1], t[i + 2]);
            (*even, *odd) = match self {
                Self::On => (b, (b + c) >> 1),
                Self::OnOdd => ((b + c) >> 1, c),
                Self::Around => (b + ((a - b) >> 2), b + ((c - b) >> 2)),
                Self::AroundOdd => (b + ((c - b) >> 2), c + ((b - c) >> 2)),
            };
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

/// What chroma adds to each colour, constants included.
pub(super) fn terms(cpu: Cpu, colors: &Colors, [cb, cr]: [&[i16]; 2], out: &mut [Vec<i16>; 3]) {
    let [r, g, b] = out;
    let out = [r, g, b].map(|row| &mut row[..cb.len()]);
    match cpu {
        Cpu::Portable => terms_plain(colors, [cb, cr], out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.terms(colors, [cb, cr], out),
    }
}

/// The same, plainly.
#[inline(always)]
pub(crate) fn terms_plain(colors: &Colors, [cb, cr]: [&[i16]; 2], [r, g, b]: [&mut [i16]; 3]) {
    for i in 0..cb.len().min(cr.len()) {
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
        Cpu::Portable => half_plain(colors, luma, chroma, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.pack_half(colors, luma, chroma, out),
    }
}

/// Pixels that are made together.
const BLOCK: usize = 32;

fn half_plain(colors: &Colors, luma: Luma<'_>, chroma: Chroma<'_>, out: &mut [u8]) {
    for (block, pixels) in out.chunks_mut(4 * BLOCK).enumerate() {
        let at = block * BLOCK;
        let samples = at..at + pixels.len() / 4;
        let mut y = [0; BLOCK];
        match luma {
            Luma::Bytes(row) => {
                for (y, &v) in y.iter_mut().zip(&row[samples]) {
                    *y = times_full(u16::from(v) << 8, colors.luma);
                }
            }
            Luma::Pairs(row, align) => {
                for (y, &v) in y.iter_mut().zip(&row[samples]) {
                    *y = times_full(align.sample(v), colors.luma);
                }
            }
            Luma::Line(row) => {
                for (y, &v) in y.iter_mut().zip(&row[samples]) {
                    *y = times_full((v as u16) << 1, colors.luma);
                }
            }
        }
        let mut colored = [[0; BLOCK]; 3];
        for (color, terms) in colored.iter_mut().zip(chroma.terms) {
            let Some(terms) = terms[at / 2..].first_chunk() else {
                continue;
            };
            let (mut even, mut odd) = ([0; 16], [0; 16]);
            chroma.phase.apply(terms, &mut even, &mut odd);
            for i in 0..16 {
                color[2 * i] = y[2 * i].wrapping_add(even[i]);
                color[2 * i + 1] = y[2 * i + 1].wrapping_add(odd[i]);
            }
        }
        put(&colored, pixels);
    }
}

/// Rounds colours and puts as many pixels as there is room for. Steps of one kind each, which compilers turn into
/// vectors.
#[inline(always)]
fn put([r, g, b]: &[[i16; BLOCK]; 3], out: &mut [u8]) {
    let byte = |color: i16| (color >> 5).max(0).min(255) as u16;
    let mut pixels = [0u32; BLOCK];
    for (i, pixel) in pixels.iter_mut().enumerate() {
        let (low, high) = (byte(b[i]) | byte(g[i]) << 8, byte(r[i]) | 0xff00);
        *pixel = u32::from(low) | u32::from(high) << 16;
    }
    for (to, pixel) in out.as_chunks_mut::<4>().0.iter_mut().zip(pixels) {
        *to = pixel.to_le_bytes();
    }
}

/// Pixels of luma and chroma on the same grid; rows go up to a multiple of 32.
pub(super) fn full(cpu: Cpu, colors: &Colors, rows: [&[i16]; 3], out: &mut [u8]) {
    match cpu {
        Cpu::Portable => full_plain(colors, rows, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.pack_full(colors, rows, out),
    }
}

fn full_plain(colors: &Colors, [y, cb, cr]: [&[i16]; 3], out: &mut [u8]) {
    for (block, pixels) in out.chunks_mut(4 * BLOCK).enumerate() {
        let mut colored = [[0; BLOCK]; 3];
        let [y, cb, cr] = [y, cb, cr].map(|row| &row[block * BLOCK..][..BLOCK]);
        for i in 0..BLOCK {
            let y = times_full((y[i] as u16) << 1, colors.luma);
            let r = times(cr[i], colors.cr_r).wrapping_add(colors.bias[0]);
            let g = times(cb[i], colors.cb_g)
                .wrapping_add(times(cr[i], colors.cr_g))
                .wrapping_add(colors.bias[1]);
            let b = times(cb[i], colors.cb_b).wrapping_add(colors.bias[2]);
            colored[0][i] = y.wrapping_add(r);
            colored[1][i] = y.wrapping_add(g);
            colored[2][i] = y.wrapping_add(b);
        }
        put(&colored, pixels);
    }
}

/// Pixels of red, green and blue; rows go up to a multiple of 32.
pub(super) fn rgb(cpu: Cpu, scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], out: &mut [u8]) {
    match cpu {
        Cpu::Portable => rgb_plain(scale, bias, rows, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.pack_rgb(scale, bias, rows, out),
    }
}

fn rgb_plain(scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], out: &mut [u8]) {
    for (block, pixels) in out.chunks_mut(4 * BLOCK).enumerate() {
        let mut colored = [[0; BLOCK]; 3];
        for (c, color) in colored.iter_mut().enumerate() {
            let row = &rows[c][block * BLOCK..][..BLOCK];
            for (to, &v) in color.iter_mut().zip(row) {
                *to = times_full((v as u16) << 1, scale[c]).wrapping_add(bias[c]);
            }
        }
        put(&colored, pixels);
    }
}
