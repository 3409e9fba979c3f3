//! Rows of 8-bit 4:2:0 video with AVX2; see [`crate::video`] for what they are part of.

use super::{
    Avx2,
    bgra::{in_halves, put},
    load, load_half, store,
};
use std::arch::x86_64::*;
use veil_frame::{CodesToRgb, Siting};

/// A YCbCr matrix in whole numbers, for samples of 7 bits of fraction and results of 5.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix16 {
    y: i16,
    r_cr: i16,
    g_cb: i16,
    g_cr: i16,
    b_cb: i16,
    /// Added to luma: takes black away, and half a unit for rounding.
    bias: i16,
}

impl Matrix16 {
    /// From the map of 8-bit codes; `None` if a number does not fit, as with no matrix of a standard.
    pub(crate) fn new(map: &CodesToRgb) -> Option<Self> {
        // A product's upper half is 1/32768 of it; 255 · 32 / 128 · 32768 = 255 · 8192.
        let whole = |value: f64| {
            let scaled = (value * 255.0 * 8192.0).round();
            (scaled.abs() <= f64::from(i16::MAX)).then_some(scaled as i16)
        };
        let m = map.matrix;
        let black: f64 = map.offset[0] * m[0][0] * 255.0 * 32.0;
        Some(Self {
            y: whole(m[0][0])?,
            r_cr: whole(m[0][2])?,
            g_cb: whole(m[1][1])?,
            g_cr: whole(m[1][2])?,
            b_cb: whole(m[2][1])?,
            bias: (16.0 - black).round() as i16,
        })
    }
}

impl Avx2 {
    /// Two rows of bytes times their weights, which add up to 32.
    pub(crate) fn blend(self, rows: [&[u8]; 2], weights: [u16; 2], out: &mut [u16]) {
        #[target_feature(enable = "avx2")]
        fn compiled([a, b]: [&[u8]; 2], [wa, wb]: [u16; 2], out: &mut [u16]) {
            for ((to, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *to = u16::from(a)
                    .wrapping_mul(wa)
                    .wrapping_add(u16::from(b).wrapping_mul(wb));
            }
        }
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { compiled(rows, weights, out) }
    }

    /// The same of pairs of bytes: the first of each, and the second of each.
    pub(crate) fn blend_pairs(
        self,
        rows: [&[[u8; 2]]; 2],
        weights: [u16; 2],
        low: &mut [u16],
        high: &mut [u16],
    ) {
        #[target_feature(enable = "avx2")]
        fn compiled([a, b]: [&[[u8; 2]]; 2], [wa, wb]: [u16; 2], low: &mut [u16], high: &mut [u16]) {
            for (((low, high), &a), &b) in low.iter_mut().zip(high).zip(a).zip(b) {
                let (a, b) = (u16::from_le_bytes(a), u16::from_le_bytes(b));
                *low = (a & 0xff)
                    .wrapping_mul(wa)
                    .wrapping_add((b & 0xff).wrapping_mul(wb));
                *high = (a >> 8).wrapping_mul(wa).wrapping_add((b >> 8).wrapping_mul(wb));
            }
        }
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { compiled(rows, weights, low, high) }
    }

    /// Half a row, 16 times: `out[i] = 2 s[2i] + 6 s[2i + 1] + 6 s[2i + 2] + 2 s[2i + 3]`.
    pub(crate) fn halve(self, row: &[u8], out: &mut [u16]) {
        assert!(row.len() >= 2 * out.len() + 2);
        // SAFETY: `self` proves that the processor has AVX2; the row is long enough.
        unsafe { halve(row, out) }
    }

    /// `a + 3 b + 3 c + d` of four halved rows: a row of luma with 7 bits of fraction.
    pub(crate) fn sum_halved(self, rows: [&[u16]; 4], out: &mut [i16]) {
        assert!(rows.iter().all(|row| row.len() >= out.len()));
        // SAFETY: `self` proves that the processor has AVX2; the rows are long enough.
        unsafe { sum_halved(rows, out) }
    }

    /// A quarter of the way to the next sample, with 7 bits of fraction: `out[i] = 96 s[i] + 32 s[i + 1]`.
    pub(crate) fn quarter(self, row: &[u8], out: &mut [i16]) {
        assert!(row.len() > out.len());
        // SAFETY: `self` proves that the processor has AVX2; the row is long enough.
        unsafe { quarter(row, out) }
    }

    /// The same of pairs: the first of each, and the second of each.
    pub(crate) fn quarter_pairs(self, row: &[[u8; 2]], low: &mut [i16], high: &mut [i16]) {
        assert!(row.len() > low.len() && low.len() == high.len());
        // SAFETY: `self` proves that the processor has AVX2; the row is long enough.
        unsafe { quarter_pairs(row, low, high) }
    }

    /// XRGB8888 of a row of luma and of blended chroma (32 times), which is interpolated. Chroma begins with the sample
    /// to the left and has 32 samples more than are needed.
    pub(crate) fn pixels_420(
        self,
        luma: &[u8],
        chroma: [&[u16]; 2],
        siting: Siting,
        matrix: &Matrix16,
        out: &mut [u8],
    ) {
        assert!(out.len() >= luma.len() * 4 && chroma.iter().all(|row| row.len() >= luma.len() / 2 + 34));
        // SAFETY: `self` proves that the processor has AVX2; the rows are long enough.
        unsafe { pixels_420(luma, chroma, siting, matrix, out) }
    }

    /// XRGB8888 of rows of luma and chroma with 7 bits of fraction, of which each has 32 samples more than the output.
    pub(crate) fn pixels_444(self, rows: [&[i16]; 3], matrix: &Matrix16, out: &mut [u8]) {
        assert!(rows.iter().all(|row| row.len() >= out.len() / 4 + 32));
        // SAFETY: `self` proves that the processor has AVX2; the rows are long enough.
        unsafe { pixels_444(rows, matrix, out) }
    }
}

/// # Safety
/// The row has two samples more than twice the output.
#[target_feature(enable = "avx2")]
unsafe fn halve(row: &[u8], out: &mut [u16]) {
    let (outer, inner) = (_mm256_set1_epi16(2 | 6 << 8), _mm256_set1_epi16(6 | 2 << 8));
    let whole = out.len() / 16 * 16;
    for at in (0..whole).step_by(16) {
        // SAFETY: at + 16 <= out.len(), and 2 at + 34 <= row.len().
        unsafe {
            let a = _mm256_maddubs_epi16(load(row, 2 * at), outer);
            let b = _mm256_maddubs_epi16(load(row, 2 * at + 2), inner);
            store(out, at, _mm256_add_epi16(a, b));
        }
    }
    for at in whole..out.len() {
        let s = |k: usize| u16::from(row[2 * at + k]);
        out[at] = 2 * (s(0) + s(3)) + 6 * (s(1) + s(2));
    }
}

/// # Safety
/// Every row is as long as the output.
#[target_feature(enable = "avx2")]
unsafe fn sum_halved(rows: [&[u16]; 4], out: &mut [i16]) {
    let [a, b, c, d] = rows;
    let whole = out.len() / 16 * 16;
    for at in (0..whole).step_by(16) {
        // SAFETY: at + 16 <= out.len(), which no row is shorter than.
        unsafe {
            let inner = _mm256_add_epi16(load(b, at), load(c, at));
            let outer = _mm256_add_epi16(load(a, at), load(d, at));
            let three = _mm256_add_epi16(inner, _mm256_slli_epi16(inner, 1));
            store(out, at, _mm256_add_epi16(three, outer));
        }
    }
    for at in whole..out.len() {
        out[at] = (a[at] + 3 * (b[at] + c[at]) + d[at]) as i16;
    }
}

/// # Safety
/// The row has a sample more than the output.
#[target_feature(enable = "avx2")]
unsafe fn quarter(row: &[u8], out: &mut [i16]) {
    let near = _mm256_set1_epi16(96);
    let whole = out.len() / 16 * 16;
    for at in (0..whole).step_by(16) {
        // SAFETY: at + 16 <= out.len(), and at + 17 <= row.len().
        unsafe {
            let a = _mm256_cvtepu8_epi16(load_half(row, at));
            let b = _mm256_cvtepu8_epi16(load_half(row, at + 1));
            store(
                out,
                at,
                _mm256_add_epi16(_mm256_mullo_epi16(a, near), _mm256_slli_epi16(b, 5)),
            );
        }
    }
    for at in whole..out.len() {
        out[at] = (96 * u16::from(row[at]) + 32 * u16::from(row[at + 1])) as i16;
    }
}

/// # Safety
/// The row has a pair more than the outputs, which are of one length.
#[target_feature(enable = "avx2")]
unsafe fn quarter_pairs(row: &[[u8; 2]], low: &mut [i16], high: &mut [i16]) {
    let (near, byte) = (_mm256_set1_epi16(96), _mm256_set1_epi16(0xff));
    let mix = |a, b| _mm256_add_epi16(_mm256_mullo_epi16(a, near), _mm256_slli_epi16(b, 5));
    let whole = low.len() / 16 * 16;
    for at in (0..whole).step_by(16) {
        // SAFETY: at + 16 <= low.len() == high.len(), and at + 17 <= row.len().
        unsafe {
            let (a, b) = (load(row, at), load(row, at + 1));
            store(low, at, mix(_mm256_and_si256(a, byte), _mm256_and_si256(b, byte)));
            store(high, at, mix(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)));
        }
    }
    for at in whole..low.len() {
        let between = |k: usize| (96 * u16::from(row[at][k]) + 32 * u16::from(row[at + 1][k])) as i16;
        (low[at], high[at]) = (between(0), between(1));
    }
}

/// The matrix in vectors.
#[derive(Clone, Copy)]
struct Vectors {
    y: __m256i,
    r_cr: __m256i,
    g_cb: __m256i,
    g_cr: __m256i,
    b_cb: __m256i,
    bias: __m256i,
    /// No chroma, with 7 bits of fraction.
    middle: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn vectors(m: &Matrix16) -> Vectors {
    Vectors {
        y: _mm256_set1_epi16(m.y),
        r_cr: _mm256_set1_epi16(m.r_cr),
        g_cb: _mm256_set1_epi16(m.g_cb),
        g_cr: _mm256_set1_epi16(m.g_cr),
        b_cb: _mm256_set1_epi16(m.b_cb),
        bias: _mm256_set1_epi16(m.bias),
        middle: _mm256_set1_epi16(128 << 7),
    }
}

/// Red, green and blue as whole numbers that may still be out of range, of luma times its factor and centred chroma.
#[inline]
#[target_feature(enable = "avx2")]
fn colors(m: &Vectors, luma: __m256i, cb: __m256i, cr: __m256i) -> [__m256i; 3] {
    let y = _mm256_add_epi16(luma, m.bias);
    let green = _mm256_add_epi16(_mm256_mulhrs_epi16(cb, m.g_cb), _mm256_mulhrs_epi16(cr, m.g_cr));
    [
        _mm256_srai_epi16(_mm256_adds_epi16(y, _mm256_mulhrs_epi16(cr, m.r_cr)), 5),
        _mm256_srai_epi16(_mm256_adds_epi16(y, green), 5),
        _mm256_srai_epi16(_mm256_adds_epi16(y, _mm256_mulhrs_epi16(cb, m.b_cb)), 5),
    ]
}

/// # Safety
/// Chroma has 34 samples more than half of luma's.
#[target_feature(enable = "avx2")]
unsafe fn pixels_420(luma: &[u8], [cb, cr]: [&[u16]; 2], siting: Siting, matrix: &Matrix16, out: &mut [u8]) {
    let m = vectors(matrix);
    let whole = luma.len() / 32 * 32;
    for at in (0..whole).step_by(32) {
        // SAFETY: at + 32 <= luma.len(), so the output has 128 bytes and chroma 18 samples from there.
        unsafe {
            block_420(
                &luma[at..],
                [&cb[at / 2..], &cr[at / 2..]],
                siting,
                &m,
                &mut out[at * 4..],
            )
        };
    }
    let left = luma.len() - whole;
    if left > 0 {
        let (mut last_luma, mut last) = ([0; 32], [0; 128]);
        last_luma[..left].copy_from_slice(&luma[whole..]);
        // SAFETY: both arrays are a block long, and chroma has samples to spare.
        unsafe {
            block_420(
                &last_luma,
                [&cb[whole / 2..], &cr[whole / 2..]],
                siting,
                &m,
                &mut last,
            )
        };
        out[whole * 4..][..left * 4].copy_from_slice(&last[..left * 4]);
    }
}

/// # Safety
/// There are 32 samples of luma, 18 of chroma, and 128 bytes of output.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn block_420(luma: &[u8], [cb, cr]: [&[u16]; 2], siting: Siting, m: &Vectors, out: &mut [u8]) {
    // SAFETY: as the caller promises.
    unsafe {
        let y = load(luma, 0);
        // Luma in the upper byte: times its factor that is 5 bits of fraction. In the order of unpacked chroma.
        let zero = _mm256_setzero_si256();
        let y_low = _mm256_mulhi_epu16(_mm256_unpacklo_epi8(zero, y), m.y);
        let y_high = _mm256_mulhi_epu16(_mm256_unpackhi_epi8(zero, y), m.y);
        let (cb_low, cb_high) = interpolated(cb, siting, m);
        let (cr_low, cr_high) = interpolated(cr, siting, m);
        let low = colors(m, y_low, cb_low, cr_low);
        let high = colors(m, y_high, cb_high, cr_high);
        let [r, g, b] = [0, 1, 2].map(|i: usize| _mm256_packus_epi16(low[i], high[i]));
        put(out, 0, in_halves(r, g, b));
    }
}

/// 32 samples of centred chroma with 7 bits of fraction, as the lower and upper halves of each 16-byte lane's 16.
///
/// # Safety
/// There are 18 samples.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn interpolated(row: &[u16], siting: Siting, m: &Vectors) -> (__m256i, __m256i) {
    // SAFETY: as the caller promises.
    let (here, next) = unsafe { (load(row, 1), load(row, 2)) };
    let (even, odd) = match siting {
        Siting::Cosited => (
            _mm256_slli_epi16(here, 2),
            _mm256_slli_epi16(_mm256_add_epi16(here, next), 1),
        ),
        Siting::Centered => {
            // SAFETY: as the caller promises.
            let before = unsafe { load(row, 0) };
            let three = _mm256_add_epi16(here, _mm256_slli_epi16(here, 1));
            (_mm256_add_epi16(three, before), _mm256_add_epi16(three, next))
        }
    };
    let (even, odd) = (_mm256_sub_epi16(even, m.middle), _mm256_sub_epi16(odd, m.middle));
    (_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd))
}

/// # Safety
/// Each row has 32 samples more than there are pixels in the output.
#[target_feature(enable = "avx2")]
unsafe fn pixels_444([luma, cb, cr]: [&[i16]; 3], matrix: &Matrix16, out: &mut [u8]) {
    let m = vectors(matrix);
    let count = out.len() / 4;
    let block = |at: usize, out: &mut [u8]| {
        let half = |at: usize| {
            // SAFETY: at is less than count + 16, and every row has 32 samples more than that count.
            let (y, cb, cr) = unsafe { (load(luma, at), load(cb, at), load(cr, at)) };
            let (cb, cr) = (_mm256_sub_epi16(cb, m.middle), _mm256_sub_epi16(cr, m.middle));
            colors(&m, _mm256_mulhrs_epi16(y, m.y), cb, cr)
        };
        let (low, high) = (half(at), half(at + 16));
        let [r, g, b] = [0, 1, 2].map(|i: usize| {
            let packed = _mm256_packus_epi16(low[i], high[i]);
            _mm256_permute4x64_epi64(packed, 0b11_01_10_00)
        });
        // SAFETY: both callers give 128 bytes.
        unsafe { put(out, 0, in_halves(r, g, b)) };
    };
    let whole = count / 32 * 32;
    for at in (0..whole).step_by(32) {
        block(at, &mut out[at * 4..]);
    }
    if whole < count {
        let mut last = [0; 128];
        block(whole, &mut last);
        out[whole * 4..].copy_from_slice(&last[..(count - whole) * 4]);
    }
}
