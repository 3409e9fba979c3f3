//! Filtering rows with AVX2; see `narrow::vertical` for what is computed.

use super::{Avx2, load, prefetch, starts, store};
use crate::{
    narrow::vertical::{binomial_plain, bytes_plain, pairs_plain, start, take_plain},
    source::Align,
};
use std::arch::x86_64::*;

impl Avx2 {
    /// See [`bytes_plain`].
    pub(crate) fn vertical_bytes(self, rows: &[&[u8]], weights: &[u16], out: &mut [i16]) {
        assert!(rows.iter().all(|row| row.len() >= out.len()) && weights.len() >= rows.len());
        // SAFETY: `self` proves that the processor has AVX2; every row is as long as the output.
        unsafe { bytes(rows, weights, out) }
    }

    /// See [`pairs_plain`].
    pub(crate) fn vertical_pairs(self, rows: &[&[[u8; 2]]], align: Align, weights: &[u16], out: &mut [i16]) {
        assert!(rows.iter().all(|row| row.len() >= out.len()) && weights.len() >= rows.len());
        // SAFETY: `self` proves that the processor has AVX2; every row is as long as the output.
        unsafe { pairs(rows, align, weights, out) }
    }

    /// See [`binomial_plain`].
    pub(crate) fn vertical_binomial(self, rows: [&[u8]; 4], out: &mut [i16]) {
        assert!(rows.iter().all(|row| row.len() >= out.len()));
        // SAFETY: `self` proves that the processor has AVX2; every row is as long as the output.
        unsafe { binomial(rows, out) }
    }

    /// See [`take_plain`].
    pub(crate) fn take(self, words: &[i16], step: usize, out: &mut [i16]) {
        // The vectors read whole pixels, also beyond the last word that is taken.
        if words.len() < out.len() * step || !matches!(step, 2 | 4) {
            return take_plain(words, step, out);
        }
        // SAFETY: `self` proves that the processor has AVX2; there are `step` words for each of the output.
        unsafe { take(words, step, out) }
    }
}

/// # Safety
/// Every row is as long as `out`.
#[target_feature(enable = "avx2")]
unsafe fn bytes(rows: &[&[u8]], weights: &[u16], out: &mut [i16]) {
    if out.len() < 32 || !(1..=8).contains(&rows.len()) {
        return bytes_plain(rows, weights, out);
    }
    // SAFETY: every row is as long as `out`, which is 32 at least.
    unsafe {
        match rows.len() {
            1 => bytes_by::<1>(rows, weights, out),
            2 => bytes_by::<2>(rows, weights, out),
            3 => bytes_by::<3>(rows, weights, out),
            4 => bytes_by::<4>(rows, weights, out),
            5 => bytes_by::<5>(rows, weights, out),
            6 => bytes_by::<6>(rows, weights, out),
            7 => bytes_by::<7>(rows, weights, out),
            _ => bytes_by::<8>(rows, weights, out),
        }
    }
}

/// The first rows and weights of more, as arrays; empty rows if there are not so many.
fn taken<'a, T, const TAPS: usize>(rows: &[&'a [T]], weights: &[u16]) -> ([&'a [T]; TAPS], [u16; TAPS]) {
    let rows = rows.first_chunk().copied().unwrap_or([&[]; TAPS]);
    (rows, weights.first_chunk().copied().unwrap_or([0; TAPS]))
}

/// # Safety
/// There are as many rows, of which every one is as long as `out`, which is 32 at least.
#[target_feature(enable = "avx2")]
unsafe fn bytes_by<const TAPS: usize>(rows: &[&[u8]], weights: &[u16], out: &mut [i16]) {
    let (rows, weights) = taken::<u8, TAPS>(rows, weights);
    let zero = _mm256_setzero_si256();
    let begin = _mm256_set1_epi16(start(TAPS) as i16);
    for at in starts(out.len(), 32) {
        let (mut low, mut high) = (begin, begin);
        prefetch_next(&rows, at);
        for tap in 0..TAPS {
            let weight = _mm256_set1_epi16(weights[tap] as i16);
            // SAFETY: a block ends within `out`, and so do all rows.
            let x = unsafe { load(rows[tap], at) };
            low = _mm256_add_epi16(low, _mm256_mulhi_epu16(_mm256_unpacklo_epi8(zero, x), weight));
            high = _mm256_add_epi16(high, _mm256_mulhi_epu16(_mm256_unpackhi_epi8(zero, x), weight));
        }
        // SAFETY: a block ends within `out`.
        unsafe { store_unpacked(out, at, low, high) };
    }
}

/// Asks for what is below: rows are too short, and too many at once, for the processor to foresee the next ones. The
/// stride is about their length. A fifth faster for 2160p.
#[inline]
#[target_feature(enable = "avx2")]
fn prefetch_next<T, const TAPS: usize>(rows: &[&[T]; TAPS], at: usize) {
    if TAPS > 1 {
        let last = rows[TAPS - 1];
        prefetch(last, at + last.len());
        prefetch(last, at + 2 * last.len());
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
    if out.len() < 16 || !(1..=8).contains(&rows.len()) {
        return pairs_plain(rows, align, weights, out);
    }
    // SAFETY: every row is as long as `out`, which is 16 at least.
    unsafe {
        match rows.len() {
            1 => pairs_by::<1>(rows, align, weights, out),
            2 => pairs_by::<2>(rows, align, weights, out),
            3 => pairs_by::<3>(rows, align, weights, out),
            4 => pairs_by::<4>(rows, align, weights, out),
            5 => pairs_by::<5>(rows, align, weights, out),
            6 => pairs_by::<6>(rows, align, weights, out),
            7 => pairs_by::<7>(rows, align, weights, out),
            _ => pairs_by::<8>(rows, align, weights, out),
        }
    }
}

/// # Safety
/// There are as many rows, of which every one is as long as `out`, which is 16 at least.
#[target_feature(enable = "avx2")]
unsafe fn pairs_by<const TAPS: usize>(rows: &[&[[u8; 2]]], align: Align, weights: &[u16], out: &mut [i16]) {
    let (rows, weights) = taken::<[u8; 2], TAPS>(rows, weights);
    let begin = _mm256_set1_epi16(start(TAPS) as i16);
    let shift = _mm_cvtsi32_si128(i32::from(align.shift));
    let mask = _mm256_set1_epi16(align.mask as i16);
    for at in starts(out.len(), 16) {
        let mut sum = begin;
        prefetch_next(&rows, at);
        for tap in 0..TAPS {
            // SAFETY: a block ends within `out`, and so do all rows.
            let x = unsafe { load(rows[tap], at) };
            let x = _mm256_and_si256(_mm256_sll_epi16(x, shift), mask);
            sum = _mm256_add_epi16(sum, _mm256_mulhi_epu16(x, _mm256_set1_epi16(weights[tap] as i16)));
        }
        // SAFETY: a block ends within `out`.
        unsafe { store(out, at, sum) };
    }
}

/// Two rows' share of the weights 1, 3 and 3, 1: the first row's weight is the lower byte.
#[inline]
#[target_feature(enable = "avx2")]
fn weighed(a: __m256i, b: __m256i, weights: __m256i) -> [__m256i; 2] {
    [
        _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), weights),
        _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), weights),
    ]
}

/// # Safety
/// Every row is as long as `out`.
#[target_feature(enable = "avx2")]
unsafe fn binomial([a, b, c, d]: [&[u8]; 4], out: &mut [i16]) {
    if out.len() < 32 {
        return binomial_plain([a, b, c, d], out);
    }
    let (upper, lower) = (_mm256_set1_epi16(0x0301), _mm256_set1_epi16(0x0103));
    for at in starts(out.len(), 32) {
        // SAFETY: a block ends within `out`, and so do all rows.
        unsafe {
            let [ab_low, ab_high] = weighed(load(a, at), load(b, at), upper);
            let [cd_low, cd_high] = weighed(load(c, at), load(d, at), lower);
            let low = _mm256_slli_epi16::<4>(_mm256_add_epi16(ab_low, cd_low));
            let high = _mm256_slli_epi16::<4>(_mm256_add_epi16(ab_high, cd_high));
            store_unpacked(out, at, low, high);
        }
    }
}

/// # Safety
/// `words` has `step` words for each of `out`; `step` is 2 or 4.
#[target_feature(enable = "avx2")]
unsafe fn take(words: &[i16], step: usize, out: &mut [i16]) {
    if out.len() < 16 {
        return take_plain(words, step, out);
    }
    if step == 2 {
        let mask = _mm256_set1_epi32(0xffff);
        for at in starts(out.len(), 16) {
            // SAFETY: a block ends within `out`, which has two words for each.
            unsafe {
                let (a, b) = (load(words, 2 * at), load(words, 2 * at + 16));
                let packed = _mm256_packus_epi32(_mm256_and_si256(a, mask), _mm256_and_si256(b, mask));
                store(out, at, _mm256_permute4x64_epi64::<0xd8>(packed));
            }
        }
        return;
    }
    let mask = _mm256_set1_epi64x(0xffff);
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for at in starts(out.len(), 16) {
        // SAFETY: a block ends within `out`, which has four words for each.
        unsafe {
            let a = _mm256_and_si256(load(words, 4 * at), mask);
            let b = _mm256_and_si256(load(words, 4 * at + 16), mask);
            let c = _mm256_and_si256(load(words, 4 * at + 32), mask);
            let d = _mm256_and_si256(load(words, 4 * at + 48), mask);
            let packed = _mm256_packus_epi32(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
            store(out, at, _mm256_permutevar8x32_epi32(packed, order));
        }
    }
}
