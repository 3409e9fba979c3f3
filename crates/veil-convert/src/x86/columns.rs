//! Filtering columns with AVX2; see `narrow::horizontal` for what is computed.

use super::{Avx2, load, load_half, starts, store};
use crate::narrow::horizontal::{Taps, any_plain, between_plain, binomial_plain};
use std::arch::x86_64::*;

impl Avx2 {
    /// See [`binomial_plain`].
    pub(crate) fn horizontal_binomial(self, row: &[i16], out: &mut [i16]) {
        assert!(row.len() >= 2 * out.len() + 2);
        // SAFETY: `self` proves that the processor has AVX2; the row has two samples an output pixel, and two more.
        unsafe { binomial(row, out) }
    }

    /// See [`between_plain`].
    pub(crate) fn horizontal_between(self, row: &[i16], weight: i16, out: &mut [i16]) {
        assert!(row.len() > out.len());
        // SAFETY: `self` proves that the processor has AVX2; the row has one more sample than there are output pixels.
        unsafe { between(row, weight, out) }
    }

    /// See [`any_plain`].
    pub(crate) fn horizontal_any(self, row: &[i16], taps: &Taps, out: &mut [i16]) {
        assert!(row.len() >= taps.needed() && out.len() <= taps.first().len());
        assert!(taps.weights().len() == taps.first().len() * taps.width());
        // SAFETY: `self` proves that the processor has AVX2; the row has what `Taps` needs, and there are weights for
        // every output pixel.
        unsafe {
            if taps.width() == 4 {
                four(row, taps, out)
            } else {
                eights(row, taps, out)
            }
        }
    }
}

/// # Safety
/// `row` has two samples for each of `out`, and two more.
#[target_feature(enable = "avx2")]
unsafe fn binomial(row: &[i16], out: &mut [i16]) {
    if out.len() < 16 {
        return binomial_plain(row, out);
    }
    for at in starts(out.len(), 16) {
        // SAFETY: a block ends within `out`, which has two samples for each and two more.
        unsafe {
            let packed = _mm256_packs_epi32(binomial_8(row, 2 * at), binomial_8(row, 2 * at + 16));
            store(out, at, _mm256_permute4x64_epi64::<0xd8>(packed));
        }
    }
}

/// 8 output pixels of 16 samples and two more.
///
/// # Safety
/// `row` has 18 samples from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn binomial_8(row: &[i16], at: usize) -> __m256i {
    let (first, second) = (_mm256_set1_epi32(0x0003_0001), _mm256_set1_epi32(0x0001_0003));
    // SAFETY: the caller promises 18 samples.
    let (x, y) = unsafe { (load(row, at), load(row, at + 2)) };
    let sum = _mm256_add_epi32(_mm256_madd_epi16(x, first), _mm256_madd_epi16(y, second));
    _mm256_srai_epi32::<3>(_mm256_add_epi32(sum, _mm256_set1_epi32(4)))
}

/// # Safety
/// `row` has one more sample than `out`.
#[target_feature(enable = "avx2")]
unsafe fn between(row: &[i16], weight: i16, out: &mut [i16]) {
    if out.len() < 16 {
        return between_plain(row, weight, out);
    }
    let factor = _mm256_set1_epi16(weight);
    for at in starts(out.len(), 16) {
        // SAFETY: a block ends within `out`, which has one sample less than `row`.
        unsafe {
            let (a, b) = (load(row, at), load(row, at + 1));
            let step = _mm256_mulhrs_epi16(_mm256_sub_epi16(b, a), factor);
            store(out, at, _mm256_add_epi16(a, step));
        }
    }
}

/// Rounds sums of 2 × 8 output pixels and makes them samples again. The order is that of `packs`.
#[inline]
#[target_feature(enable = "avx2")]
fn rounded(a: __m256i, b: __m256i) -> __m256i {
    let half = _mm256_set1_epi32(1 << 13);
    let a = _mm256_srai_epi32::<14>(_mm256_add_epi32(a, half));
    let b = _mm256_srai_epi32::<14>(_mm256_add_epi32(b, half));
    _mm256_packs_epi32(a, b)
}

/// # Safety
/// `row` has what `taps` needs; `taps` has 4 samples for each of `out`.
#[target_feature(enable = "avx2")]
unsafe fn four(row: &[i16], taps: &Taps, out: &mut [i16]) {
    if out.len() < 16 {
        return any_plain(row, taps, out);
    }
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for at in starts(out.len(), 16) {
        let first = &taps.first()[at..at + 16];
        let weights = &taps.weights()[4 * at..4 * at + 64];
        // SAFETY: `row` has 4 samples from each of 16 first ones, and there are as many weights.
        unsafe {
            let a = _mm256_hadd_epi32(
                four_by_4(row, first, weights, 0),
                four_by_4(row, first, weights, 4),
            );
            let b = _mm256_hadd_epi32(
                four_by_4(row, first, weights, 8),
                four_by_4(row, first, weights, 12),
            );
            store(out, at, _mm256_permutevar8x32_epi32(rounded(a, b), order));
        }
    }
}

/// Products of 4 output pixels from `at` on, each in two halves.
///
/// # Safety
/// There are 4 output pixels, for each of which `row` has 4 samples from its first one, and 4 weights.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four_by_4(row: &[i16], first: &[u32], weights: &[i16], at: usize) -> __m256i {
    // SAFETY: the caller promises all that is read.
    unsafe {
        let place = row.as_ptr();
        let a = _mm_castsi128_pd(_mm_loadl_epi64(place.add(first[at] as usize).cast()));
        let a = _mm_loadh_pd(a, place.add(first[at + 1] as usize).cast());
        let b = _mm_castsi128_pd(_mm_loadl_epi64(place.add(first[at + 2] as usize).cast()));
        let b = _mm_loadh_pd(b, place.add(first[at + 3] as usize).cast());
        _mm256_madd_epi16(_mm256_castpd_si256(_mm256_set_m128d(b, a)), load(weights, 4 * at))
    }
}

/// # Safety
/// `row` has what `taps` needs; `taps` has a multiple of 8 samples for each of `out`.
#[target_feature(enable = "avx2")]
unsafe fn eights(row: &[i16], taps: &Taps, out: &mut [i16]) {
    if out.len() < 16 {
        return any_plain(row, taps, out);
    }
    let width = taps.width();
    for at in starts(out.len(), 16) {
        let first = &taps.first()[at..at + 16];
        let weights = &taps.weights()[width * at..width * (at + 16)];
        // SAFETY: `row` has `width` samples from each of 16 first ones, and there are as many weights.
        unsafe {
            let (a, b) = (
                eight_sums(row, first, weights, width, 0),
                eight_sums(row, first, weights, width, 8),
            );
            store(out, at, _mm256_permute4x64_epi64::<0xd8>(rounded(a, b)));
        }
    }
}

/// Sums of 8 output pixels from `at` on.
///
/// # Safety
/// There are 8 output pixels, for each of which `row` has `width` samples from its first one, and `width` weights.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight_sums(row: &[i16], first: &[u32], weights: &[i16], width: usize, at: usize) -> __m256i {
    // SAFETY: the caller promises all that is read.
    unsafe {
        let a = two_sums(row, first, weights, width, at);
        let b = two_sums(row, first, weights, width, at + 1);
        let c = two_sums(row, first, weights, width, at + 2);
        let d = two_sums(row, first, weights, width, at + 3);
        _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d))
    }
}

/// Products of output pixels `at` and `at + 4`, each in four parts. Adding them up neighbour by neighbour brings eight
/// of them into order.
///
/// # Safety
/// As for [`eight_sums`], of these two output pixels.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn two_sums(row: &[i16], first: &[u32], weights: &[i16], width: usize, at: usize) -> __m256i {
    let (a, b) = (first[at] as usize, first[at + 4] as usize);
    let mut sum = _mm256_setzero_si256();
    for part in (0..width).step_by(8) {
        // SAFETY: the caller promises all that is read.
        unsafe {
            let samples = _mm256_set_m128i(load_half(row, b + part), load_half(row, a + part));
            let (low, high) = (at * width + part, (at + 4) * width + part);
            let weights = _mm256_set_m128i(load_half(weights, high), load_half(weights, low));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(samples, weights));
        }
    }
    sum
}
