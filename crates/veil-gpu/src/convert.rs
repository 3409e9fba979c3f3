//! From planes to pixels.

mod layout;

pub use layout::{PlaneLayout, planes, supports};
