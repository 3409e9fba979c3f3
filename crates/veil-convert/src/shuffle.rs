//! Pixels that are bytes of full range already, and not scaled: only their order changes.

use crate::{Planes, Spec, level::Cpu, premultiply::premultiply};
use veil_frame::{Model, Range};

/// See the module.
#[derive(Debug)]
pub(crate) struct Shuffle {
    /// Row and byte of the crop's first pixel.
    top: usize,
    left: usize,
    step: usize,
    order: Order,
    /// Byte of alpha in a pixel, and room for a row of it.
    alpha: Option<(usize, Vec<i16>)>,
    cpu: Cpu,
}

/// Bytes of blue, green and red in a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Blue, green, red.
    Bgr,
    /// Red, green, blue.
    Rgb,
    /// Something, blue, green, red.
    XBgr,
    /// Something, red, green, blue.
    XRgb,
}

impl Shuffle {
    /// Sets it up; `None` if the specification needs more than this.
    pub(crate) fn new(spec: &Spec, cpu: Cpu) -> Option<Self> {
        let info = spec.format.info();
        let color = spec.effective_colorimetry();
        let whole = |start: f64, length: f64, count: u32| {
            start >= 0.0 && start.fract() == 0.0 && length == f64::from(count)
        };
        let plain = info.model == Model::Rgb
            && info.planes == 1
            && info.components.iter().all(|c| c.word == 1)
            && color.range == Range::Full
            && !color.needs_linear_light()
            && whole(spec.crop.x, spec.crop.w, spec.size.w)
            && whole(spec.crop.y, spec.crop.h, spec.size.h);
        if !plain {
            return None;
        }
        let [r, g, b] = [0, 1, 2].map(|i: usize| info.components[i].offset);
        let order = match (b, g, r) {
            (0, 1, 2) => Order::Bgr,
            (2, 1, 0) => Order::Rgb,
            (1, 2, 3) => Order::XBgr,
            (3, 2, 1) => Order::XRgb,
            _ => return None,
        };
        let step = usize::from(info.components[0].step);
        Some(Self {
            top: spec.crop.y as usize,
            left: spec.crop.x as usize * step,
            step,
            order,
            alpha: info
                .components
                .get(3)
                .map(|a| (usize::from(a.offset), vec![0; spec.size.w as usize])),
            cpu,
        })
    }

    /// Converts a frame whose memory was checked, into rows of `width` pixels.
    pub(crate) fn convert(&mut self, planes: &Planes<'_>, out: &mut [u8], stride: usize, width: usize) {
        for (y, out) in out.chunks_mut(stride).enumerate() {
            let start = (self.top + y) * planes.stride[0] + self.left;
            let row = &planes.data[0][start..];
            // An unused byte at the very end need not be there.
            let row = &row[..row.len().min(width * self.step)];
            let out = &mut out[..width * 4];
            shuffle(self.cpu, self.step, self.order, row, out);
            let rest = row.len() % self.step;
            if rest > 0 {
                let mut last = [0; 4];
                last[..rest].copy_from_slice(&row[row.len() - rest..]);
                shuffle(
                    Cpu::Portable,
                    self.step,
                    self.order,
                    &last[..self.step],
                    &mut out[width * 4 - 4..],
                );
            }
            if let Some((offset, alpha)) = &mut self.alpha {
                for (to, pixel) in alpha.iter_mut().zip(row.chunks_exact(self.step)) {
                    *to = i16::from(pixel[*offset]) << 7;
                }
                premultiply(self.cpu, alpha, out);
            }
        }
    }
}

fn shuffle(cpu: Cpu, step: usize, order: Order, row: &[u8], out: &mut [u8]) {
    match cpu {
        Cpu::Portable => shuffle_any(step, order, row, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.shuffle(step, order, row, out),
    }
}

#[inline(always)]
pub(crate) fn shuffle_any(step: usize, order: Order, row: &[u8], out: &mut [u8]) {
    match (step, order) {
        (4, Order::Bgr) => each::<4>(row, out, |p| [p[0], p[1], p[2], 0xff]),
        (4, Order::Rgb) => each::<4>(row, out, |p| [p[2], p[1], p[0], 0xff]),
        (4, Order::XBgr) => each::<4>(row, out, |p| [p[1], p[2], p[3], 0xff]),
        (4, Order::XRgb) => each::<4>(row, out, |p| [p[3], p[2], p[1], 0xff]),
        (_, Order::Rgb) => each::<3>(row, out, |p| [p[2], p[1], p[0], 0xff]),
        _ => each::<3>(row, out, |p| [p[0], p[1], p[2], 0xff]),
    }
}

#[inline(always)]
fn each<const STEP: usize>(row: &[u8], out: &mut [u8], pixel: impl Fn(&[u8; STEP]) -> [u8; 4]) {
    for (to, from) in out
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .zip(row.as_chunks::<STEP>().0)
    {
        *to = pixel(from);
    }
}
