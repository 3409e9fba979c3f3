//! Luma for the last step, however it is stored.

use super::load;
use crate::source::Align;
use std::arch::x86_64::*;

/// Where luma comes from, 32 samples of 16 bits at a time: those of even columns, and those of odd ones. In both, the
/// first 16 columns are in the lower half.
pub(super) trait LumaRow: Copy {
    /// # Safety
    /// The processor has AVX2, and there are 32 samples from `at`.
    unsafe fn load(self, at: usize) -> [__m256i; 2];

    /// The up to 31 samples from `at`, and others to make up 32.
    ///
    /// # Safety
    /// The processor has AVX2.
    unsafe fn load_last(self, at: usize) -> [__m256i; 2];
}

/// Samples of 8 bits.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);
/// Samples in pairs of bytes.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'a>(pub(super) &'a [[u8; 2]], pub(super) Align);
/// Samples of 15 bits.
#[derive(Clone, Copy)]
pub(super) struct Line<'a>(pub(super) &'a [i16]);

/// A copy of what is left from `at`, made up to 32 elements.
fn padded<T: Copy + Default>(row: &[T], at: usize) -> [T; 32] {
    let mut all = [T::default(); 32];
    let rest = &row[at..];
    let count = rest.len().min(32);
    all[..count].copy_from_slice(&rest[..count]);
    all
}

/// Takes words of even and of odd columns apart.
#[inline]
#[target_feature(enable = "avx2")]
fn apart(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let mask = _mm256_set1_epi32(0xffff);
    let even = _mm256_packus_epi32(_mm256_and_si256(a, mask), _mm256_and_si256(b, mask));
    let odd = _mm256_packus_epi32(_mm256_srli_epi32::<16>(a), _mm256_srli_epi32::<16>(b));
    [
        _mm256_permute4x64_epi64::<0xd8>(even),
        _mm256_permute4x64_epi64::<0xd8>(odd),
    ]
}

impl LumaRow for Bytes<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(self, at: usize) -> [__m256i; 2] {
        // SAFETY: the caller promises 32 bytes.
        let x = unsafe { load(self.0, at) };
        [
            _mm256_slli_epi16::<8>(x),
            _mm256_and_si256(x, _mm256_set1_epi16(0xff00_u16 as i16)),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_last(self, at: usize) -> [__m256i; 2] {
        // SAFETY: the copy has 32 bytes.
        unsafe { Bytes(&padded(self.0, at)).load(0) }
    }
}

impl LumaRow for Pairs<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(self, at: usize) -> [__m256i; 2] {
        let shift = _mm_cvtsi32_si128(i32::from(self.1.shift));
        let mask = _mm256_set1_epi16(self.1.mask as i16);
        // SAFETY: the caller promises 32 pairs.
        let [even, odd] = unsafe { apart(load(self.0, at), load(self.0, at + 16)) };
        [
            _mm256_and_si256(_mm256_sll_epi16(even, shift), mask),
            _mm256_and_si256(_mm256_sll_epi16(odd, shift), mask),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_last(self, at: usize) -> [__m256i; 2] {
        // SAFETY: the copy has 32 pairs.
        unsafe { Pairs(&padded(self.0, at), self.1).load(0) }
    }
}

impl LumaRow for Line<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(self, at: usize) -> [__m256i; 2] {
        // SAFETY: the caller promises 32 samples.
        let [even, odd] = unsafe { apart(load(self.0, at), load(self.0, at + 16)) };
        [_mm256_slli_epi16::<1>(even), _mm256_slli_epi16::<1>(odd)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_last(self, at: usize) -> [__m256i; 2] {
        // SAFETY: the copy has 32 samples.
        unsafe { Line(&padded(self.0, at)).load(0) }
    }
}
