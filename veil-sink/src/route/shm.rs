//! The CPU converts straight into the memory that the compositor reads: each pixel is written once.

use super::RouteError;
use crate::{
    caps::StreamFormat,
    frame::Mapped,
    ring::{Free, Ring},
    unpack::Unpacker,
};
use drm_fourcc::DrmFourcc;
use std::sync::Arc;
use veil_convert::Converter;
use veil_frame::{Backing, Size, Target, TargetPlan, presentable::Released};
use veil_wayland::SharedMemory;

/// Rows begin at multiples of so many bytes: a cache line, and what AVX-512 stores want.
const ROW_ALIGNMENT: u32 = 64;

/// A conversion, and targets in shared memory.
#[derive(Debug)]
pub(crate) struct Shm {
    /// What comes before the conversion, of formats that it does not read.
    unpacker: Option<Unpacker>,
    converter: Converter,
    /// The columns and rows that are converted, at the first pixel of the target.
    size: Size,
    shape: Shape,
    ring: Ring<SharedMemory>,
    released: Arc<Released>,
}

/// What all targets of a ring have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    canvas: Size,
    stride: u32,
    len: usize,
    alpha: bool,
}

impl Shape {
    fn new(canvas: Size, alpha: bool) -> Result<Self, RouteError> {
        let too_large = || RouteError::TooLarge(canvas);
        let stride = canvas
            .w
            .checked_mul(4)
            .and_then(|row| row.checked_next_multiple_of(ROW_ALIGNMENT));
        // wl_shm counts bytes in an i32.
        let stride = stride.ok_or_else(too_large)?;
        let len = i32::try_from(u64::from(stride) * u64::from(canvas.h)).map_err(|_| too_large())?;
        Ok(Self {
            canvas,
            stride,
            len: usize::try_from(len).map_err(|_| too_large())?,
            alpha,
        })
    }

    fn make(self, released: &Arc<Released>) -> Result<(SharedMemory, Arc<Target>), RouteError> {
        let memory = SharedMemory::new(self.len)?;
        let backing = Backing::Shm {
            fd: memory.share()?,
            len: self.len,
        };
        let fourcc = if self.alpha {
            DrmFourcc::Argb8888
        } else {
            DrmFourcc::Xrgb8888
        };
        let target = Target::new(backing, self.canvas, self.stride, fourcc, Arc::clone(released));
        Ok((memory, target))
    }
}

impl Shm {
    /// For this stream and plan, with the ring of the route before if its targets have the right shape.
    pub(crate) fn new(
        before: Option<Self>,
        stream: &StreamFormat,
        plan: &TargetPlan,
        released: &Arc<Released>,
    ) -> Result<Self, RouteError> {
        let spec = stream.spec(plan);
        let shape = Shape::new(plan.canvas, spec.format.has_alpha())?;
        let converter = Converter::new(&spec)?;
        let unpacker = stream
            .unpacking
            .map(|unpacking| Unpacker::new(unpacking, spec.stored, spec.colorimetry.range))
            .transpose()?;
        let ring = before
            .filter(|before| before.shape == shape)
            .map_or_else(Ring::new, |before| before.ring);
        Ok(Self {
            unpacker,
            converter,
            size: plan.size,
            shape,
            ring,
            released: Arc::clone(released),
        })
    }

    /// Columns and rows of the targets.
    pub(crate) fn canvas(&self) -> Size {
        self.shape.canvas
    }

    /// Whether frames are unpacked first.
    pub(crate) fn unpacks(&self) -> bool {
        self.unpacker.is_some()
    }

    /// Takes a target that is free; `None` if all are in use.
    pub(crate) fn take(&mut self) -> Result<Option<Free>, RouteError> {
        self.ring.take(|| self.shape.make(&self.released))
    }

    /// Draws a frame into a target that was taken. Gives the bytes that were written.
    pub(crate) fn draw(&mut self, frame: &Mapped<'_>, free: &Free) -> Result<u64, RouteError> {
        let Self {
            unpacker,
            converter,
            size,
            shape,
            ring,
            ..
        } = self;
        let Some(memory) = ring.memory(free) else {
            return Err(RouteError::TooLarge(shape.canvas));
        };
        let bytes = memory.bytes_mut();
        let stride = shape.stride as usize;
        let planes = match unpacker {
            Some(unpacker) => unpacker.unpack(&frame.planes())?,
            None => frame.planes(),
        };
        converter.convert(&planes, bytes, stride)?;
        repeat(bytes, stride, *size, shape.canvas);
        Ok(u64::from(shape.canvas.w) * u64::from(shape.canvas.h) * 4)
    }
}

/// Fills a canvas with copies of the picture of `size` at its first pixel, four bytes a pixel.
fn repeat(bytes: &mut [u8], stride: usize, size: Size, canvas: Size) {
    let (row, full) = (size.w as usize * 4, canvas.w as usize * 4);
    if row < full {
        for line in bytes.chunks_mut(stride).take(size.h as usize) {
            // Each copy doubles what there is to copy from.
            let mut done = row;
            while done < full {
                let more = done.min(full - done);
                line.copy_within(..more, done);
                done += more;
            }
        }
    }
    let (mut done, full) = (size.h as usize * stride, canvas.h as usize * stride);
    while done < full {
        let more = done.min(full - done);
        bytes.copy_within(..more, done);
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_repeat_to_the_last_pixel() {
        for (size, canvas) in [
            ((3, 2), (8, 7)),
            ((3, 2), (3, 5)),
            ((3, 2), (9, 2)),
            ((1, 1), (5, 5)),
            ((4, 4), (4, 4)),
        ] {
            let (size, canvas) = (Size::new(size.0, size.1), Size::new(canvas.0, canvas.1));
            let stride = 64;
            let mut bytes = vec![0u8; stride * canvas.h as usize];
            let pixel = |x: u32, y: u32| [x as u8 + 1, y as u8 + 1, 7, 9];
            for y in 0..size.h {
                for x in 0..size.w {
                    let at = y as usize * stride + x as usize * 4;
                    bytes[at..at + 4].copy_from_slice(&pixel(x, y));
                }
            }
            repeat(&mut bytes, stride, size, canvas);
            for y in 0..canvas.h {
                for x in 0..canvas.w {
                    let at = y as usize * stride + x as usize * 4;
                    assert_eq!(
                        bytes[at..at + 4],
                        pixel(x % size.w, y % size.h),
                        "{x} {y} of {canvas}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_are_aligned_and_sizes_checked() {
        let shape = Shape::new(Size::new(1367, 3), false).unwrap();
        assert_eq!((shape.stride, shape.len), (5504, 3 * 5504));
        assert!(matches!(
            Shape::new(Size::new(u32::MAX, 1), false),
            Err(RouteError::TooLarge(_))
        ));
        assert!(matches!(
            Shape::new(Size::new(30000, 30000), false),
            Err(RouteError::TooLarge(_))
        ));
    }
}
