//! Decoded planes to RGB rows on the CPU: colours, chroma interpolation and scaling in one pass.
//!
//! A [`Converter`] is made once for a stream ([`Spec`]) and then turns each frame ([`Planes`]) into pixels of
//! XRGB8888 (bytes B, G, R, 0xFF) or, for formats with alpha, of ARGB8888 with premultiplied alpha. It works row by
//! row, in one thread; intermediate rows stay in the first-level cache, each output pixel is written once, and nothing
//! is allocated after [`Converter::new`].
//!
//! # What is right
//!
//! Each component plane is resampled to the output's grid, columns and rows by themselves; then come matrix, range and
//! rounding. The definition is in real numbers; every channel of the result is within 2/255 of it.
//!
//! *Where a pixel lies.* Along an axis, output pixel `i` covers the luma interval `crop.x + [i, i + 1) · s` with
//! `s = crop.w / size.w`, where luma sample `k` covers `[k, k + 1)`. Its centre, in samples of a component that
//! `1 << sub` luma samples share, is `p = (crop.x + (i + ½) · s − ½ − offset) / (1 << sub)`; `offset` is 0 for luma,
//! and [`Siting::offset`](veil_frame::Siting::offset) for chroma.
//!
//! *Resampling.* The value at `p` is the mean of the samples `k` with the weights `max(0, 1 − |k − p| / r)`,
//! `r = max(1, s / (1 << sub))`: a tent. Not scaled, that is luma as it is, and chroma interpolated linearly at its
//! site; scaled down, the tent is as wide as two output pixels; scaled up, it is linear interpolation. A sample outside
//! the stored plane is the nearest one inside. The crop is no such edge: neighbours outside it, but stored, take part.
//!
//! *Colour.* R′G′B′ follow by [`Colorimetry::codes_to_rgb`](veil_frame::Colorimetry::codes_to_rgb) and then
//! [`tone_map::to_sdr`](veil_frame::tone_map::to_sdr), which only clips SDR with BT.709 primaries; the byte is
//! `round(255 · v)`. Samples of fewer than 8 bits (5-6-5) count as the same fraction of full scale at 8 bits. Grey is
//! luma without chroma. RGB formats are RGB whatever matrix the stream claims; YCbCr that claims to be RGB gets the
//! matrix that [`Colorimetry::assumed`](veil_frame::Colorimetry::assumed) gives for its height.
//!
//! *Alpha* is full range and resampled like luma; colours are multiplied by it last.
//!
//! # How it is fast
//!
//! Rows are filtered first, then columns, then comes the matrix. SDR with BT.709 primaries is done in 16-bit integers
//! (module `narrow`), with AVX2 where the processor has it. Two cases that nearly every video is have shorter ways with
//! AVX2 (module `video`), and RGB bytes of full range are only put in order (module `shuffle`). The rest, in linear light
//! and by tables, is done in single precision (module `wide`), because a colour near the gamut's border loses too many
//! bits otherwise. `examples/speed.rs` measures them.

#![deny(unsafe_op_in_unsafe_fn)]

mod axis;
mod converter;
mod error;
mod level;
mod light;
mod matrix;
mod narrow;
mod premultiply;
mod rewrite;
mod shuffle;
mod source;
#[cfg(target_arch = "x86_64")]
mod video;
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use converter::Converter;
pub use error::{ConvertError, SpecError};
pub use level::Level;

pub use veil_frame::{Planes, Spec};
