//! Words that cannot be read as they lie: shared by several samples, or big-endian. They become pairs, row by row.

use crate::{level::Cpu, source::Align};
use veil_frame::Component;

/// Rows whose words became little-endian pairs with a sample of full scale in each.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    how: How,
    cpu: Cpu,
    rows: Vec<[u8; 2]>,
    row_words: usize,
    /// Which stored row each kept row is.
    kept: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
pub(crate) enum How {
    /// Several samples share a word; each component gets a part of the row to itself, in the order of these.
    Apart(Vec<Component>),
    /// Big-endian pairs.
    Swapped(Align),
}

impl Rewritten {
    /// For rows of so many words, of which so many are needed together.
    pub(crate) fn new(how: How, row_words: usize, together: usize, cpu: Cpu) -> Self {
        Self {
            how,
            cpu,
            rows: vec![[0; 2]; row_words * together],
            row_words,
            kept: vec![None; together],
        }
    }

    /// A new frame begins.
    pub(crate) fn forget(&mut self) {
        self.kept.fill(None);
    }

    /// A row that was taken, and not many others since.
    pub(crate) fn row(&self, row: usize) -> &[[u8; 2]] {
        &self.rows[row % self.kept.len() * self.row_words..][..self.row_words]
    }

    /// Rewrites a stored row, unless it is here.
    pub(crate) fn take(&mut self, row: usize, bytes: &[u8]) {
        // Rows that are needed together are neighbours, so no two of them share a place.
        let place = row % self.kept.len();
        if self.kept[place].replace(row) == Some(row) {
            return;
        }
        let out = &mut self.rows[place * self.row_words..][..self.row_words];
        match self.cpu {
            Cpu::Portable => rewrite_any(&self.how, bytes, out),
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx2(cpu) => cpu.rewrite(&self.how, bytes, out),
        }
    }
}

/// Rewrites a row, or what there is room for.
#[inline(always)]
pub(crate) fn rewrite_any(how: &How, bytes: &[u8], out: &mut [[u8; 2]]) {
    match how {
        How::Swapped(align) => {
            for (to, &[high, low]) in out.iter_mut().zip(bytes.as_chunks().0) {
                *to = align.sample([low, high]).to_le_bytes();
            }
        }
        How::Apart(parts) => match parts.first().map(|part| (part.word, part.big_endian)) {
            Some((4, false)) => take_apart(parts, bytes, out, u32::from_le_bytes),
            Some((4, true)) => take_apart(parts, bytes, out, u32::from_be_bytes),
            Some((_, true)) => take_apart(parts, bytes, out, |word| u16::from_be_bytes(word).into()),
            _ => take_apart(parts, bytes, out, |word| u16::from_le_bytes(word).into()),
        },
    }
}

/// Puts the samples of each part of words of `N` bytes side by side, as samples of full scale.
#[inline(always)]
fn take_apart<const N: usize>(
    parts: &[Component],
    bytes: &[u8],
    out: &mut [[u8; 2]],
    word: impl Fn([u8; N]) -> u32,
) {
    let words = bytes.as_chunks::<N>().0;
    for (part, out) in parts.iter().zip(out.chunks_mut(words.len().max(1))) {
        let (shift, up) = (u32::from(part.shift), u32::from(16 - part.bits));
        for (sample, &bytes) in out.iter_mut().zip(words) {
            *sample = ((word(bytes) >> shift << up) as u16).to_le_bytes();
        }
    }
}
