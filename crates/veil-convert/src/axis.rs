//! Resampling along one axis: which samples make an output pixel, and how much of each.

/// The tent filter of the crate's documentation for every output pixel along an axis, in double precision. Samples are
/// numbered as if the plane went on for ever; whoever reads them clamps.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Samples per output pixel; the same for all, with weights of 0 where fewer count.
    pub(crate) taps: usize,
    /// Number of each output pixel's first sample.
    pub(crate) first: Vec<i32>,
    /// `taps` weights an output pixel. Their sum is 1.
    pub(crate) weights: Vec<f64>,
}

impl Axis {
    /// The filter for `count` output pixels from `start`, `length` luma samples long, of a plane whose samples are
    /// shared by `1 << sub` luma samples and of which sample 0 lies `offset` luma samples from luma sample 0.
    pub(crate) fn new(start: f64, length: f64, count: u32, offset: f64, sub: u8) -> Self {
        // A weight below this is a rounding error of the position.
        const NOTHING: f64 = 1e-9;
        let shared = f64::from(1u32 << sub);
        let scale = length / f64::from(count);
        let radius = (scale / shared).max(1.0);
        let taps_of = |i: u32| {
            let p = (start + (f64::from(i) + 0.5) * scale - 0.5 - offset) / shared;
            let (low, high) = ((p - radius).ceil() as i32, (p + radius).floor() as i32);
            (low..=high)
                .map(move |k| (k, 1.0 - (f64::from(k) - p).abs() / radius))
                .filter(|&(_, weight)| weight > NOTHING)
        };
        let taps = (0..count).map(|i| taps_of(i).count()).max().unwrap_or(1);
        let mut first = Vec::with_capacity(count as usize);
        let mut weights = Vec::with_capacity(count as usize * taps);
        for i in 0..count {
            let sum: f64 = taps_of(i).map(|(_, weight)| weight).sum();
            first.push(taps_of(i).next().map_or(0, |(k, _)| k));
            weights.extend(taps_of(i).map(|(_, weight)| weight / sum));
            weights.resize(first.len() * taps, 0.0);
        }
        Self { taps, first, weights }
    }

    /// Number of the first sample that any output pixel needs, and of the one after the last.
    pub(crate) fn span(&self) -> (i32, i32) {
        let low = self.first.iter().copied().min().unwrap_or(0);
        let high = self.first.iter().copied().max().unwrap_or(0);
        (low, high + self.taps as i32)
    }

    /// Whether each output pixel is one sample, and the next pixel the next sample.
    pub(crate) fn is_identity(&self) -> bool {
        self.taps == 1 && self.first.windows(2).all(|w| w[1] == w[0] + 1)
    }

    /// Whether every output pixel has the same weights, `step` samples after its neighbour's; then the weights.
    pub(crate) fn uniform(&self, step: i32) -> Option<&[f64]> {
        let weights = &self.weights[..self.taps];
        let same = |other: &[f64]| other.iter().zip(weights).all(|(a, b)| (a - b).abs() < 1e-9);
        let regular = self.first.windows(2).all(|w| w[1] == w[0] + step);
        (regular && self.weights.chunks_exact(self.taps).all(same)).then_some(weights)
    }

    /// The weights in whole numbers of which `one` is 1, each pixel's padded to `width` and adding up to `one`.
    pub(crate) fn quantised(&self, one: i32, width: usize) -> Vec<i32> {
        let mut all = Vec::with_capacity(self.first.len() * width);
        for weights in self.weights.chunks_exact(self.taps) {
            let at = all.len();
            all.extend(weights.iter().map(|w| (w * f64::from(one)).round() as i32));
            // What rounding lost or won goes to the largest weight, which it changes the least.
            let missing = one - all[at..].iter().sum::<i32>();
            if let Some(largest) = all[at..].iter_mut().max() {
                *largest += missing;
            }
            all.resize(at + width, 0);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_filters() {
        assert!(Axis::new(3.0, 10.0, 10, 0.0, 0).is_identity());
        let half = Axis::new(0.0, 20.0, 10, 0.0, 0);
        assert_eq!(half.uniform(2), Some(&[0.125, 0.375, 0.375, 0.125][..]));
        assert_eq!(half.first[0], -1);
        let left = Axis::new(0.0, 4.0, 4, 0.0, 1);
        assert_eq!(left.weights, [1.0, 0.0, 0.5, 0.5, 1.0, 0.0, 0.5, 0.5]);
        let center = Axis::new(0.0, 4.0, 4, 0.5, 1);
        assert_eq!(center.weights, [0.25, 0.75, 0.75, 0.25, 0.25, 0.75, 0.75, 0.25]);
        assert_eq!(center.first, [-1, 0, 0, 1]);
    }

    #[test]
    fn whole_weights_add_up() {
        for count in [1, 7, 33] {
            let axis = Axis::new(0.3, 50.1, count, 0.5, 1);
            for weights in axis.quantised(16384, axis.taps + 3).chunks_exact(axis.taps + 3) {
                assert_eq!(weights.iter().sum::<i32>(), 16384);
                assert!(weights.iter().all(|w| *w >= 0));
            }
        }
    }
}
