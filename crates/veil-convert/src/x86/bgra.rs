//! Pixels of XRGB8888 of vectors of colours.

use super::store;
use std::arch::x86_64::*;

/// Pixels of 32 bytes of each colour: of bytes 0 to 3, 4 to 7, 8 to 11 and 12 to 15 of both halves.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pixels(r: __m256i, g: __m256i, b: __m256i) -> [__m256i; 4] {
    let ones = _mm256_set1_epi8(-1);
    let (bg_low, bg_high) = (_mm256_unpacklo_epi8(b, g), _mm256_unpackhi_epi8(b, g));
    let (rx_low, rx_high) = (_mm256_unpacklo_epi8(r, ones), _mm256_unpackhi_epi8(r, ones));
    [
        _mm256_unpacklo_epi16(bg_low, rx_low),
        _mm256_unpackhi_epi16(bg_low, rx_low),
        _mm256_unpacklo_epi16(bg_high, rx_high),
        _mm256_unpackhi_epi16(bg_high, rx_high),
    ]
}

/// 32 pixels of bytes of each colour, in order.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn in_halves(r: __m256i, g: __m256i, b: __m256i) -> [__m256i; 4] {
    let [p, q, r, s] = pixels(r, g, b);
    // Columns 0 to 15 are in the low halves, 16 to 31 in the high ones.
    [
        _mm256_permute2x128_si256::<0x20>(p, q),
        _mm256_permute2x128_si256::<0x20>(r, s),
        _mm256_permute2x128_si256::<0x31>(p, q),
        _mm256_permute2x128_si256::<0x31>(r, s),
    ]
}

/// Stores 32 pixels.
///
/// # Safety
/// `out` has 32 pixels from `at`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn put(out: &mut [u8], at: usize, [a, b, c, d]: [__m256i; 4]) {
    // SAFETY: the caller promises 128 bytes.
    unsafe {
        store(out, 4 * at, a);
        store(out, 4 * at + 32, b);
        store(out, 4 * at + 64, c);
        store(out, 4 * at + 96, d);
    }
}

/// Stores as many of 32 pixels as there is room for.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn put_last(out: &mut [u8], at: usize, pixels: [__m256i; 4]) {
    let mut all = [0u8; 128];
    // SAFETY: the copy has 32 pixels.
    unsafe { put(&mut all, 0, pixels) };
    let out = &mut out[4 * at..];
    let count = out.len();
    out.copy_from_slice(&all[..count]);
}
