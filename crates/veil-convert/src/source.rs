//! Reading: the planes of a format as rows of words, and where each component's samples are in them.

use crate::{
    Planes, Spec,
    axis::Axis,
    level::Cpu,
    rewrite::{How, Rewritten},
};
use veil_frame::{PixelFormat, Siting};

/// A row of a plane, from the first word that is needed to the last. Words become samples of full scale, 0 to 65 535,
/// by [`Words::sample`]: the coded bits are the topmost ones.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Words<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// Little-endian pairs of bytes, to be shifted left and masked.
    Pairs(&'a [[u8; 2]], Align),
}

/// How a 16-bit word becomes a sample of full scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Align {
    /// Bits to shift left.
    pub(crate) shift: u8,
    /// Bits that count after that.
    pub(crate) mask: u16,
}

impl Align {
    /// The sample that a word holds.
    #[inline(always)]
    pub(crate) fn sample(self, word: [u8; 2]) -> u16 {
        (u16::from_le_bytes(word) << self.shift) & self.mask
    }
}

/// A component in a plane.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    /// Index of the component in the format.
    pub(crate) component: usize,
    /// Word of sample 0 in a row.
    pub(crate) offset: usize,
    /// Words from a sample to the next.
    pub(crate) step: usize,
    /// Samples in a row.
    pub(crate) columns: usize,
    /// How columns are resampled.
    pub(crate) horizontal: Axis,
}

/// A plane as it is read.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    index: usize,
    reading: Reading,
    /// Bytes that a whole row needs.
    pub(crate) row_bytes: usize,
    /// Rows that are stored.
    pub(crate) rows: usize,
    /// Words that are needed of a row: the first and the one after the last.
    pub(crate) window: (usize, usize),
    /// How rows are resampled.
    pub(crate) vertical: Axis,
    /// What is in it.
    pub(crate) samples: Vec<Samples>,
}

#[derive(Clone, Debug)]
enum Reading {
    Bytes,
    Pairs(Align),
    /// Words are of another kind; they are rewritten, a row at a time.
    Rewritten(Rewritten),
}

impl Plane {
    /// The planes of a specification, and how each component is resampled.
    pub(crate) fn all(spec: &Spec, cpu: Cpu) -> Vec<Self> {
        let info = spec.format.info();
        (0..usize::from(info.planes))
            .map(|index| Self::new(spec, index, cpu))
            .collect()
    }

    fn new(spec: &Spec, index: usize, cpu: Cpu) -> Self {
        let info = spec.format.info();
        let (crop, size) = (spec.crop, spec.size);
        let in_plane: Vec<usize> = (0..info.components.len())
            .filter(|&i| usize::from(info.components[i].plane) == index)
            .collect();
        let axis = |start: f64, length: f64, count: u32, siting: Siting, sub: u8, chroma: bool| {
            let (offset, sub) = if chroma {
                (siting.offset(sub), sub)
            } else {
                (0.0, 0)
            };
            Axis::new(start, length, count, offset, sub)
        };
        let chroma_rows = in_plane.iter().all(|&i| info.is_chroma(i));
        let vertical = axis(
            crop.y,
            crop.h,
            size.h,
            spec.site.vertical,
            info.sub_h,
            chroma_rows,
        );
        let packed = is_packed(spec.format);
        let samples: Vec<Samples> = in_plane
            .iter()
            .enumerate()
            .map(|(at, &component)| {
                let c = info.components[component];
                let columns = info.component_size(component, spec.stored.w, 1).0 as usize;
                let words = |bytes: u8| usize::from(bytes / c.word);
                let (offset, step) = if packed {
                    (at * columns, 1)
                } else {
                    (words(c.offset), words(c.step))
                };
                Samples {
                    component,
                    offset,
                    step,
                    columns,
                    horizontal: axis(
                        crop.x,
                        crop.w,
                        size.w,
                        spec.site.horizontal,
                        info.sub_w,
                        info.is_chroma(component),
                    ),
                }
            })
            .collect();
        let window = samples
            .iter()
            .map(Samples::words)
            .fold((usize::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        let rewritten = |how| Reading::Rewritten(Rewritten::new(how, window.1, vertical.taps, cpu));
        let reading = match in_plane.first().map(|&i| info.components[i]) {
            Some(_) if packed => {
                rewritten(How::Apart(in_plane.iter().map(|&i| info.components[i]).collect()))
            }
            Some(c) if c.word == 2 => {
                let align = Align {
                    shift: 16 - c.bits - c.shift,
                    mask: !0u16 << (16 - c.bits),
                };
                if c.big_endian {
                    rewritten(How::Swapped(align))
                } else {
                    Reading::Pairs(align)
                }
            }
            _ => Reading::Bytes,
        };
        Self {
            index,
            reading,
            row_bytes: info.plane_row_bytes(index, spec.stored.w),
            rows: info.plane_rows(index, spec.stored.h) as usize,
            window,
            vertical,
            samples,
        }
    }

    /// To be called before a frame's first row is read.
    pub(crate) fn start(&mut self) {
        if let Reading::Rewritten(rewritten) = &mut self.reading {
            rewritten.forget();
        }
    }

    /// To be called before rows of output row `y` are read: rewrites words where that is needed.
    pub(crate) fn prepare(&mut self, planes: &Planes<'_>, y: usize) {
        let bytes = self.row_bytes;
        let Reading::Rewritten(rewritten) = &mut self.reading else {
            return;
        };
        let (data, stride) = (planes.data[self.index], planes.stride[self.index]);
        for tap in 0..self.vertical.taps {
            let row = clamp_row(self.vertical.first[y], tap, self.rows);
            rewritten.take(row, &data[row * stride..][..bytes]);
        }
    }

    /// The row that is tap `tap` of output row `y`, its window only.
    pub(crate) fn row<'a>(&'a self, planes: &Planes<'a>, y: usize, tap: usize) -> Words<'a> {
        let row = clamp_row(self.vertical.first[y], tap, self.rows);
        let (low, high) = self.window;
        let bytes = || &planes.data[self.index][row * planes.stride[self.index]..][..self.row_bytes];
        match &self.reading {
            Reading::Bytes => Words::Bytes(&bytes()[low..high]),
            Reading::Pairs(align) => Words::Pairs(&bytes().as_chunks().0[low..high], *align),
            Reading::Rewritten(rewritten) => {
                Words::Pairs(&rewritten.row(row)[low..high], Align { shift: 0, mask: !0 })
            }
        }
    }
}

/// The stored row that stands for tap `tap` from row `first` on.
fn clamp_row(first: i32, tap: usize, rows: usize) -> usize {
    (i64::from(first) + tap as i64).clamp(0, rows as i64 - 1) as usize
}

/// Whether several samples share a word.
fn is_packed(format: PixelFormat) -> bool {
    let components = format.info().components;
    components.iter().enumerate().any(|(i, a)| {
        components[..i]
            .iter()
            .any(|b| a.plane == b.plane && a.offset == b.offset && a.shift != b.shift)
    })
}

impl Samples {
    /// Samples that are needed and stored: the first and the one after the last. Never empty.
    pub(crate) fn stored(&self) -> (usize, usize) {
        let (low, high) = self.horizontal.span();
        let last = self.columns as i32 - 1;
        (
            low.clamp(0, last) as usize,
            (high - 1).clamp(0, last) as usize + 1,
        )
    }

    /// The words that hold those.
    fn words(&self) -> (usize, usize) {
        let (low, high) = self.stored();
        (
            self.offset + low * self.step,
            self.offset + (high - 1) * self.step + 1,
        )
    }

    /// Where [`Self::stored`]'s first sample is in its plane's window.
    pub(crate) fn offset_in(&self, window: (usize, usize)) -> usize {
        self.words().0 - window.0
    }
}
