//! veil's Wayland side: one connection, the outputs, one tree of surfaces an output, the buffers that these show and
//! their releases, and when each was on the screen.
//!
//! It knows no decoder and no GPU: what it is given to show is a [`veil_frame::Presentable`]. Nothing here blocks: the
//! owner of the event loop calls [`Display::pump`] when the descriptor is readable, and takes the [`Event`]s after it.

#![deny(unsafe_code)]

mod buffer;
mod desktop;
mod display;
pub mod memory;
mod output;
mod placement;
mod presentation;
mod surface;

pub use buffer::BufferError;
pub use desktop::{Desktop, Event};
pub use display::{ConnectError, Display, DisplayError};
pub use memory::{MemoryError, SharedMemory};
pub use output::{Output, OutputId};
pub use surface::{Content, SurfaceError};
