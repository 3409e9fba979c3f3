//! Filtering rows: several rows of a plane become one, of samples of 15 bits. Interleaved components are filtered
//! together, and taken apart only then.

use crate::{
    Planes,
    axis::Axis,
    level::Cpu,
    source::{Align, Plane, Words},
};

/// Rows that make one, at most.
pub(crate) const MOST_TAPS: usize = 16;

/// A filter for rows.
#[derive(Debug)]
pub(super) struct Vertical {
    /// Weights of [`ONE`] in all, `taps` an output row.
    weights: Vec<u16>,
    taps: usize,
    /// Whether every output row has the weights 1, 3, 3, 1: exactly 2:1.
    binomial: bool,
}

/// The weight that leaves a sample as it is: its 16 bits times this, by 2¹⁶, are its topmost 15.
pub(crate) const ONE: u16 = 1 << 15;

impl Vertical {
    pub(super) fn new(axis: &Axis) -> Self {
        let weights = axis
            .quantised(i32::from(ONE), axis.taps)
            .into_iter()
            .map(|w| w as u16)
            .collect();
        let is_binomial =
            |w: &[f64]| w.len() == 4 && (w[0] - 0.125).abs() < 1e-9 && (w[1] - 0.375).abs() < 1e-9;
        Self {
            weights,
            taps: axis.taps,
            binomial: axis.uniform(2).is_some_and(is_binomial),
        }
    }

    /// Makes output row `y` of a plane's window.
    pub(super) fn filter(&self, cpu: Cpu, plane: &Plane, planes: &Planes<'_>, y: usize, out: &mut [i16]) {
        let weights = &self.weights[y * self.taps..][..self.taps];
        match plane.row(planes, y, 0) {
            Words::Bytes(first) => {
                let mut rows = [first; MOST_TAPS];
                let used = gather(plane, planes, y, weights, |at, row| {
                    if let Words::Bytes(row) = row {
                        rows[at] = row;
                    }
                });
                match (self.binomial, &rows[..used.count]) {
                    (true, &[a, b, c, d]) => binomial(cpu, [a, b, c, d], out),
                    (_, rows) => bytes(cpu, rows, used.weights(), out),
                }
            }
            Words::Pairs(first, align) => {
                let mut rows = [first; MOST_TAPS];
                let used = gather(plane, planes, y, weights, |at, row| {
                    if let Words::Pairs(row, _) = row {
                        rows[at] = row;
                    }
                });
                pairs(cpu, &rows[..used.count], align, used.weights(), out);
            }
        }
    }
}

/// Weights that are not 0.
struct Used {
    count: usize,
    weights: [u16; MOST_TAPS],
}

impl Used {
    fn weights(&self) -> &[u16] {
        &self.weights[..self.count]
    }
}

/// Hands out the rows whose weight is not 0.
fn gather<'a>(
    plane: &'a Plane,
    planes: &Planes<'a>,
    y: usize,
    weights: &[u16],
    mut take: impl FnMut(usize, Words<'a>),
) -> Used {
    let mut used = Used {
        count: 0,
        weights: [0; MOST_TAPS],
    };
    for (tap, &weight) in weights.iter().enumerate().filter(|(_, w)| **w != 0) {
        take(used.count, plane.row(planes, y, tap));
        used.weights[used.count] = weight;
        used.count += 1;
    }
    used
}

/// What a sum begins with: products are cut off, which takes half a step from each on average.
pub(crate) fn start(taps: usize) -> u16 {
    if taps == 1 { 0 } else { taps as u16 / 2 }
}

fn bytes(cpu: Cpu, rows: &[&[u8]], weights: &[u16], out: &mut [i16]) {
    match cpu {
        Cpu::Portable => bytes_plain(rows, weights, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.vertical_bytes(rows, weights, out),
    }
}

/// Filters rows of bytes.
#[inline(always)]
pub(crate) fn bytes_plain(rows: &[&[u8]], weights: &[u16], out: &mut [i16]) {
    out.fill(start(rows.len()) as i16);
    for (row, &weight) in rows.iter().zip(weights) {
        for (sum, &v) in out.iter_mut().zip(*row) {
            *sum += ((u32::from(v) << 8) * u32::from(weight) >> 16) as i16;
        }
    }
}

fn pairs(cpu: Cpu, rows: &[&[[u8; 2]]], align: Align, weights: &[u16], out: &mut [i16]) {
    match cpu {
        Cpu::Portable => pairs_plain(rows, align, weights, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.vertical_pairs(rows, align, weights, out),
    }
}

/// Filters rows of words.
#[inline(always)]
pub(crate) fn pairs_plain(rows: &[&[[u8; 2]]], align: Align, weights: &[u16], out: &mut [i16]) {
    out.fill(start(rows.len()) as i16);
    for (row, &weight) in rows.iter().zip(weights) {
        for (sum, &v) in out.iter_mut().zip(*row) {
            *sum += (u32::from(align.sample(v)) * u32::from(weight) >> 16) as i16;
        }
    }
}

fn binomial(cpu: Cpu, rows: [&[u8]; 4], out: &mut [i16]) {
    match cpu {
        Cpu::Portable => binomial_plain(rows, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.vertical_binomial(rows, out),
    }
}

/// Filters four rows of bytes with the weights 1, 3, 3, 1.
#[inline(always)]
pub(crate) fn binomial_plain(rows: [&[u8]; 4], out: &mut [i16]) {
    let [a, b, c, d] = rows;
    for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        let [a, b, c, d] = [a, b, c, d].map(i16::from);
        *out = (a + d + 3 * (b + c)) << 4;
    }
}

/// Takes every `step`th word.
pub(super) fn take(cpu: Cpu, words: &[i16], step: usize, out: &mut [i16]) {
    match cpu {
        Cpu::Portable => take_plain(words, step, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.take(words, step, out),
    }
}

/// Takes every `step`th word.
#[inline(always)]
pub(crate) fn take_plain(words: &[i16], step: usize, out: &mut [i16]) {
    match step {
        // Pairs, where there is one for each: compilers make vectors of these.
        2 if words.len() >= 2 * out.len() => {
            for (out, pair) in out.iter_mut().zip(words.as_chunks::<2>().0) {
                *out = pair[0];
            }
        }
        _ => {
            for (out, &v) in out.iter_mut().zip(words.iter().step_by(step)) {
                *out = v;
            }
        }
    }
}
