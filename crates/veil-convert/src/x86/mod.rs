//! Code for x86-64 processors with AVX2 and FMA. All `unsafe` of this crate is in this module: calls of functions that
//! are compiled for AVX2, and loads and stores at places that the caller checked.

mod bgra;
mod bytes;
mod columns;
mod compiled;
mod luma;
mod pixels;
mod rows;
pub(crate) mod video;

use std::arch::x86_64::*;

/// Proof that the processor has AVX2 and FMA: there is no other way to make one than to ask it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Asks the processor.
    pub(crate) fn detect() -> Option<Self> {
        (std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma"))
            .then_some(Self(()))
    }
}

/// The 32 bytes from element `at` of a slice.
///
/// # Safety
/// The slice has 32 bytes from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load<T>(slice: &[T], at: usize) -> __m256i {
    debug_assert!(size_of_val(slice) >= at * size_of::<T>() + 32);
    // SAFETY: the caller promises that these bytes are inside the slice; the load needs no alignment.
    unsafe { _mm256_loadu_si256(slice.as_ptr().add(at).cast()) }
}

/// The 16 bytes from element `at` of a slice.
///
/// # Safety
/// The slice has 16 bytes from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_half<T>(slice: &[T], at: usize) -> __m128i {
    debug_assert!(size_of_val(slice) >= at * size_of::<T>() + 16);
    // SAFETY: the caller promises that these bytes are inside the slice; the load needs no alignment.
    unsafe { _mm_loadu_si128(slice.as_ptr().add(at).cast()) }
}

/// Puts 32 bytes at element `at` of a slice.
///
/// Through the caches: stores that bypass them were measured with another thread that copies each frame, as a
/// compositor does, and made writing slower by a fifth and more without making reading quicker.
///
/// # Safety
/// The slice has 32 bytes from there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store<T>(slice: &mut [T], at: usize, value: __m256i) {
    debug_assert!(size_of_val(slice) >= at * size_of::<T>() + 32);
    // SAFETY: the caller promises that these bytes are inside the slice; the store needs no alignment.
    unsafe { _mm256_storeu_si256(slice.as_mut_ptr().add(at).cast(), value) }
}

/// Asks for the memory of element `at` of a slice, which need not have one, ahead of time.
#[inline]
#[target_feature(enable = "avx2")]
fn prefetch<T>(slice: &[T], at: usize) {
    // SAFETY: this changes nothing but caches, and may be done with any address.
    // Newer compilers know that.
    #[allow(unused_unsafe)]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(at).cast());
    }
}

/// Where blocks of `size` elements begin that cover `count`. The last block ends with the last element and may overlap
/// the one before. None where there are fewer than `size` elements.
///
/// This is an iterator, and helpers are functions, because a closure that is handed to a function that is not compiled
/// for AVX2 is often not inlined.
#[inline(always)]
fn starts(count: usize, size: usize) -> impl Iterator<Item = usize> {
    let blocks = if count < size { 0 } else { count.div_ceil(size) };
    (0..blocks).map(move |block| (block * size).min(count - size))
}
