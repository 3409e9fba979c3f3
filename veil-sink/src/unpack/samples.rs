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
        match self.samples {
            // Two pixels of bytes are in the place of one of words.
            Samples::Bytes => {
                let sample = |pair: &[u16; 4], second: usize| {
                    let at = 4 * second + self.place;
                    pair[at / 2].to_ne_bytes()[at % 2]
                };
                if self.sub > 0 {
                    let from = self.row.iter().step_by(1 << (self.sub - 1));
                    let to = to.iter_mut().step_by(step).take(self.columns);
                    to.zip(from).for_each(|(to, pair)| *to = sample(pair, 0));
                } else if step == 1 {
                    let to = &mut to[..self.columns];
                    for (to, pair) in to.chunks_mut(2).zip(self.row) {
                        to[0] = sample(pair, 0);
                        if let Some(to) = to.get_mut(1) {
                            *to = sample(pair, 1);
                        }
                    }
                } else {
                    let from = self
                        .row
                        .iter()
                        .flat_map(|pair| [sample(pair, 0), sample(pair, 1)]);
                    let to = to.iter_mut().step_by(step).take(self.columns);
                    to.zip(from).for_each(|(to, from)| *to = from);
                }
            }
            Samples::Words => {
                let from = self.row.iter().step_by(1 << self.sub).take(self.columns);
                let to = to.as_chunks_mut::<2>().0.iter_mut().step_by(step / 2);
                to.zip(from)
                    .for_each(|(to, pixel)| *to = pixel[self.place].to_le_bytes());
            }
        }
    }
}
