//! What a conversion is asked for, whoever does it: a CPU or a GPU.

use crate::{ChromaSite, Colorimetry, Matrix, Model, PixelFormat, RectF, Size};

/// Columns, and rows, that a picture may have.
pub const LARGEST: u32 = 1 << 15;
/// How far a crop may reach out of the picture, for the sake of rounding.
const SLACK: f64 = 1e-3;

/// What is to be converted into what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    /// How the picture is stored.
    pub format: PixelFormat,
    /// Columns and rows of luma that are stored; 1 to 32 768 each.
    pub stored: Size,
    /// What the samples mean.
    pub colorimetry: Colorimetry,
    /// Where chroma samples sit; unused where chroma is not subsampled.
    pub site: ChromaSite,
    /// The part to convert, in stored luma pixels; inside the stored picture. Fractional only where it is scaled.
    pub crop: RectF,
    /// Columns and rows of the result; 1 to 32 768 each.
    pub size: Size,
}

/// No picture can be converted so.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// A size is 0 or above 32 768 along an axis.
    #[error("a picture of {0} pixels cannot be converted: 1 to 32768 along each axis can")]
    Size(Size),
    /// The crop is empty, not a number, or reaches out of the stored picture.
    #[error("the crop {crop:?} is not a part of a picture of {stored} pixels")]
    Crop {
        /// The crop.
        crop: RectF,
        /// The stored picture's size.
        stored: Size,
    },
}

impl Spec {
    /// Checks sizes and crop.
    ///
    /// # Errors
    /// [`SpecError`] says what is wrong.
    pub fn check(&self) -> Result<(), SpecError> {
        for size in [self.stored, self.size] {
            if size.is_empty() || size.w > LARGEST || size.h > LARGEST {
                return Err(SpecError::Size(size));
            }
        }
        let inside = |start: f64, length: f64, stored: u32| {
            // Comparisons with what is not a number are false.
            start >= -SLACK && length > 0.0 && start + length <= f64::from(stored) + SLACK
        };
        let (crop, stored) = (self.crop, self.stored);
        if !inside(crop.x, crop.w, stored.w) || !inside(crop.y, crop.h, stored.h) {
            return Err(SpecError::Crop { crop, stored });
        }
        Ok(())
    }

    /// The colorimetry, with a matrix that fits the format: RGB formats are RGB whatever the stream claims, and YCbCr that
    /// claims to be RGB gets the matrix that is assumed for its height.
    pub fn effective_colorimetry(&self) -> Colorimetry {
        let mut color = self.colorimetry;
        match self.format.info().model {
            Model::Rgb | Model::Gray => color.matrix = Matrix::Rgb,
            Model::Yuv if color.matrix == Matrix::Rgb => {
                color.matrix = Colorimetry::assumed(self.stored.h).matrix;
            }
            Model::Yuv => {}
        }
        color
    }
}

/// The memory of one frame. Entries beyond the format's planes are ignored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planes<'a> {
    /// Each plane's bytes, from its first row.
    pub data: [&'a [u8]; 4],
    /// Bytes from a plane's row to the next one's.
    pub stride: [usize; 4],
}
