//! Vulkan: pictures in dmabufs are read, converted by a compute shader, and written into other dmabufs.
//!
//! The way of a frame: [`device`] opens the compositor's device; [`formats`] says what it reads and writes;
//! [`import`] makes images of a decoder's planes ([`upload`] copies planes from plain memory) and [`target`] images that a
//! compositor can show; [`submit`] runs the conversion ([`convert`]) between them, in the order that the fences in both ask
//! for. A [`Converter`] is all of that for one stream.

pub mod convert;
mod converter;
pub mod device;
pub mod fault;
pub mod formats;
pub mod import;
pub mod instance;
mod mapped;
mod shared_memory;
pub mod submit;
mod sync;
pub mod target;
pub mod upload;

pub use convert::{Conversion, Pipelines};
pub use converter::{Converter, ConverterError};
pub use device::{Device, DeviceChoice};
pub use shared_memory::SharedImageError;
pub use submit::Submitted;
pub use target::TargetImage;
