//! The two conversions that nearly every video takes, on processors with AVX2: 8-bit 4:2:0, as large as it is stored, or
//! exactly half as large, as a 2160p video is on a 1080p output.
//!
//! The general way ([`crate::narrow`]) does them too; here fewer rows are written and read again in between, which is a
//! quarter of the time for the first and half of it for the second. Samples have 7 bits of fraction before the matrix,
//! colours 5 after it; at the sites and scales that are taken here all weights are powers of two or sums of two such, so
//! interpolation is exact.

use crate::{
    Planes, Spec,
    axis::Axis,
    level::Cpu,
    x86::{Avx2, video::Matrix16},
};
use veil_frame::{PixelFormat, Siting, Size};

/// Samples after a row of chroma that whole vectors may read.
const SPARE: usize = 64;
/// What a chroma row is multiplied by when two rows are blended.
const BLENDED: f64 = 32.0;

/// See the module.
#[derive(Debug)]
pub(crate) struct Video {
    cpu: Avx2,
    matrix: Matrix16,
    stored: Size,
    chroma: Size,
    /// First column, even.
    left: usize,
    size: Size,
    planes: Chroma,
    luma_rows: Axis,
    chroma_rows: Axis,
    geometry: Geometry,
}

/// Where Cb and Cr are.
#[derive(Clone, Copy, Debug)]
enum Chroma {
    /// In planes of these numbers.
    Planar(usize, usize),
    /// By turns in plane 1, Cr first if so.
    Interleaved { cr_first: bool },
}

#[derive(Debug)]
enum Geometry {
    /// One pixel for each that is stored.
    Same {
        siting: Siting,
        /// Cb and Cr, blended; each with the sample to the left of the crop first.
        blended: [Vec<u16>; 2],
    },
    /// One pixel for four.
    Half {
        /// The four newest luma rows, halved; a row's place is its number modulo four.
        halved: [Vec<u16>; 4],
        /// Luma, Cb and Cr of an output row.
        rows: [Vec<i16>; 3],
    },
}

impl Video {
    /// Sets it up; `None` where the specification or the processor needs the general way.
    pub(crate) fn new(spec: &Spec, cpu: Cpu) -> Option<Self> {
        let Cpu::Avx2(cpu) = cpu else { return None };
        let planes = match spec.format {
            PixelFormat::I420 => Chroma::Planar(1, 2),
            PixelFormat::Yv12 => Chroma::Planar(2, 1),
            PixelFormat::Nv12 => Chroma::Interleaved { cr_first: false },
            PixelFormat::Nv21 => Chroma::Interleaved { cr_first: true },
            _ => return None,
        };
        let color = spec.effective_colorimetry();
        let matrix = Matrix16::new(&color.codes_to_rgb(8))?;
        let (crop, size, site) = (spec.crop, spec.size, spec.site);
        let even = crop.x >= 0.0 && crop.x % 2.0 == 0.0;
        if color.needs_linear_light() || !even {
            return None;
        }
        let chroma_offset = |siting: Siting| siting.offset(1);
        let luma_columns = Axis::new(crop.x, crop.w, size.w, 0.0, 0);
        let luma_rows = Axis::new(crop.y, crop.h, size.h, 0.0, 0);
        let chroma_columns = Axis::new(crop.x, crop.w, size.w, chroma_offset(site.horizontal), 1);
        let chroma_rows = Axis::new(crop.y, crop.h, size.h, chroma_offset(site.vertical), 1);
        let chroma = Size::new(spec.stored.w.div_ceil(2), spec.stored.h.div_ceil(2));
        let w = size.w as usize;
        let geometry = if luma_columns.is_identity() && luma_rows.is_identity() {
            let exact = chroma_rows
                .weights
                .iter()
                .all(|weight| (weight * BLENDED).fract() == 0.0);
            if chroma_rows.taps > 2 || !exact {
                return None;
            }
            let row = || vec![0; chroma.w as usize + 2 + SPARE];
            Geometry::Same {
                siting: site.horizontal,
                blended: [row(), row()],
            }
        } else if luma_columns.uniform(2).is_some() && luma_rows.uniform(2).is_some() {
            // At other sites chroma takes more samples than the two that are read here.
            let near = |weights: &[f64]| (weights[0] - 0.75).abs() < 1e-9;
            let columns = chroma_columns
                .uniform(1)
                .filter(|weights| weights.len() == 2 && near(weights));
            if luma_columns.taps != 4 || luma_rows.taps != 4 || columns.is_none() || chroma_rows.taps != 1 {
                return None;
            }
            let row = || vec![0; w + SPARE];
            Geometry::Half {
                halved: [vec![0; w], vec![0; w], vec![0; w], vec![0; w]],
                rows: [row(), row(), row()],
            }
        } else {
            return None;
        };
        let left = crop.x as usize;
        Some(Self {
            cpu,
            matrix,
            stored: spec.stored,
            chroma,
            left,
            size,
            planes,
            luma_rows,
            chroma_rows,
            geometry,
        })
    }

    /// Converts a frame whose memory was checked.
    pub(crate) fn convert(&mut self, planes: &Planes<'_>, out: &mut [u8], stride: usize) {
        let width = self.size.w as usize * 4;
        for (y, out) in out.chunks_mut(stride).enumerate() {
            match self.geometry {
                Geometry::Same { .. } => self.same(planes, y, &mut out[..width]),
                Geometry::Half { .. } => self.half(planes, y, &mut out[..width]),
            }
        }
    }

    fn same(&mut self, planes: &Planes<'_>, y: usize, out: &mut [u8]) {
        let Geometry::Same {
            siting,
            blended: [cb, cr],
        } = &mut self.geometry
        else {
            return;
        };
        let taps = self.chroma_rows.taps;
        let weights = &self.chroma_rows.weights[y * taps..][..taps];
        let weight = |tap: usize| (weights.get(tap).copied().unwrap_or(0.0) * BLENDED) as u16;
        let rows = [0, 1].map(|tap| clamp(self.chroma_rows.first[y] + tap, self.chroma.h));
        let weights = [weight(0), weight(1)];
        // From the sample to the left of the crop to that to the right of it, where they are stored.
        let (width, columns) = (self.size.w as usize, self.chroma.w as usize);
        let first = self.left / 2;
        let from = first.saturating_sub(1);
        let count = (first + width.div_ceil(2) + 1).min(columns) - from;
        let lead = usize::from(first == 0);
        let (to_cb, to_cr) = (&mut cb[lead..][..count], &mut cr[lead..][..count]);
        match self.planes {
            Chroma::Planar(cb_plane, cr_plane) => {
                for (plane, to) in [(cb_plane, to_cb), (cr_plane, to_cr)] {
                    let rows =
                        rows.map(|row| &planes.data[plane][row * planes.stride[plane] + from..][..count]);
                    self.cpu.blend(rows, weights, to);
                }
            }
            Chroma::Interleaved { cr_first } => {
                let rows = rows.map(|row| {
                    let bytes = &planes.data[1][row * planes.stride[1] + 2 * from..][..2 * count];
                    bytes.as_chunks::<2>().0
                });
                let (low, high) = if cr_first { (to_cr, to_cb) } else { (to_cb, to_cr) };
                self.cpu.blend_pairs(rows, weights, low, high);
            }
        }
        // Edges are clamped.
        for row in [&mut *cb, &mut *cr] {
            let (before, after) = (row[lead], row[lead + count - 1]);
            row[..lead].fill(before);
            row[lead + count..][..SPARE].fill(after);
        }
        let luma_row = self.luma_rows.first[y] as usize;
        let luma = &planes.data[0][luma_row * planes.stride[0] + self.left..][..width];
        self.cpu.pixels_420(luma, [cb, cr], *siting, &self.matrix, out);
    }

    fn half(&mut self, planes: &Planes<'_>, y: usize, out: &mut [u8]) {
        let Geometry::Half { halved, rows } = &mut self.geometry else {
            return;
        };
        let (width, stored) = (self.size.w as usize, self.stored.w as usize);
        let numbers = [0, 1, 2, 3].map(|tap| clamp(self.luma_rows.first[y] + tap, self.stored.h));
        // The two upper rows were the two lower ones of the row before.
        let new = if y == 0 { &numbers[..] } else { &numbers[2..] };
        for &number in new {
            let row = &planes.data[0][number * planes.stride[0]..][..stored];
            halve(self.cpu, row, self.left, &mut halved[number % 4]);
        }
        let [luma, cb, cr] = rows;
        self.cpu.sum_halved(
            numbers.map(|number| halved[number % 4].as_slice()),
            &mut luma[..width],
        );

        let row = clamp(self.chroma_rows.first[y], self.chroma.h);
        let (first, columns) = (self.left / 2, self.chroma.w as usize);
        // The last column has no neighbour.
        let inner = width.min(columns - 1 - first);
        match self.planes {
            Chroma::Planar(cb_plane, cr_plane) => {
                for (plane, to) in [(cb_plane, &mut *cb), (cr_plane, &mut *cr)] {
                    let row = &planes.data[plane][row * planes.stride[plane] + first..][..inner + 1];
                    self.cpu.quarter(row, &mut to[..inner]);
                    to[inner..width].fill(i16::from(row[inner]) << 7);
                }
            }
            Chroma::Interleaved { cr_first } => {
                let bytes = &planes.data[1][row * planes.stride[1] + 2 * first..][..2 * (inner + 1)];
                let row = bytes.as_chunks::<2>().0;
                let (low, high) = if cr_first {
                    (&mut *cr, &mut *cb)
                } else {
                    (&mut *cb, &mut *cr)
                };
                self.cpu.quarter_pairs(row, &mut low[..inner], &mut high[..inner]);
                low[inner..width].fill(i16::from(row[inner][0]) << 7);
                high[inner..width].fill(i16::from(row[inner][1]) << 7);
            }
        }
        self.cpu.pixels_444([luma, cb, cr], &self.matrix, out);
    }
}

/// Halves a luma row from column `left` on. The first and the last output sample may lack a neighbour; between them
/// nothing does.
fn halve(cpu: Avx2, row: &[u8], left: usize, out: &mut [u16]) {
    let last = out.len() - 1;
    for at in [0, last] {
        let sample = |offset: usize| u16::from(row[(left + 2 * at + offset).clamp(1, row.len()) - 1]);
        out[at] = 2 * (sample(0) + sample(3)) + 6 * (sample(1) + sample(2));
    }
    if last > 1 {
        cpu.halve(&row[left + 1..], &mut out[1..last]);
    }
}

/// The stored row that stands for this one.
fn clamp(row: i32, rows: u32) -> usize {
    row.clamp(0, rows as i32 - 1) as usize
}
