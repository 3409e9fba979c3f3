//! Filtering columns with AVX2; see `narrow::horizontal` for what is computed.

use super::{Avx2, blocks, load, load_half, store};
use crate::narrow::horizontal::{Taps, any_from, between_from, binomial_from};
use std::arch::x86_64::*;

impl Avx2 {
    /// See [`binomial_from`].
    pub(crate) fn horizontal_binomial(self, row: &[i16], out: &mut [i16]) {
        assert!(row.len() >= 2 * out.len() + 2);
        // SAFETY: `self` proves that the processor has AVX2; the row has two samples an output pixel, and two more.
        unsafe { binomial(row, out) }
    }

    /// See [`between_from`].
    pub(crate) fn horizontal_between(self, row: &[i16], weight: i16, out: &mut [i16]) {
        assert!(row.len() > out.len());
        // SAFETY: `self` proves that the processor has AVX2; the row has one more sample than there are output pixels.
        unsafe { between(row, weight, out) }
    }

    /// See [`any_from`].
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
    let outer = _mm256_set1_epi32(0x0003_0001);
    let inner = _mm256_set1_epi32(0x0001_0003);
    let half = _mm256_set1_epi32(4);
    let left = blocks(out.len(), 16, |at| {
        let [a, b] = [0, 16].map(|i| {
            // SAFETY: a block ends within `out`, which has two samples for each and two more.
            let (x, y) = unsafe { (load(row, 2 * at + i), load(row, 2 * at + i + 2)) };
            let sum = _mm256_add_epi32(_mm256_madd_epi16(x, outer), _mm256_madd_epi16(y, inner));
            _mm256_srai_epi32::<3>(_mm256_add_epi32(sum, half))
        });
        let packed = _mm256_permute4x64_epi64::<0xd8>(_mm256_packs_epi32(a, b));
        // SAFETY: a block ends within `out`.
        unsafe { store(out, at, packed) };
    });
    if left > 0 {
        binomial_from(0, row, out);
    }
}

/// # Safety
/// `row` has one more sample than `out`.
#[target_feature(enable = "avx2")]
unsafe fn between(row: &[i16], weight: i16, out: &mut [i16]) {
    let factor = _mm256_set1_epi16(weight);
    let left = blocks(out.len(), 16, |at| {
        // SAFETY: a block ends within `out`, which has one sample less than `row`.
        let (a, b) = unsafe { (load(row, at), load(row, at + 1)) };
        let step = _mm256_mulhrs_epi16(_mm256_sub_epi16(b, a), factor);
        // SAFETY: a block ends within `out`.
        unsafe { store(out, at, _mm256_add_epi16(a, step)) };
    });
    if left > 0 {
        between_from(0, row, weight, out);
    }
}

/// Rounds sums of 2 × 8 output pixels and makes them samples again. The order is that of `packs`.
#[inline]
#[target_feature(enable = "avx2")]
fn rounded(a: __m256i, b: __m256i) -> __m256i {
    let half = _mm256_set1_epi32(1 << 13);
    let round = |sum| _mm256_srai_epi32::<14>(_mm256_add_epi32(sum, half));
    _mm256_packs_epi32(round(a), round(b))
}

/// # Safety
/// `row` has what `taps` needs; `taps` has 4 samples for each of `out`.
#[target_feature(enable = "avx2")]
unsafe fn four(row: &[i16], taps: &Taps, out: &mut [i16]) {
    let (first, weights) = (taps.first(), taps.weights());
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let left = blocks(out.len(), 16, |at| {
        let sums = [0, 8].map(|group| {
            let products = [0, 4].map(|i| {
                let i = at + group + i;
                let samples = [0, 2].map(|j| {
                    let place = |k: usize| row.as_ptr().wrapping_add(first[i + j + k] as usize);
                    // SAFETY: `row` has 4 samples from the first one of every output pixel.
                    unsafe {
                        let low = _mm_castsi128_pd(_mm_loadl_epi64(place(0).cast()));
                        _mm_castpd_si128(_mm_loadh_pd(low, place(1).cast()))
                    }
                });
                // SAFETY: there are 4 weights for every output pixel, and a block ends within `out`.
                let weights = unsafe { load(weights, 4 * i) };
                _mm256_madd_epi16(_mm256_set_m128i(samples[1], samples[0]), weights)
            });
            _mm256_hadd_epi32(products[0], products[1])
        });
        let packed = _mm256_permutevar8x32_epi32(rounded(sums[0], sums[1]), order);
        // SAFETY: a block ends within `out`.
        unsafe { store(out, at, packed) };
    });
    if left > 0 {
        any_from(0, row, taps, out);
    }
}

/// # Safety
/// `row` has what `taps` needs; `taps` has a multiple of 8 samples for each of `out`.
#[target_feature(enable = "avx2")]
unsafe fn eights(row: &[i16], taps: &Taps, out: &mut [i16]) {
    let (first, weights, width) = (taps.first(), taps.weights(), taps.width());
    let left = blocks(out.len(), 16, |at| {
        let sums = [0, 8].map(|group| {
            // Output pixels i and i + 4 share a vector, so that the sums end up in order.
            let products = [0, 1, 2, 3].map(|i| {
                let (a, b) = (at + group + i, at + group + i + 4);
                let mut sum = _mm256_setzero_si256();
                let mut part = 0;
                while part < width {
                    // SAFETY: `row` has `width` samples from the first one of every output pixel, each of which has
                    // `width` weights, and a block ends within `out`.
                    let (x, w) = unsafe {
                        (
                            _mm256_set_m128i(
                                load_half(row, first[b] as usize + part),
                                load_half(row, first[a] as usize + part),
                            ),
                            _mm256_set_m128i(
                                load_half(weights, b * width + part),
                                load_half(weights, a * width + part),
                            ),
                        )
                    };
                    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
                    part += 8;
                }
                sum
            });
            let [a, b, c, d] = products;
            _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d))
        });
        let packed = _mm256_permute4x64_epi64::<0xd8>(rounded(sums[0], sums[1]));
        // SAFETY: a block ends within `out`.
        unsafe { store(out, at, packed) };
    });
    if left > 0 {
        any_from(0, row, taps, out);
    }
}
