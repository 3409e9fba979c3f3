//! Pictures to convert, made of numbers.

use veil_frame::{PixelFormat, Planes, Size};

/// A small generator of numbers that look random (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next one.
    #[allow(clippy::should_implement_trait)]
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
#[derive(Clone, Debug)]
pub struct Picture {
    /// Each plane's bytes, from its first row to the end of its last.
    pub data: Vec<Vec<u8>>,
    /// Bytes from a plane's row to the next.
    pub stride: Vec<usize>,
}

impl Picture {
    /// One of this format and size, whose rows are `padding` bytes longer than they need to be.
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

    /// The planes.
    pub fn planes(&self) -> Planes<'_> {
        let mut planes = Planes::default();
        for (i, data) in self.data.iter().enumerate() {
            planes.data[i] = data;
            planes.stride[i] = self.stride[i];
        }
        planes
    }
}
