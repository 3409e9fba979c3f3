//! Vulkan: pictures in dmabufs are read, converted by a compute shader, and written into other dmabufs.
//!
//! The way of a frame: [`device`] opens the compositor's device; [`formats`] says what it reads and writes;
//! [`import`] makes images of a decoder's planes and [`target`] images that a compositor can show; [`submit`]
//! runs the conversion between them, in the order that the fences in both ([`sync`]) ask for.

pub mod convert;
pub mod device;
pub mod fault;
pub mod instance;
mod mapped;
pub mod upload;
