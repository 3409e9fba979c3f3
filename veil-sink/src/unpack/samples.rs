//! From an unpacked row, four samples a pixel, to rows of a described format.

use super::rows::Samples;
use veil_frame::Component;

/// One component's samples in an unpacked row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// The row, and how its pixels lie.
    pub(super) row: &'a [[u16; 4]],
    pub(super) samples: Samples,
    /// Which of the four.
    pub(super) place: usize,
    /// One of `1 << sub` pixels is taken.
    pub(super) sub: u8,
    /// How many are taken.
    pub(super) columns: usize,
}

impl Part<'_> {
    /// Puts them where `component` has them in its plane's row: bytes, or little-endian words without a shift.
    pub(super) fn put(self, component: &Component, to: &mut [u8]) {
        let (offset, step) = (usize::from(component.offset), usize::from(component.step));
        let to = to.get_mut(offset..).unwrap_or_default();
        let every = 1 << self.sub;
        match self.samples {
            // Two pixels of bytes are in the place of one of words.
            Samples::Bytes => {
                let bytes = |pair: &[u16; 4]| -> [[u8; 4]; 2] {
                    let [a, b, c, d] = pair.map(u16::to_ne_bytes);
                    [[a[0], a[1], b[0], b[1]], [c[0], c[1], d[0], d[1]]]
                };
                let from = self.row.iter().flat_map(bytes).step_by(every).take(self.columns);
                let to = to.iter_mut().step_by(step);
                to.zip(from).for_each(|(to, pixel)| *to = pixel[self.place]);
            }
            Samples::Words => {
                let from = self.row.iter().step_by(every).take(self.columns);
                let to = to.as_chunks_mut::<2>().0.iter_mut().step_by(step / 2);
                to.zip(from)
                    .for_each(|(to, pixel)| *to = pixel[self.place].to_le_bytes());
            }
        }
    }
}
