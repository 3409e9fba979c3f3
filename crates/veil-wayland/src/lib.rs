//! veil's Wayland side: one connection, the outputs, a tree of surfaces for each or for a window, the buffers that these
//! show and their releases, and when each was on the screen.
//!
//! It knows no decoder and no GPU: what it is given to show is a [`veil_frame::Presentable`]. Nothing here blocks: the
//! owner of the event loop calls [`Display::pump`] when the descriptor is readable, and takes the [`Event`]s after it.

#![deny(unsafe_code)]

mod buffer;
mod color_management;
mod desktop;
mod display;
mod dmabuf;
mod globals;
mod handlers;
pub mod memory;
mod output;
mod pace;
mod picture;
mod placement;
mod presentation;
mod representation;
mod statistics;
mod surface;
mod survey;
mod sync;
mod tree;
mod watch;

pub use buffer::BufferError;
pub use desktop::{Desktop, Event};
pub use display::{ConnectError, Display, DisplayError};
pub use globals::Shell;
pub use memory::{MemoryError, SharedMemory};
pub use output::{Output, OutputId};
pub use smithay_client_toolkit::shell::wlr_layer::Layer;
pub use statistics::PresentationStats;
pub use surface::{Content, Placed, SurfaceError, SurfaceId, WindowSettings};
pub use survey::Survey;
pub use sync::{SyncDevice, SyncTimeline};
pub use watch::WaylandWatch;
