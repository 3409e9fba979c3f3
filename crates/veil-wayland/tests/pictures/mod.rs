//! Pictures in four colours, in any format whose layout is row after row.

#![allow(dead_code, clippy::unwrap_used)]

use veil_dmabuf::Linear;
use veil_frame::{Colorimetry, Matrix, Model, PixelFormat, Primaries, Range, Size, Transfer};

/// Red, green, blue, and a grey: a mistaken order, matrix or range shows in one of them.
pub(crate) const QUARTERS: [[u8; 3]; 4] = [[200, 30, 30], [30, 160, 60], [40, 60, 200], [128, 128, 128]];

/// YCbCr of this matrix and range, and all else as usual.
pub(crate) fn coding(matrix: Matrix, range: Range) -> Colorimetry {
    Colorimetry {
        matrix,
        range,
        primaries: Primaries::Bt709,
        transfer: Transfer::Sdr,
    }
}

/// The code of a colour's component.
fn code(format: PixelFormat, component: usize, rgb: [u8; 3], coding: Colorimetry) -> u32 {
    let info = format.info();
    let bits = info.components[component].bits;
    let whole = f64::from((1u32 << bits) - 1);
    let rgb = rgb.map(|value| f64::from(value) / 255.0);
    let value = match (info.model, component) {
        (_, 3) => whole,
        (Model::Rgb, _) => rgb[component] * whole,
        _ => {
            let (kr, kb) = coding.matrix.luma_weights().unwrap();
            let luma = kr * rgb[0] + (1.0 - kr - kb) * rgb[1] + kb * rgb[2];
            let value = [
                luma,
                (rgb[2] - luma) / (2.0 - 2.0 * kb),
                (rgb[0] - luma) / (2.0 - 2.0 * kr),
            ];
            let (zero, span) = match (coding.range, component) {
                (Range::Limited, 0) => (16.0 / 256.0, 219.0 / 256.0),
                (Range::Limited, _) => (0.5, 224.0 / 256.0),
                (Range::Full, 0) => (0.0, whole / (whole + 1.0)),
                (Range::Full, _) => (0.5, whole / (whole + 1.0)),
            };
            (zero + span * value[component]) * (whole + 1.0)
        }
    };
    value.round().clamp(0.0, whole) as u32
}

/// Fills memory of this layout with one colour a quarter: the two above, the two below.
pub(crate) fn draw(
    bytes: &mut [u8],
    linear: &Linear,
    (format, size): (PixelFormat, Size),
    colours: [[u8; 3]; 4],
    coding: Colorimetry,
) {
    let info = format.info();
    for (index, c) in info.components.iter().enumerate() {
        let (w, h) = info.component_size(index, size.w, size.h);
        let codes = colours.map(|colour| code(format, index, colour, coding) << c.shift);
        for y in 0..h {
            for x in 0..w {
                let quarter = usize::from(2 * x >= w) + 2 * usize::from(2 * y >= h);
                let plane = usize::from(c.plane);
                let at = linear.offset[plane]
                    + y as usize * linear.stride[plane]
                    + usize::from(c.offset)
                    + x as usize * usize::from(c.step);
                // Components of one word do not overlap.
                for (byte, part) in bytes[at..]
                    .iter_mut()
                    .zip(codes[quarter].to_le_bytes())
                    .take(c.word.into())
                {
                    *byte |= part;
                }
            }
        }
    }
}
