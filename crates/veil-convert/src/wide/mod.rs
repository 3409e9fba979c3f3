//! The conversion in single precision: every format, any scale, any colorimetry.

pub(crate) mod stages;

use crate::{
    Planes, Spec,
    level::Cpu,
    light::Light,
    matrix::{Affine, alpha_scale},
    source::{Plane, Samples},
};
use stages::Color;

/// One component's rows.
#[derive(Debug)]
struct Line {
    /// Which plane it comes from, and its place there.
    plane: usize,
    offset: usize,
    step: usize,
    /// Samples that are stored, and copies of the outermost ones to put before and after them.
    stored: usize,
    before: usize,
    samples: Vec<f32>,
    /// First sample of each output pixel, in `samples`, and its weights.
    first: Vec<u32>,
    taps: usize,
    weights: Vec<f32>,
    /// The row on the output's grid; empty where that is the row as it is.
    out: Vec<f32>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Wide {
    planes: Vec<Plane>,
    /// Each plane's window after rows were filtered.
    filtered: Vec<Vec<f32>>,
    weights: Vec<Vec<f32>>,
    /// By component; grey has one.
    lines: Vec<Line>,
    color: Color,
    cpu: Cpu,
}

impl Wide {
    /// Sets it up.
    pub(crate) fn new(spec: &Spec, planes: Vec<Plane>, cpu: Cpu) -> Self {
        let affine = Affine::new(spec);
        let mut lines: Vec<(usize, Line)> = Vec::new();
        for (index, plane) in planes.iter().enumerate() {
            lines.extend(
                plane
                    .samples
                    .iter()
                    .map(|s| (s.component, Line::new(index, plane, s))),
            );
        }
        lines.sort_by_key(|(component, _)| *component);
        Self {
            filtered: planes
                .iter()
                .map(|p| vec![0.0; p.window.1 - p.window.0])
                .collect(),
            weights: planes
                .iter()
                .map(|p| p.vertical.weights.iter().map(|w| *w as f32).collect())
                .collect(),
            lines: lines.into_iter().map(|(_, line)| line).collect(),
            color: Color {
                matrix: affine.matrix.map(|row| row.map(|v| v as f32)),
                constant: affine.constant.map(|v| v as f32),
                light: Light::new(spec.effective_colorimetry()),
                alpha: alpha_scale(spec).map(|v| v as f32),
                grey: spec.format.info().components.len() < 3,
            },
            planes,
            cpu,
        }
    }

    /// Converts a frame whose memory was checked, into rows of `width` pixels.
    pub(crate) fn convert(&mut self, planes: &Planes<'_>, out: &mut [u8], stride: usize, width: usize) {
        for plane in &mut self.planes {
            plane.start();
        }
        for (y, row) in out
            .chunks_mut(stride)
            .enumerate()
            .take(self.planes[0].vertical.first.len())
        {
            self.row(planes, y, &mut row[..width * 4]);
        }
    }

    fn row(&mut self, planes: &Planes<'_>, y: usize, out: &mut [u8]) {
        for (index, plane) in self.planes.iter_mut().enumerate() {
            plane.prepare(planes, y);
            let taps = plane.vertical.taps;
            let filtered = &mut self.filtered[index];
            let weights = self.weights[index][y * taps..][..taps].iter().enumerate();
            for (nth, (tap, &weight)) in weights.filter(|(_, weight)| **weight != 0.0).enumerate() {
                stages::accumulate(self.cpu, filtered, plane.row(planes, y, tap), weight, nth > 0);
            }
        }
        for line in &mut self.lines {
            line.fill(self.cpu, &self.filtered[line.plane]);
            if !line.out.is_empty() {
                let (row, out) = (&line.samples, &mut line.out);
                stages::resample(self.cpu, row, &line.first, line.taps, &line.weights, out);
            }
        }
        let rows = |i: usize| self.lines[i.min(self.lines.len() - 1)].row();
        let colors = if self.color.grey { [0, 0, 0] } else { [0, 1, 2] };
        let alpha = self.color.alpha.map(|_| rows(self.lines.len() - 1));
        stages::colors(self.cpu, &self.color, colors.map(rows), alpha, out);
    }
}

impl Line {
    fn new(index: usize, plane: &Plane, samples: &Samples) -> Self {
        let axis = &samples.horizontal;
        let (low, high) = axis.span();
        let (stored_low, stored_high) = samples.stored();
        Self {
            plane: index,
            offset: samples.offset_in(plane.window),
            step: samples.step,
            stored: stored_high - stored_low,
            before: (stored_low as i32 - low).max(0) as usize,
            samples: vec![0.0; (high - low) as usize],
            first: axis.first.iter().map(|f| (f - low) as u32).collect(),
            taps: axis.taps,
            weights: axis.weights.iter().map(|w| *w as f32).collect(),
            out: vec![0.0; if axis.is_identity() { 0 } else { axis.first.len() }],
        }
    }

    /// Takes the component out of its plane's row, and repeats the outermost samples where a filter reaches further.
    fn fill(&mut self, cpu: Cpu, plane: &[f32]) {
        let to = &mut self.samples[self.before..][..self.stored];
        stages::take(cpu, &plane[self.offset..], self.step, to);
        let (first, last) = (
            self.samples[self.before],
            self.samples[self.before + self.stored - 1],
        );
        self.samples[..self.before].fill(first);
        self.samples[self.before + self.stored..].fill(last);
    }

    /// The row on the output's grid.
    fn row(&self) -> &[f32] {
        if self.out.is_empty() {
            &self.samples
        } else {
            &self.out
        }
    }
}
