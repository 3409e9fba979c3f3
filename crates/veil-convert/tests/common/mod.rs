//! Pictures to convert, and the comparison with the reference.

#![allow(unreachable_pub, clippy::unwrap_used)]

#[path = "../reference/mod.rs"]
pub mod reference;

use veil_convert::{Converter, Level, Planes, Spec};
use veil_frame::{PixelFormat, Size};

/// A small generator of numbers that look random (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// Any byte anywhere.
    Noise,
    /// All bits 0 or all 1, in fields of the size of a sample and larger.
    Extremes,
    /// Slow waves around the middle: what pictures are like.
    Smooth,
}

/// Planes with a padded stride, and padding that is not 0.
pub struct Picture {
    pub data: Vec<Vec<u8>>,
    pub stride: Vec<usize>,
}

impl Picture {
    pub fn new(
        format: PixelFormat,
        size: Size,
        padding: usize,
        content: Content,
        random: &mut Random,
    ) -> Self {
        let info = format.info();
        let mut picture = Self {
            data: Vec::new(),
            stride: Vec::new(),
        };
        for plane in 0..usize::from(info.planes) {
            let row = info.plane_row_bytes(plane, size.w);
            let rows = info.plane_rows(plane, size.h) as usize;
            let stride = row + padding;
            // The last row has no padding: nothing may be read there.
            let mut data = vec![0; stride * (rows - 1) + row];
            let phase = random.next() as usize;
            for (i, byte) in data.iter_mut().enumerate() {
                let (x, y) = (i % stride, i / stride);
                *byte = match content {
                    Content::Noise => (random.next() >> 32) as u8,
                    Content::Extremes => {
                        let field = if y < rows / 2 {
                            (x >> 1) + y + phase
                        } else {
                            (x >> 3) ^ (y >> 1) ^ phase
                        };
                        if field & 1 == 0 { 0 } else { 255 }
                    }
                    Content::Smooth => {
                        let (x, y) = (x as f64, y as f64 + (phase % 7) as f64);
                        (128.0 + 60.0 * (x / 9.0).sin() + 50.0 * (y / 7.0).cos()) as u8
                    }
                };
            }
            picture.data.push(data);
            picture.stride.push(stride);
        }
        picture
    }

    pub fn planes(&self) -> Planes<'_> {
        let mut planes = Planes::default();
        for (i, data) in self.data.iter().enumerate() {
            planes.data[i] = data;
            planes.stride[i] = self.stride[i];
        }
        planes
    }
}

/// Converts with every level, and says how far the worst channel is from the reference. The bytes between rows must
/// stay as they are, and integers must give the same on every level.
pub fn worst_error(spec: &Spec, picture: &Picture, padding: usize) -> f64 {
    let planes = picture.planes();
    let expected = reference::convert(spec, &planes);
    let row = spec.size.w as usize * 4;
    let stride = row + padding;
    let mut worst = 0f64;
    for &level in Level::available() {
        let mut out = vec![0x5a; stride * (spec.size.h as usize - 1) + row];
        let mut converter = Converter::with_level(spec, level).unwrap();
        converter.convert(&planes, &mut out, stride).unwrap();
        for (y, line) in out.chunks(stride).enumerate() {
            assert!(
                line[row..].iter().all(|b| *b == 0x5a),
                "{level:?} wrote beyond a row: {spec:?}"
            );
            for (x, pixel) in line[..row].chunks_exact(4).enumerate() {
                let want = expected[y * spec.size.w as usize + x].map(f64::round);
                let got = [pixel[2], pixel[1], pixel[0], pixel[3]].map(f64::from);
                for i in 0..4 {
                    let error = (got[i] - want[i]).abs();
                    assert!(
                        error <= 2.0,
                        "{level:?} at {x},{y}: {got:?} instead of {want:?}: {spec:?}"
                    );
                    worst = worst.max(error);
                }
            }
        }
        // Once more into the same memory: nothing may be left over from the first frame.
        let before = out.clone();
        converter.convert(&planes, &mut out, stride).unwrap();
        assert!(
            out == before,
            "{level:?} converts a second frame differently: {spec:?}"
        );
    }
    worst
}
