//! The conversion in 16-bit integers, for colours that need nothing but a matrix.
//!
//! Between the stages a sample has 15 bits: code · 2^(15 − bits), 0 to 32 767, so that it fits signed multiplications.
//! Before the last step a colour has 5 bits of fraction: 32 · 255 · R′, and luma and chroma that are far outside of the
//! gamut still fit 16 bits. Together the roundings stay below a tenth of a code.

pub(crate) mod horizontal;
mod line;
pub(crate) mod pack;
pub(crate) mod vertical;

use crate::{
    Planes, Spec,
    level::Cpu,
    matrix::{self, Affine},
    premultiply::premultiply,
    source::{Plane, Words},
};
use line::Line;
use pack::{Chroma, Colors, Luma, Phase};
use veil_frame::Model;
use vertical::Vertical;

/// Samples that the code for vectors may read beyond a row's end: whole vectors, of two rows that are one sample apart.
pub(crate) const SPARE: usize = 64;

/// What alpha of 1 is in a line: 255 in 15 bits.
const OPAQUE: f64 = 32640.0;

/// See the module.
#[derive(Debug)]
pub(crate) struct Narrow {
    planes: Vec<Plane>,
    vertical: Vec<Vertical>,
    /// Each plane's window after rows were filtered, unless it goes to its only line at once.
    filtered: Vec<Vec<i16>>,
    /// By component.
    lines: Vec<Line>,
    last: Last,
    /// Whether there is alpha, and what brings it to the scale of 8 bits, times 2¹⁵, if it has not that.
    alpha: bool,
    alpha_scale: Option<u16>,
    cpu: Cpu,
}

/// The last step.
#[derive(Debug)]
enum Last {
    /// Chroma has half the columns: the matrix is applied to it first, then it is interpolated.
    Half {
        colors: Colors,
        phase: Phase,
        terms: [Vec<i16>; 3],
        direct_luma: bool,
    },
    /// Luma and chroma are on the output's grid.
    Full(Colors),
    /// So are red, green and blue. Grey is the first line three times.
    Rgb {
        scale: [u16; 3],
        bias: [i16; 3],
        grey: bool,
    },
}

impl Narrow {
    /// Whether it can: extreme scales have too many samples a pixel for whole weights.
    pub(crate) fn can(planes: &[Plane]) -> bool {
        planes.iter().all(|p| {
            p.vertical.taps <= vertical::MOST_TAPS
                && p.samples
                    .iter()
                    .all(|s| s.horizontal.taps <= horizontal::MOST_TAPS)
        })
    }

    /// Sets it up.
    pub(crate) fn new(spec: &Spec, planes: Vec<Plane>, cpu: Cpu) -> Self {
        let info = spec.format.info();
        let half = phase(spec, &planes);
        let mut lines: Vec<(usize, Line)> = Vec::new();
        for (index, plane) in planes.iter().enumerate() {
            for samples in &plane.samples {
                let halved = half.filter(|_| info.is_chroma(samples.component));
                let pairs = halved.map(|_| (spec.crop.x as i32 >> 1, spec.size.w.div_ceil(2)));
                lines.push((samples.component, Line::new(index, plane, samples, pairs)));
            }
        }
        lines.sort_by_key(|(component, _)| *component);
        let affine = Affine::new(spec);
        let last = match (info.model, half) {
            (Model::Yuv, Some(phase)) => Last::Half {
                colors: Colors::new(&affine),
                phase,
                terms: [0, 1, 2].map(|_| vec![0; spec.size.w as usize / 2 + 2 * SPARE]),
                direct_luma: planes[0].samples.len() == 1
                    && planes[0].samples[0].step == 1
                    && planes[0].vertical.is_identity(),
            },
            (Model::Yuv, None) => Last::Full(Colors::new(&affine)),
            (model, _) => {
                let (scale, bias) = pack::rgb_scale(&affine);
                Last::Rgb {
                    scale,
                    bias,
                    grey: model == Model::Gray,
                }
            }
        };
        Self {
            vertical: planes.iter().map(|p| Vertical::new(&p.vertical)).collect(),
            filtered: planes
                .iter()
                .map(|p| vec![0; p.window.1 - p.window.0 + SPARE])
                .collect(),
            lines: lines.into_iter().map(|(_, line)| line).collect(),
            last,
            alpha: spec.format.has_alpha(),
            alpha_scale: alpha_scale(spec),
            planes,
            cpu,
        }
    }

    /// Converts a frame whose memory was checked, into rows of `width` pixels.
    pub(crate) fn convert(&mut self, planes: &Planes<'_>, out: &mut [u8], stride: usize, width: usize) {
        for plane in &mut self.planes {
            plane.start();
        }
        for (y, row) in out.chunks_mut(stride).enumerate() {
            self.row(planes, y, &mut row[..width * 4]);
        }
    }

    fn row(&mut self, planes: &Planes<'_>, y: usize, out: &mut [u8]) {
        let skip_luma = matches!(
            self.last,
            Last::Half {
                direct_luma: true,
                ..
            }
        );
        for (index, plane) in self.planes.iter_mut().enumerate() {
            plane.prepare(planes, y);
            if index == 0 && skip_luma {
                continue;
            }
            let words = plane.window.1 - plane.window.0;
            if let [samples] = &plane.samples[..]
                && samples.step == 1
            {
                let line = &mut self.lines[samples.component];
                self.vertical[index].filter(self.cpu, plane, planes, y, line.stored_mut());
                line.extend();
            } else {
                let filtered = &mut self.filtered[index];
                self.vertical[index].filter(self.cpu, plane, planes, y, &mut filtered[..words]);
                for samples in &plane.samples {
                    let line = &mut self.lines[samples.component];
                    line.take(self.cpu, filtered);
                    line.extend();
                }
            }
        }
        if let (Some(scale), Some(alpha)) = (self.alpha_scale, self.lines.last_mut()) {
            alpha.scale(scale);
        }
        for line in &mut self.lines {
            line.resample(self.cpu);
        }
        self.finish(planes, y, out);
    }

    fn finish(&mut self, planes: &Planes<'_>, y: usize, out: &mut [u8]) {
        let width = out.len() / 4;
        let padded = width.next_multiple_of(32);
        let lines = &self.lines;
        let row = |i: usize| lines[i].row(padded);
        match &mut self.last {
            Last::Half {
                colors,
                phase,
                terms,
                direct_luma,
            } => {
                let pairs = width.div_ceil(2) + 2;
                let chroma = [1, 2].map(|i: usize| lines[i].row(pairs.next_multiple_of(16)));
                pack::terms(self.cpu, colors, chroma, terms);
                let luma = if *direct_luma {
                    match self.planes[0].row(planes, y, 0) {
                        Words::Bytes(row) => Luma::Bytes(row),
                        Words::Pairs(row, align) => Luma::Pairs(row, align),
                    }
                } else {
                    Luma::Line(row(0))
                };
                let chroma = Chroma {
                    terms: [&terms[0], &terms[1], &terms[2]],
                    phase: *phase,
                };
                pack::half(self.cpu, colors, luma, chroma, out);
            }
            Last::Full(colors) => pack::full(self.cpu, colors, [0, 1, 2].map(row), out),
            Last::Rgb { scale, bias, grey } => {
                let rows = if *grey { [0, 0, 0] } else { [0, 1, 2] }.map(row);
                pack::rgb(self.cpu, *scale, *bias, rows, out);
            }
        }
        if self.alpha {
            premultiply(self.cpu, row(lines.len() - 1), out);
        }
    }
}

/// What makes alpha of any number of bits what it would be with 8, times 2¹⁵; `None` where it has 8, or is none.
fn alpha_scale(spec: &Spec) -> Option<u16> {
    let one = 1.0 / matrix::alpha_scale(spec)?;
    let scale = (OPAQUE * 2.0 * 32768.0 / one).round() as u16;
    (scale != 32768).then_some(scale)
}

/// How chroma columns lie to the output's, where columns are not scaled and chroma has half of them.
fn phase(spec: &Spec, planes: &[Plane]) -> Option<Phase> {
    let info = spec.format.info();
    let unscaled = planes[0].samples.first()?.horizontal.is_identity();
    (info.model == Model::Yuv && info.sub_w == 1 && unscaled)
        .then(|| Phase::new(spec.site.horizontal, spec.crop.x as u32 % 2 == 1))
}
