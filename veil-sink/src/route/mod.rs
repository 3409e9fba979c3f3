//! Ways from a decoded frame to a presentable target. One stream has one route at a time.

mod shm;

use crate::{
    caps::StreamFormat,
    description::{RouteDescription, RouteKind},
    frame::Mapped,
    ring::Free,
};
use shm::Shm;
use std::{borrow::Cow, sync::Arc};
use veil_frame::{TargetPlan, presentable::Released};

/// A route cannot be taken, or has failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RouteError {
    /// No conversion for this picture.
    #[error("cannot convert: {0}")]
    Spec(#[from] veil_convert::SpecError),
    /// A conversion failed.
    #[error("conversion failed: {0}")]
    Convert(#[from] veil_convert::ConvertError),
    /// A frame is not what it was checked to be.
    #[error(transparent)]
    Read(#[from] crate::unpack::ReadError),
    /// No memory for a target.
    #[error(transparent)]
    Memory(#[from] veil_wayland::MemoryError),
    /// No descriptor for a target.
    #[error("cannot share a target: {0}")]
    Share(#[from] std::io::Error),
    /// The numbers overflow.
    #[error("a target of {0} is too large")]
    TooLarge(veil_frame::Size),
}

/// The route that is taken.
#[derive(Debug)]
pub(crate) enum Route {
    Shm(Shm),
}

impl Route {
    /// Chooses a route for a plan. `before` is the route so far: what still fits of it is kept.
    pub(crate) fn choose(
        before: Option<Self>,
        stream: &StreamFormat,
        plan: &TargetPlan,
        released: &Arc<Released>,
    ) -> Result<Self, RouteError> {
        let before = before.map(|Self::Shm(shm)| shm);
        Shm::new(before, stream, plan, released).map(Self::Shm)
    }

    /// Takes a free target; `None` if all are in use.
    pub(crate) fn take(&mut self) -> Result<Option<Free>, RouteError> {
        match self {
            Self::Shm(shm) => shm.take(),
        }
    }

    /// Draws a frame into a target that was taken. Gives the bytes that the CPU wrote.
    pub(crate) fn draw(&mut self, frame: &Mapped<'_>, free: &Free) -> Result<u64, RouteError> {
        match self {
            Self::Shm(shm) => shm.draw(frame, free),
        }
    }

    /// What there is to say of it.
    pub(crate) fn description(&self) -> RouteDescription {
        match self {
            Self::Shm(shm) => RouteDescription {
                kind: RouteKind::Shm,
                reason: Cow::Borrowed(if shm.unpacks() {
                    "frames in system memory are unpacked, then converted, by the CPU"
                } else {
                    "frames in system memory are converted by the CPU"
                }),
                target: shm.canvas(),
            },
        }
    }
}
