//! Filtering rows with AVX2; see `narrow::vertical` for what is computed.

use super::{Avx2, blocks, load, store};
use crate::{
    narrow::vertical::{binomial_from, bytes_from, pairs_from, start, take_from},
    source::Align,
};
use std::arch::x86_64::*;

impl Avx2 {
    /// See [`bytes_from`].
    pub(crate) fn vertical_bytes(self, rows: &[&[u8]], weights: &[u16], out: &mut [i16]) {
        assert!(rows.iter().all(|row| row.len() >= out.len()) && weights.len() >= rows.len());
        // SAFETY: `self` proves that the processor has AVX2; every row is as long as the output.
        unsafe { bytes(rows, weights, out) }
    }

    /// See [`pairs_from`].
    pub(crate) fn vertical_pairs(self, rows: &[&[[u8; 2]]], align: Align, weights: &[u16], out: &mut [i16]) {
        assert!(rows.iter().all(|row| row.len() >= out.len()) && weights.len() >= rows.len());
        // SAFETY: `self` proves that the processor has AVX2; every row is as long as the output.
        unsafe { pairs(rows, align, weights, out) }
    }

    /// See [`binomial_from`].
    pub(crate) fn vertical_binomial(self, rows: [&[u8]; 4], out: &mut [i16]) {
        assert!(rows.iter().all(|row| row.len() >= out.len()));
        // SAFETY: `self` proves that the processor has AVX2; every row is as long as the output.
        unsafe { binomial(rows, out) }
    }

    /// See [`take_from`].
    pub(crate) fn take(self, words: &[i16], step: usize, out: &mut [i16]) {
        // The vectors read whole pixels, also beyond the last word that is taken.
        if words.len() < out.len() * step || !matches!(step, 2 | 4) {
            return take_from(0, words, step, out);
        }
        // SAFETY: `self` proves that the processor has AVX2; there are `step` words for each of the output.
        unsafe { take(words, step, out) }
    }
}

/// # Safety
/// Every row is as long as `out`.
#[target_feature(enable = "avx2")]
unsafe fn bytes(rows: &[&[u8]], weights: &[u16], out: &mut [i16]) {
    let count = out.len();
    let zero = _mm256_setzero_si256();
    let begin = _mm256_set1_epi16(start(rows.len()) as i16);
    let left = blocks(count, 32, |at| {
        let (mut low, mut high) = (begin, begin);
        for (row, &weight) in rows.iter().zip(weights) {
            let weight = _mm256_set1_epi16(weight as i16);
            // SAFETY: a block ends within `count`, and so do all rows.
            let x = unsafe { load(row, at) };
            low = _mm256_add_epi16(low, _mm256_mulhi_epu16(_mm256_unpacklo_epi8(zero, x), weight));
            high = _mm256_add_epi16(high, _mm256_mulhi_epu16(_mm256_unpackhi_epi8(zero, x), weight));
        }
        // SAFETY: a block ends within `count`.
        unsafe { store_unpacked(out, at, low, high) };
    });
    if left > 0 {
        bytes_from(0, rows, weights, out);
    }
}

/// Stores 32 words whose order is that of bytes that were unpacked.
///
/// # Safety
/// `out` has 32 words from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_unpacked(out: &mut [i16], at: usize, low: __m256i, high: __m256i) {
    // SAFETY: the caller promises 32 words.
    unsafe {
        store(out, at, _mm256_permute2x128_si256::<0x20>(low, high));
        store(out, at + 16, _mm256_permute2x128_si256::<0x31>(low, high));
    }
}

/// # Safety
/// Every row is as long as `out`.
#[target_feature(enable = "avx2")]
unsafe fn pairs(rows: &[&[[u8; 2]]], align: Align, weights: &[u16], out: &mut [i16]) {
    let begin = _mm256_set1_epi16(start(rows.len()) as i16);
    let shift = _mm_cvtsi32_si128(i32::from(align.shift));
    let mask = _mm256_set1_epi16(align.mask as i16);
    let left = blocks(out.len(), 16, |at| {
        let mut sum = begin;
        for (row, &weight) in rows.iter().zip(weights) {
            // SAFETY: a block ends within `out`, and so do all rows.
            let x = unsafe { load(row, at) };
            let x = _mm256_and_si256(_mm256_sll_epi16(x, shift), mask);
            sum = _mm256_add_epi16(sum, _mm256_mulhi_epu16(x, _mm256_set1_epi16(weight as i16)));
        }
        // SAFETY: a block ends within `out`.
        unsafe { store(out, at, sum) };
    });
    if left > 0 {
        pairs_from(0, rows, align, weights, out);
    }
}

/// # Safety
/// Every row is as long as `out`.
#[target_feature(enable = "avx2")]
unsafe fn binomial(rows: [&[u8]; 4], out: &mut [i16]) {
    let outer = _mm256_set1_epi16(0x0301);
    let inner = _mm256_set1_epi16(0x0103);
    let left = blocks(out.len(), 32, |at| {
        // SAFETY: a block ends within `out`, and so do all rows.
        let [a, b, c, d] = rows.map(|row| unsafe { load(row, at) });
        let low = _mm256_add_epi16(
            _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), outer),
            _mm256_maddubs_epi16(_mm256_unpacklo_epi8(c, d), inner),
        );
        let high = _mm256_add_epi16(
            _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), outer),
            _mm256_maddubs_epi16(_mm256_unpackhi_epi8(c, d), inner),
        );
        // SAFETY: a block ends within `out`.
        unsafe { store_unpacked(out, at, _mm256_slli_epi16::<4>(low), _mm256_slli_epi16::<4>(high)) };
    });
    if left > 0 {
        binomial_from(0, rows, out);
    }
}

/// # Safety
/// `words` has `step` words for each of `out`; `step` is 2 or 4.
#[target_feature(enable = "avx2")]
unsafe fn take(words: &[i16], step: usize, out: &mut [i16]) {
    let left = if step == 2 {
        let mask = _mm256_set1_epi32(0xffff);
        blocks(out.len(), 16, |at| {
            // SAFETY: a block ends within `out`, which has two words for each.
            let [a, b] = [0, 16].map(|i| unsafe { load(words, 2 * at + i) });
            let packed = _mm256_packus_epi32(_mm256_and_si256(a, mask), _mm256_and_si256(b, mask));
            // SAFETY: a block ends within `out`.
            unsafe { store(out, at, _mm256_permute4x64_epi64::<0xd8>(packed)) };
        })
    } else {
        let mask = _mm256_set1_epi64x(0xffff);
        let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        blocks(out.len(), 16, |at| {
            // SAFETY: a block ends within `out`, which has four words for each.
            let x = [0, 16, 32, 48].map(|i| unsafe { _mm256_and_si256(load(words, 4 * at + i), mask) });
            let packed =
                _mm256_packus_epi32(_mm256_packus_epi32(x[0], x[1]), _mm256_packus_epi32(x[2], x[3]));
            // SAFETY: a block ends within `out`.
            unsafe { store(out, at, _mm256_permutevar8x32_epi32(packed, order)) };
        })
    };
    if left > 0 {
        take_from(0, words, step, out);
    }
}
