//! From planes to pixels, in one dispatch.
//!
//! What is right is what `veil-convert` defines; a GPU does it in single precision. Each invocation makes one pixel of the
//! target: it reads the planes' texels, resamples, applies the matrix, and stores. Everything that a format or a
//! stream is, is data in a small block (`parameters`); only what would cost registers or loads where it is not needed is
//! a variant of the shader (`variant`).

mod conversion;
mod curves;
mod layout;
mod parameters;
mod pipelines;
mod variant;

pub use conversion::{Conversion, PlaneViews};
pub use layout::{PlaneLayout, planes, supports};
pub use pipelines::Pipelines;

use crate::mapped::MappedBufferError;
use ash::vk;
use std::io;
use veil_frame::{PixelFormat, Size, SpecError};

/// A conversion could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The specification is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The format is one of those that a GPU cannot read as images.
    #[error("pictures in {} cannot be converted by a GPU; a CPU can", .0.info().name)]
    Format(PixelFormat),
    /// The result would be too small.
    #[error("a GPU cannot scale a picture down to {0} pixels in one pass; a CPU can")]
    Scale(Size),
    /// The target is empty, or larger than the device's images.
    #[error("no target of {canvas} pixels can be drawn: at most {most} along each axis are possible here")]
    Canvas {
        /// The target's size.
        canvas: Size,
        /// The device's limit.
        most: u32,
    },
    /// The target's format is none that the shader writes.
    #[error("cannot draw into images of {0:?}: R8G8B8A8_UNORM and A2B10G10R10_UNORM_PACK32 are possible")]
    Target(vk::Format),
    /// The shader is damaged.
    #[error("the shader cannot be read: {0}")]
    Shader(io::Error),
    /// No memory for parameters.
    #[error(transparent)]
    Buffer(#[from] MappedBufferError),
    /// Vulkan refused.
    #[error("the device refused a conversion: {0}")]
    Vulkan(#[from] vk::Result),
}
