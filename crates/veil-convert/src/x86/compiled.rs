//! Plain loops, compiled for AVX2.

use super::Avx2;
use crate::{
    premultiply::premultiply_any,
    rewrite::{How, rewrite_any},
    source::Words,
    wide::stages::{Color, accumulate_any, colors_any, resample_any, take_any},
};

/// Methods of [`Avx2`] that are a plain function, compiled for it.
macro_rules! compiled {
    ($($(#[$doc:meta])* $name:ident = $plain:ident($($arg:ident: $type:ty),+);)+) => {
        impl Avx2 {
            $(
                $(#[$doc])*
                pub(crate) fn $name(self, $($arg: $type),+) {
                    #[target_feature(enable = "avx2,fma")]
                    fn compiled($($arg: $type),+) {
                        $plain($($arg),+);
                    }
                    // SAFETY: `self` proves that the processor has what the function is compiled for.
                    unsafe { compiled($($arg),+) }
                }
            )+
        }
    };
}

compiled! {
    /// See [`accumulate_any`].
    wide_accumulate = accumulate_any(sum: &mut [f32], row: Words<'_>, weight: f32, add: bool);
    /// See [`resample_any`].
    wide_resample = resample_any(row: &[f32], first: &[u32], taps: usize, weights: &[f32], out: &mut [f32]);
    /// See [`take_any`].
    wide_take = take_any(row: &[f32], step: usize, out: &mut [f32]);
    /// See [`colors_any`].
    wide_colors = colors_any(color: &Color, rows: [&[f32]; 3], alpha: Option<&[f32]>, out: &mut [u8]);
    /// See [`rewrite_any`].
    rewrite = rewrite_any(how: &How, bytes: &[u8], out: &mut [[u8; 2]]);
    /// See [`premultiply_any`].
    premultiply = premultiply_any(alpha: &[i16], out: &mut [u8]);
}
