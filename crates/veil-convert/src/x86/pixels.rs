//! The last step with AVX2; see `narrow::pack` for what is computed.

use super::{
    Avx2,
    bgra::{in_halves, pixels, put, put_last},
    load,
    luma::{Bytes, Line, LumaRow, Pairs},
    starts, store,
};
use crate::narrow::pack::{Chroma, Colors, Luma, Phase, terms_plain};
use std::arch::x86_64::*;

impl Avx2 {
    /// See [`terms_plain`].
    pub(crate) fn terms(self, colors: &Colors, chroma: [&[i16]; 2], out: [&mut [i16]; 3]) {
        let count = chroma[0].len();
        assert!(chroma[1].len() == count && out.iter().all(|row| row.len() >= count));
        // SAFETY: `self` proves that the processor has AVX2; all rows are as long as the first.
        unsafe { terms(colors, chroma, out) }
    }

    /// Pixels of luma and chroma of half its columns.
    pub(crate) fn pack_half(self, colors: &Colors, luma: Luma<'_>, chroma: Chroma<'_>, out: &mut [u8]) {
        let width = out.len() / 4;
        assert!(
            chroma
                .terms
                .iter()
                .all(|row| row.len() >= width.next_multiple_of(32) / 2 + 2)
        );
        // SAFETY: `self` proves that the processor has AVX2; terms go two samples beyond the last whole block, and
        // luma was checked to have a sample a pixel.
        unsafe {
            match luma {
                Luma::Bytes(row) => {
                    assert!(row.len() >= width);
                    half(colors, Bytes(row), chroma, out);
                }
                Luma::Pairs(row, align) => {
                    assert!(row.len() >= width);
                    half(colors, Pairs(row, align), chroma, out);
                }
                Luma::Line(row) => {
                    assert!(row.len() >= width);
                    half(colors, Line(row), chroma, out);
                }
            }
        }
    }

    /// Pixels of luma and chroma on the same grid.
    pub(crate) fn pack_full(self, colors: &Colors, rows: [&[i16]; 3], out: &mut [u8]) {
        assert!(
            rows.iter()
                .all(|row| row.len() >= (out.len() / 4).next_multiple_of(32))
        );
        // SAFETY: `self` proves that the processor has AVX2; rows go to the end of the last whole block.
        unsafe { full(colors, rows, out) }
    }

    /// Pixels of red, green and blue.
    pub(crate) fn pack_rgb(self, scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], out: &mut [u8]) {
        assert!(
            rows.iter()
                .all(|row| row.len() >= (out.len() / 4).next_multiple_of(32))
        );
        // SAFETY: `self` proves that the processor has AVX2; rows go to the end of the last whole block.
        unsafe { rgb(scale, bias, rows, out) }
    }
}

/// The matrix in vectors.
#[derive(Clone, Copy)]
struct Vectors {
    luma: __m256i,
    cr_r: __m256i,
    cb_g: __m256i,
    cr_g: __m256i,
    cb_b: __m256i,
    bias: [__m256i; 3],
}

#[inline]
#[target_feature(enable = "avx2")]
fn vectors(colors: &Colors) -> Vectors {
    let [r, g, b] = colors.bias;
    Vectors {
        luma: _mm256_set1_epi16(colors.luma as i16),
        cr_r: _mm256_set1_epi16(colors.cr_r),
        cb_g: _mm256_set1_epi16(colors.cb_g),
        cr_g: _mm256_set1_epi16(colors.cr_g),
        cb_b: _mm256_set1_epi16(colors.cb_b),
        bias: [_mm256_set1_epi16(r), _mm256_set1_epi16(g), _mm256_set1_epi16(b)],
    }
}

/// What chroma adds to red, green and blue, constants included.
#[inline]
#[target_feature(enable = "avx2")]
fn added(m: &Vectors, cb: __m256i, cr: __m256i) -> [__m256i; 3] {
    let green = _mm256_add_epi16(_mm256_mulhrs_epi16(cb, m.cb_g), _mm256_mulhrs_epi16(cr, m.cr_g));
    [
        _mm256_add_epi16(_mm256_mulhrs_epi16(cr, m.cr_r), m.bias[0]),
        _mm256_add_epi16(green, m.bias[1]),
        _mm256_add_epi16(_mm256_mulhrs_epi16(cb, m.cb_b), m.bias[2]),
    ]
}

/// # Safety
/// All rows are as long as the first of `chroma`.
#[target_feature(enable = "avx2")]
unsafe fn terms(colors: &Colors, [cb, cr]: [&[i16]; 2], [r, g, b]: [&mut [i16]; 3]) {
    if cb.len() < 16 {
        return terms_plain(colors, [cb, cr], [r, g, b]);
    }
    let m = vectors(colors);
    for at in starts(cb.len(), 16) {
        // SAFETY: a block ends within the first row, and so within all.
        unsafe {
            let [red, green, blue] = added(&m, load(cb, at), load(cr, at));
            store(r, at, red);
            store(g, at, green);
            store(b, at, blue);
        }
    }
}

/// # Safety
/// `luma` has a sample a pixel; terms have half as many, up to a multiple of 16, and two more.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half<L: LumaRow>(colors: &Colors, luma: L, chroma: Chroma<'_>, out: &mut [u8]) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match chroma.phase {
            Phase::On => half_in::<L, 0>(colors, luma, chroma.terms, out),
            Phase::OnOdd => half_in::<L, 1>(colors, luma, chroma.terms, out),
            Phase::Around => half_in::<L, 2>(colors, luma, chroma.terms, out),
            Phase::AroundOdd => half_in::<L, 3>(colors, luma, chroma.terms, out),
        }
    }
}

/// # Safety
/// As for [`half`].
#[target_feature(enable = "avx2")]
unsafe fn half_in<L: LumaRow, const PHASE: u8>(colors: &Colors, luma: L, terms: [&[i16]; 3], out: &mut [u8]) {
    let factor = _mm256_set1_epi16(colors.luma as i16);
    let width = out.len() / 4;
    let whole = width / 32 * 32;
    for at in (0..whole).step_by(32) {
        // SAFETY: luma and the output have 32 pixels from here, and terms go two samples beyond the last block.
        unsafe { put(out, at, half_block::<PHASE>(factor, luma.load(at), terms, at / 2)) };
    }
    if whole < width {
        // SAFETY: this function runs, so the processor has AVX2; terms go two samples beyond the last block.
        put_last(out, whole, unsafe {
            half_block::<PHASE>(factor, luma.load_last(whole), terms, whole / 2)
        });
    }
}

/// 32 pixels of luma of even and of odd columns.
///
/// # Safety
/// All terms have 18 from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half_block<const PHASE: u8>(
    factor: __m256i,
    [even, odd]: [__m256i; 2],
    terms: [&[i16]; 3],
    at: usize,
) -> [__m256i; 4] {
    let (even, odd) = (_mm256_mulhi_epu16(even, factor), _mm256_mulhi_epu16(odd, factor));
    // SAFETY: the caller promises 18 terms.
    let (r, g, b) = unsafe {
        (
            half_color::<PHASE>(even, odd, terms[0], at),
            half_color::<PHASE>(even, odd, terms[1], at),
            half_color::<PHASE>(even, odd, terms[2], at),
        )
    };
    in_halves(r, g, b)
}

/// A colour of 32 columns.
///
/// # Safety
/// `terms` has 18 from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half_color<const PHASE: u8>(even: __m256i, odd: __m256i, terms: &[i16], at: usize) -> __m256i {
    // Bytes of 8 even and 8 odd columns, alternating.
    let order = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
    ));
    // SAFETY: the caller promises 18 terms.
    let [e, o] = unsafe { pair::<PHASE>(terms, at) };
    let e = _mm256_srai_epi16::<5>(_mm256_add_epi16(even, e));
    let o = _mm256_srai_epi16::<5>(_mm256_add_epi16(odd, o));
    _mm256_shuffle_epi8(_mm256_packus_epi16(e, o), order)
}

/// A quarter of the way.
#[inline]
#[target_feature(enable = "avx2")]
fn quarter(from: __m256i, to: __m256i) -> __m256i {
    _mm256_add_epi16(from, _mm256_srai_epi16::<2>(_mm256_sub_epi16(to, from)))
}

/// What chroma adds to 16 even and 16 odd columns.
///
/// # Safety
/// `row` has 18 terms from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pair<const PHASE: u8>(row: &[i16], at: usize) -> [__m256i; 2] {
    // SAFETY: the caller promises 18 terms.
    let (a, b, c) = unsafe { (load(row, at), load(row, at + 1), load(row, at + 2)) };
    match PHASE {
        0 => [b, _mm256_srai_epi16::<1>(_mm256_add_epi16(b, c))],
        1 => [_mm256_srai_epi16::<1>(_mm256_add_epi16(b, c)), c],
        2 => [quarter(b, a), quarter(b, c)],
        _ => [quarter(b, c), quarter(c, b)],
    }
}

/// 32 pixels of colours of 16 bits, of columns 0 to 15 and 16 to 31.
#[inline]
#[target_feature(enable = "avx2")]
fn packed(low: [__m256i; 3], high: [__m256i; 3]) -> [__m256i; 4] {
    let [p, q, r, s] = pixels(
        packed_color(low[0], high[0]),
        packed_color(low[1], high[1]),
        packed_color(low[2], high[2]),
    );
    // Packing put columns 0 to 7 and 16 to 23 into the low half.
    [
        _mm256_permute2x128_si256::<0x20>(p, q),
        _mm256_permute2x128_si256::<0x31>(p, q),
        _mm256_permute2x128_si256::<0x20>(r, s),
        _mm256_permute2x128_si256::<0x31>(r, s),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn packed_color(low: __m256i, high: __m256i) -> __m256i {
    _mm256_packus_epi16(_mm256_srai_epi16::<5>(low), _mm256_srai_epi16::<5>(high))
}

/// # Safety
/// Rows have a sample a pixel, up to a multiple of 32.
#[target_feature(enable = "avx2")]
unsafe fn full(colors: &Colors, rows: [&[i16]; 3], out: &mut [u8]) {
    let m = vectors(colors);
    let width = out.len() / 4;
    let whole = width / 32 * 32;
    for at in (0..whole).step_by(32) {
        // SAFETY: a block ends within the pixels, and rows go as far.
        unsafe { put(out, at, packed(full_16(&m, rows, at), full_16(&m, rows, at + 16))) };
    }
    if whole < width {
        // SAFETY: rows go to the end of the last block.
        put_last(out, whole, unsafe {
            packed(full_16(&m, rows, whole), full_16(&m, rows, whole + 16))
        });
    }
}

/// Colours of 16 pixels.
///
/// # Safety
/// Rows have 16 samples from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn full_16(m: &Vectors, [y, cb, cr]: [&[i16]; 3], at: usize) -> [__m256i; 3] {
    // SAFETY: the caller promises 16 samples.
    let (y, cb, cr) = unsafe { (load(y, at), load(cb, at), load(cr, at)) };
    let y = _mm256_mulhi_epu16(_mm256_slli_epi16::<1>(y), m.luma);
    let [r, g, b] = added(m, cb, cr);
    [
        _mm256_add_epi16(y, r),
        _mm256_add_epi16(y, g),
        _mm256_add_epi16(y, b),
    ]
}

/// # Safety
/// Rows have a sample a pixel, up to a multiple of 32.
#[target_feature(enable = "avx2")]
unsafe fn rgb(scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], out: &mut [u8]) {
    let width = out.len() / 4;
    let whole = width / 32 * 32;
    for at in (0..whole).step_by(32) {
        // SAFETY: a block ends within the pixels, and rows go as far.
        unsafe {
            put(
                out,
                at,
                packed(rgb_16(scale, bias, rows, at), rgb_16(scale, bias, rows, at + 16)),
            )
        };
    }
    if whole < width {
        // SAFETY: rows go to the end of the last block.
        let last = unsafe {
            packed(
                rgb_16(scale, bias, rows, whole),
                rgb_16(scale, bias, rows, whole + 16),
            )
        };
        put_last(out, whole, last);
    }
}

/// Colours of 16 pixels.
///
/// # Safety
/// Rows have 16 samples from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rgb_16(scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], at: usize) -> [__m256i; 3] {
    let mut colors = [_mm256_setzero_si256(); 3];
    for i in 0..3 {
        // SAFETY: the caller promises 16 samples.
        let v = unsafe { load(rows[i], at) };
        let product = _mm256_mulhi_epu16(_mm256_slli_epi16::<1>(v), _mm256_set1_epi16(scale[i] as i16));
        colors[i] = _mm256_add_epi16(product, _mm256_set1_epi16(bias[i]));
    }
    colors
}
