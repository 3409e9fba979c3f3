//! Filtering columns: a row of samples becomes a row on the output's grid.

use super::SPARE;
use crate::{axis::Axis, level::Cpu};

/// Columns that make one, at most.
pub(crate) const MOST_TAPS: usize = 16;

/// A filter for columns.
#[derive(Debug)]
pub(super) enum Horizontal {
    /// Output pixel `i` is sample `first + i`.
    None {
        /// The first sample.
        first: usize,
    },
    /// Output pixel `i` is samples `first + 2i …` with the weights 1, 3, 3, 1: exactly 2:1.
    Binomial {
        /// The first sample.
        first: usize,
        /// Output pixels.
        count: usize,
    },
    /// Output pixel `i` lies between samples `first + i` and the next, always at the same place.
    Between {
        /// The first sample.
        first: usize,
        /// Output pixels.
        count: usize,
        /// Weight of the second sample, times 2¹⁵.
        weight: i16,
    },
    /// Any other.
    Any(Taps),
}

/// For every output pixel, where its samples begin and what they weigh.
///
/// The code for vectors relies on `needed`, so nothing outside this module can change a field.
#[derive(Debug)]
pub(crate) struct Taps {
    first: Vec<u32>,
    /// `width` an output pixel; their sum is 2¹⁴.
    weights: Vec<i16>,
    /// 4, or a multiple of 8.
    width: usize,
    /// Samples that a row must have.
    needed: usize,
}

impl Taps {
    fn new(axis: &Axis, low: i32) -> Self {
        let width = if axis.taps <= 4 {
            4
        } else {
            axis.taps.next_multiple_of(8)
        };
        let first: Vec<u32> = axis.first.iter().map(|f| (f - low) as u32).collect();
        let weights = axis
            .quantised(1 << 14, width)
            .into_iter()
            .map(|w| w as i16)
            .collect();
        let needed = first.iter().copied().max().unwrap_or(0) as usize + width;
        Self {
            first,
            weights,
            width,
            needed,
        }
    }

    /// Where each output pixel's samples begin. Each is followed by [`Self::width`] samples in a row of
    /// [`Self::needed`].
    pub(crate) fn first(&self) -> &[u32] {
        &self.first
    }

    /// [`Self::width`] weights for each of [`Self::first`].
    pub(crate) fn weights(&self) -> &[i16] {
        &self.weights
    }

    /// Weights of an output pixel: 4, or a multiple of 8.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Samples that a row must have.
    pub(crate) fn needed(&self) -> usize {
        self.needed
    }
}

impl Horizontal {
    /// The fastest that does what `axis` says, of rows whose first sample is number `low`.
    pub(super) fn new(axis: &Axis, low: i32) -> Self {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let (first, count) = ((axis.first[0] - low) as usize, axis.first.len());
        if axis.is_identity() {
            return Self::None { first };
        }
        match (axis.uniform(2), axis.uniform(1)) {
            (Some(&[a, b, _, d]), _) if near(a, 0.125) && near(b, 0.375) && near(d, 0.125) => {
                Self::Binomial { first, count }
            }
            (_, Some(&[_, b])) => Self::Between {
                first,
                count,
                weight: (b * 32768.0).round() as i16,
            },
            _ => Self::Any(Taps::new(axis, low)),
        }
    }

    /// Whether rows stay as they are.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None { .. })
    }

    /// Filters a row, which has [`SPARE`] samples more than are needed, into `out`, which has as many.
    pub(super) fn resample(&self, cpu: Cpu, row: &[i16], out: &mut [i16]) {
        debug_assert!(self.is_none() || out.len() >= SPARE);
        match self {
            Self::None { .. } => {}
            Self::Binomial { first, count } => binomial(cpu, &row[*first..], &mut out[..*count]),
            Self::Between { first, count, weight } => {
                between(cpu, &row[*first..], *weight, &mut out[..*count])
            }
            Self::Any(taps) => any(cpu, row, taps, &mut out[..taps.first.len()]),
        }
    }
}

fn binomial(cpu: Cpu, row: &[i16], out: &mut [i16]) {
    match cpu {
        Cpu::Portable => binomial_plain(row, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.horizontal_binomial(row, out),
    }
}

/// The weights 1, 3, 3, 1.
#[inline(always)]
pub(crate) fn binomial_plain(row: &[i16], out: &mut [i16]) {
    // Pairs, not windows: compilers make vectors of these.
    let pairs = row.as_chunks::<2>().0;
    for ((out, near), far) in out.iter_mut().zip(pairs).zip(&pairs[1..]) {
        let [a, b, c, d] = [near[0], near[1], far[0], far[1]].map(i32::from);
        *out = ((a + d + 3 * (b + c) + 4) >> 3) as i16;
    }
}

fn between(cpu: Cpu, row: &[i16], weight: i16, out: &mut [i16]) {
    match cpu {
        Cpu::Portable => between_plain(row, weight, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.horizontal_between(row, weight, out),
    }
}

/// Between two samples.
#[inline(always)]
pub(crate) fn between_plain(row: &[i16], weight: i16, out: &mut [i16]) {
    for (out, x) in out.iter_mut().zip(row.windows(2)) {
        let (a, b) = (i32::from(x[0]), i32::from(x[1]));
        *out = (a + (((b - a) * i32::from(weight) + 0x4000) >> 15)) as i16;
    }
}

fn any(cpu: Cpu, row: &[i16], taps: &Taps, out: &mut [i16]) {
    match cpu {
        Cpu::Portable => any_plain(row, taps, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.horizontal_any(row, taps, out),
    }
}

/// Any weights.
#[inline(always)]
pub(crate) fn any_plain(row: &[i16], taps: &Taps, out: &mut [i16]) {
    let each = taps.first.iter().zip(taps.weights.chunks_exact(taps.width));
    for (out, (&first, weights)) in out.iter_mut().zip(each) {
        let samples = &row[first as usize..][..taps.width];
        let sum: i32 = samples
            .iter()
            .zip(weights)
            .map(|(&v, &w)| i32::from(v) * i32::from(w))
            .sum();
        *out = ((sum + (1 << 13)) >> 14) as i16;
    }
}
