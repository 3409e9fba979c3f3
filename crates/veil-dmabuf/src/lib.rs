//! dmabufs: memory that devices and programs hand to each other as descriptors.
//!
//! Here they are allocated where no device does it ([`Allocator`]), read and written by the CPU ([`Mapping`]), told apart
//! ([`Identity`]), and their fences are taken out and put in ([`fence`]), or handed over beside them ([`syncobj`]). Which device
//! memory belongs to is told by its [`node`]. What is in a dmabuf is told elsewhere: [`veil_frame::Dmabuf`].

#![deny(unsafe_op_in_unsafe_fn)]

mod allocator;
mod drm;
pub mod fence;
mod identity;
mod ioctl;
mod linear;
mod mapping;
pub mod node;
pub mod syncobj;

pub use allocator::{AllocateError, Allocator, OpenError};
pub use identity::Identity;
pub use linear::{Linear, LinearError};
pub use mapping::{Access, Mapping, MappingError, begin_access, end_access, size};
