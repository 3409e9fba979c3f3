//! Changing the order of bytes with AVX2; see `crate::shuffle` for what is computed.

use super::{Avx2, load, load_half, starts, store};
use crate::shuffle::{Order, shuffle_any};
use std::arch::x86_64::*;

impl Avx2 {
    /// See [`shuffle_any`].
    pub(crate) fn shuffle(self, step: usize, order: Order, row: &[u8], out: &mut [u8]) {
        let count = (row.len() / step).min(out.len() / 4);
        let (row, out) = (&row[..count * step], &mut out[..count * 4]);
        match step {
            // SAFETY: `self` proves that the processor has AVX2; `row` has 4 bytes for every 4 of `out`.
            4 => unsafe { fours(order, row, out) },
            // SAFETY: `self` proves that the processor has AVX2; `row` has 3 bytes for every 4 of `out`.
            3 => unsafe { threes(order, row, out) },
            _ => shuffle_any(step, order, row, out),
        }
    }
}

/// Where the bytes of 4 pixels come from in as many of `step` bytes, after `skip` other bytes; the fourth is free.
fn places(order: Order, step: u8, skip: u8) -> [u8; 16] {
    let pixel = match order {
        Order::Bgr => [0, 1, 2],
        Order::Rgb => [2, 1, 0],
        Order::XBgr => [1, 2, 3],
        Order::XRgb => [3, 2, 1],
    };
    let mut places = [0x80; 16];
    for (i, place) in places.iter_mut().enumerate().filter(|(i, _)| i % 4 < 3) {
        *place = skip + step * (i / 4) as u8 + pixel[i % 4];
    }
    places
}

/// # Safety
/// `row` is as long as `out`.
#[target_feature(enable = "avx2")]
unsafe fn fours(order: Order, row: &[u8], out: &mut [u8]) {
    if out.len() < 32 {
        return shuffle_any(4, order, row, out);
    }
    let opaque = _mm256_set1_epi32(0xff00_0000_u32 as i32);
    // SAFETY: an array of 16 bytes.
    let places = unsafe { _mm256_broadcastsi128_si256(load_half(&places(order, 4, 0), 0)) };
    for at in starts(out.len(), 32) {
        // SAFETY: a block ends within `out`, and so within `row`.
        unsafe {
            store(
                out,
                at,
                _mm256_or_si256(_mm256_shuffle_epi8(load(row, at), places), opaque),
            )
        };
    }
}

/// # Safety
/// `row` has 3 bytes for every 4 of `out`.
#[target_feature(enable = "avx2")]
unsafe fn threes(order: Order, row: &[u8], out: &mut [u8]) {
    if out.len() < 32 {
        return shuffle_any(3, order, row, out);
    }
    let opaque = _mm256_set1_epi32(0xff00_0000_u32 as i32);
    // Pixels 4 to 7 are bytes 12 to 23, and are loaded with the 4 bytes before them: so no load goes beyond the block.
    let (low, high) = (places(order, 3, 0), places(order, 3, 4));
    // SAFETY: arrays of 16 bytes.
    let places = unsafe { _mm256_set_m128i(load_half(&high, 0), load_half(&low, 0)) };
    for at in starts(out.len() / 4, 8) {
        // SAFETY: a block's 8 pixels are 24 bytes of `row` and 32 of `out`.
        unsafe {
            let x = _mm256_set_m128i(load_half(row, 3 * at + 8), load_half(row, 3 * at));
            store(
                out,
                4 * at,
                _mm256_or_si256(_mm256_shuffle_epi8(x, places), opaque),
            );
        }
    }
}
