//! One component's row on its way to the output's grid.

use super::{SPARE, horizontal::Horizontal};
use crate::{
    level::Cpu,
    source::{Plane, Samples},
};

/// Samples of a row, with copies of the outermost ones where filters reach out of the plane.
#[derive(Debug)]
pub(super) struct Line {
    /// Place of the first sample in its plane's window, and words to the next.
    offset: usize,
    step: usize,
    /// Samples that are stored, and how many copies come before them.
    stored: usize,
    before: usize,
    /// Copies, samples, copies, and spare ones that mean nothing.
    samples: Vec<i16>,
    horizontal: Horizontal,
    out: Vec<i16>,
}

impl Line {
    /// A line of a plane. With `pairs` it stays as it is, and holds chroma sample `pairs.0 − 1` and the `pairs.1 + 1`
    /// after it.
    pub(super) fn new(_index: usize, plane: &Plane, samples: &Samples, pairs: Option<(i32, u32)>) -> Self {
        let axis = &samples.horizontal;
        let (low, high) = match pairs {
            Some((first, count)) => (first - 1, first + count as i32 + 1),
            None => axis.span(),
        };
        let (stored_low, stored_high) = samples.stored();
        let before = (stored_low as i32 - low).max(0) as usize;
        let stored = stored_high - stored_low;
        let horizontal = if pairs.is_some() {
            Horizontal::None { first: 0 }
        } else {
            Horizontal::new(axis, low)
        };
        let count = axis.first.len();
        Self {
            offset: samples.offset_in(plane.window),
            step: samples.step,
            stored,
            before,
            samples: vec![0; ((high - low) as usize).max(before + stored) + SPARE],
            out: if horizontal.is_none() {
                Vec::new()
            } else {
                vec![0; count + SPARE]
            },
            horizontal,
        }
    }

    /// Where the stored samples go.
    pub(super) fn stored_mut(&mut self) -> &mut [i16] {
        &mut self.samples[self.before..][..self.stored]
    }

    /// Takes the stored samples out of their plane's window.
    pub(super) fn take(&mut self, cpu: Cpu, window: &[i16]) {
        let (offset, step) = (self.offset, self.step);
        super::vertical::take(cpu, &window[offset..], step, self.stored_mut());
    }

    /// Repeats the outermost samples.
    pub(super) fn extend(&mut self) {
        let end = self.before + self.stored;
        let (first, last) = (self.samples[self.before], self.samples[end - 1]);
        self.samples[..self.before].fill(first);
        self.samples[end..].fill(last);
    }

    /// Multiplies all samples by `factor` / 2¹⁵.
    pub(super) fn scale(&mut self, factor: u16) {
        let end = self.samples.len() - SPARE;
        for sample in &mut self.samples[..end] {
            // The upper half of a product of words: every processor's vectors have it.
            let twice = sample.cast_unsigned() << 1;
            *sample = (u32::from(twice) * u32::from(factor) >> 16) as i16;
        }
    }

    /// Brings the row to the output's grid.
    pub(super) fn resample(&mut self, cpu: Cpu) {
        self.horizontal.resample(cpu, &self.samples, &mut self.out);
    }

    /// The row on the output's grid, and a few samples that mean nothing after it; `count` in all.
    pub(super) fn row(&self, count: usize) -> &[i16] {
        match self.horizontal {
            Horizontal::None { first } => &self.samples[first..][..count],
            _ => &self.out[..count],
        }
    }
}
