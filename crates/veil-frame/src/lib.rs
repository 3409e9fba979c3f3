//! What veil knows about pictures without touching any: pixel formats and modifiers, colorimetry, plane layout, fit
//! geometry, orientation, and the descriptions of a frame and of a presentable buffer.
//!
//! Nothing here does I/O, knows GStreamer, Vulkan or Wayland, or needs `unsafe`.

#![forbid(unsafe_code)]

pub mod color;
pub mod conversion;
pub mod dmabuf;
pub mod format;
pub mod geometry;
pub mod orientation;
pub mod plan;
pub mod presentable;
pub mod rgb;
pub mod tone_map;

pub use color::{ChromaSite, CodesToRgb, Colorimetry, Matrix, Primaries, Range, Siting, Transfer};
pub use conversion::{Planes, Spec, SpecError};
pub use dmabuf::{BorrowedDmabuf, BorrowedPlane, Dmabuf, DmabufPlane, DmabufSupport};
pub use format::{Component, FormatInfo, Model, PixelFormat};
pub use geometry::{FitMode, Placement, Rect, RectF, Size, place};
pub use orientation::Orientation;
pub use plan::{Demand, Picture, PictureError, TargetPlan};
pub use presentable::{Backing, Labels, Presentable, Shown, Target, TargetUse};
pub use rgb::Rgb;
