//! Setting a conversion up, and checking memory before it is touched.

#[cfg(target_arch = "x86_64")]
use crate::video::Video;
use crate::{
    ConvertError, Level, Planes, Spec, SpecError, level::Cpu, narrow::Narrow, shuffle::Shuffle,
    source::Plane, wide::Wide,
};
use veil_frame::Size;

/// Converts frames of one kind; see the crate's documentation for what the result is.
#[derive(Debug)]
pub struct Converter {
    size: Size,
    /// Bytes of a row and rows, of each plane.
    planes: Vec<(usize, usize)>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Shuffle(Shuffle),
    #[cfg(target_arch = "x86_64")]
    Video(Box<Video>),
    Narrow(Box<Narrow>),
    Wide(Box<Wide>),
}

impl Converter {
    /// Sets up a conversion with the fastest instructions that this processor has. All memory that it will ever need
    /// is allocated here.
    ///
    /// # Errors
    /// [`SpecError`] says what cannot be converted.
    pub fn new(spec: &Spec) -> Result<Self, SpecError> {
        Self::with_level(
            spec,
            Level::available().last().copied().unwrap_or(Level::Portable),
        )
    }

    /// Like [`Self::new`], with instructions of the caller's choice: for tests and measurements.
    ///
    /// # Errors
    /// [`SpecError`] says what cannot be converted, or that the processor lacks the instructions.
    pub fn with_level(spec: &Spec, level: Level) -> Result<Self, SpecError> {
        spec.check()?;
        let cpu = level.resolve()?;
        let planes = Plane::all(spec, cpu);
        Ok(Self {
            size: spec.size,
            planes: planes.iter().map(|p| (p.row_bytes, p.rows)).collect(),
            way: Way::new(spec, planes, cpu),
        })
    }

    /// Converts a frame into `out`, whose rows begin `out_stride` bytes apart. Bytes between a row's last pixel and
    /// the next row stay as they are.
    ///
    /// # Errors
    /// [`ConvertError`] says which memory is too short; nothing was written then.
    pub fn convert(
        &mut self,
        planes: &Planes<'_>,
        out: &mut [u8],
        out_stride: usize,
    ) -> Result<(), ConvertError> {
        for (plane, &(row, rows)) in self.planes.iter().enumerate() {
            let (got, stride) = (planes.data[plane].len(), planes.stride[plane]);
            if stride < row && rows > 1 {
                return Err(ConvertError::PlaneStride {
                    plane,
                    needed: row,
                    got: stride,
                });
            }
            let needed = bytes_of(row, rows, stride);
            if got < needed {
                return Err(ConvertError::PlaneTooShort { plane, needed, got });
            }
        }
        let (row, rows) = (self.size.w as usize * 4, self.size.h as usize);
        if out_stride < row {
            return Err(ConvertError::OutputStride {
                needed: row,
                got: out_stride,
            });
        }
        let needed = bytes_of(row, rows, out_stride);
        if out.len() < needed {
            return Err(ConvertError::OutputTooShort {
                needed,
                got: out.len(),
            });
        }
        // Not a byte more than is needed, so that the ways may count on it.
        let out = &mut out[..needed];
        let width = self.size.w as usize;
        match &mut self.way {
            Way::Shuffle(shuffle) => shuffle.convert(planes, out, out_stride, width),
            #[cfg(target_arch = "x86_64")]
            Way::Video(video) => video.convert(planes, out, out_stride),
            Way::Narrow(narrow) => narrow.convert(planes, out, out_stride, width),
            Way::Wide(wide) => wide.convert(planes, out, out_stride, width),
        }
        Ok(())
    }
}

impl Way {
    fn new(spec: &Spec, planes: Vec<Plane>, cpu: Cpu) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(video) = Video::new(spec, cpu) {
            return Self::Video(Box::new(video));
        }
        if let Some(shuffle) = Shuffle::new(spec, cpu) {
            Self::Shuffle(shuffle)
        } else if !spec.effective_colorimetry().needs_linear_light() && Narrow::can(&planes) {
            Self::Narrow(Box::new(Narrow::new(spec, planes, cpu)))
        } else {
            Self::Wide(Box::new(Wide::new(spec, planes, cpu)))
        }
    }
}

/// Bytes that `rows` rows of `row` bytes take, `stride` apart.
fn bytes_of(row: usize, rows: usize, stride: usize) -> usize {
    stride.saturating_mul(rows.saturating_sub(1)).saturating_add(row)
}
