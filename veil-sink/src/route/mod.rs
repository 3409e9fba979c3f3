//! Ways from a decoded frame to a presentable target. One stream has one route at a time.

mod choice;
mod direct;
mod shm;

pub use choice::RouteChoice;

use crate::{
    Capabilities,
    caps::StreamFormat,
    description::{RouteDescription, RouteKind},
    frame::{FrameError, Layout},
    ring::Free,
};
use direct::Direct;
use drm_fourcc::{DrmFormat, DrmModifier};
use gstreamer as gst;
use shm::Shm;
use std::{borrow::Cow, sync::Arc};
use veil_frame::{BorrowedDmabuf, Labels, Picture, TargetPlan, TargetUse, presentable::Released};

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
    /// A frame cannot be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// No memory for a target.
    #[error(transparent)]
    Memory(#[from] veil_wayland::MemoryError),
    /// No descriptor for a target.
    #[error("cannot share a target: {0}")]
    Share(#[from] std::io::Error),
    /// The numbers overflow.
    #[error("a target of {0} is too large")]
    TooLarge(veil_frame::Size),
    /// A frame came in other memory than the ones before.
    #[error("the frame is not in a dmabuf any more")]
    NoDmabuf,
    /// Only a device can read the frames, and none may.
    #[error("frames lie in a device's memory ({0:?}), which the CPU cannot read, and {1}")]
    OutOfReach(DrmModifier, &'static str),
    /// The route that was asked for cannot be taken.
    #[error("the route \"{0}\" cannot be taken: {1}")]
    Forced(&'static str, &'static str),
}

/// A frame to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The decoder's buffer.
    pub(crate) buffer: &'a gst::Buffer,
    /// Where the picture lies in it.
    pub(crate) layout: Layout,
    /// Its dmabufs, if it lies in such.
    pub(crate) dmabuf: Option<BorrowedDmabuf<'a>>,
}

impl<'a> Source<'a> {
    /// Finds the picture in a buffer.
    pub(crate) fn of(buffer: &'a gst::Buffer, stream: &StreamFormat) -> Result<Self, FrameError> {
        let layout = Layout::of(buffer, stream)?;
        Ok(Self {
            buffer,
            layout,
            dmabuf: layout.dmabuf(buffer, stream.dmabuf_format()),
        })
    }

    /// How it lies in dmabufs, if it does.
    pub(crate) fn format(&self) -> Option<DrmFormat> {
        self.dmabuf.map(|dmabuf| dmabuf.format)
    }
}

/// What a route is chosen for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) stream: &'a StreamFormat,
    /// The first frame that takes it.
    pub(crate) source: &'a Source<'a>,
    /// The visible picture, as far as may be read.
    pub(crate) picture: Picture,
    pub(crate) capabilities: &'a Capabilities,
    pub(crate) choice: RouteChoice,
}

/// The dmabufs that can be shown, best first.
pub(crate) fn dmabuf_formats(choice: RouteChoice, capabilities: &Capabilities) -> Vec<DrmFormat> {
    let (RouteChoice::Auto | RouteChoice::Direct, Some(support)) = (choice, &capabilities.dmabuf) else {
        return Vec::new();
    };
    direct::formats(support, choice == RouteChoice::Auto)
}

/// The route that is taken.
#[derive(Debug)]
pub(crate) enum Route {
    Direct(Direct),
    Shm(Shm, Cow<'static, str>),
}

/// Where a frame is drawn.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Nothing is drawn.
    Shared(TargetUse),
    /// A target of the route's own.
    Free(Free),
}

impl Taken {
    /// The hold on it.
    pub(crate) fn into_target(self) -> TargetUse {
        match self {
            Self::Shared(target) => target,
            Self::Free(free) => free.target,
        }
    }
}

impl Route {
    /// Chooses a route, and what is drawn by it. `before` is the route so far: what still fits of it is kept.
    pub(crate) fn choose(
        before: Option<Self>,
        wanted: Wanted<'_>,
        released: &Arc<Released>,
    ) -> Result<(Self, TargetPlan), RouteError> {
        let Wanted {
            stream,
            source,
            picture,
            capabilities,
            choice,
        } = wanted;
        let support = capabilities.dmabuf.as_ref();
        let (demand, format) = (&capabilities.demand, source.format());
        let strict = choice != RouteChoice::Direct;
        let not_direct = match choice {
            RouteChoice::Auto | RouteChoice::Direct => {
                direct::obstacle(stream, format, support, demand, strict)
            }
            RouteChoice::Convert | RouteChoice::Shm => Some("another route was asked for"),
        };
        match (not_direct, format, support) {
            (None, Some(format), Some(support)) => {
                let before = match before {
                    Some(Self::Direct(direct)) => Some(direct),
                    _ => None,
                };
                let coded = source
                    .layout
                    .coded_picture(picture.pixel_aspect, picture.orientation);
                let plan = TargetPlan::stored(coded);
                let direct = Direct::new(before, stream, format, plan.canvas, support, released);
                return Ok((Self::Direct(direct), plan));
            }
            (Some(why), ..) if choice == RouteChoice::Direct => {
                return Err(RouteError::Forced("direct", why));
            }
            _ => {}
        }
        if let Some(format) = stream.drm
            && format.modifier != DrmModifier::Linear
        {
            let why = not_direct.unwrap_or("no route is left");
            return Err(RouteError::OutOfReach(format.modifier, why));
        }
        let before = match before {
            Some(Self::Shm(shm, _)) => Some(shm),
            _ => None,
        };
        let plan = TargetPlan::new(picture, demand);
        let shm = Shm::new(before, stream, &plan, released)?;
        let done = if shm.unpacks() {
            "are unpacked, then converted, by the CPU"
        } else {
            "are converted by the CPU"
        };
        let reason = match (format, not_direct) {
            (Some(_), Some(why)) => Cow::Owned(format!("frames in dmabufs {done}: {why}")),
            _ => Cow::Owned(format!("frames in system memory {done}")),
        };
        Ok((Self::Shm(shm, reason), plan))
    }

    /// Whether it would be chosen again, with the same plan, for surfaces that are all that has changed.
    pub(crate) fn serves(&self, plan: &TargetPlan, wanted: Wanted<'_>) -> bool {
        let strict = wanted.choice != RouteChoice::Direct;
        let (support, demand) = (wanted.capabilities.dmabuf.as_ref(), &wanted.capabilities.demand);
        let not_direct = direct::obstacle(wanted.stream, wanted.source.format(), support, demand, strict);
        match self {
            Self::Direct(_) => not_direct.is_none(),
            Self::Shm(..) => {
                let asked = matches!(wanted.choice, RouteChoice::Auto | RouteChoice::Direct);
                !(asked && not_direct.is_none()) && TargetPlan::new(wanted.picture, demand) == *plan
            }
        }
    }

    /// Takes a target that is free; `None` if all are in use.
    pub(crate) fn take(&mut self, source: &Source<'_>) -> Result<Option<Taken>, RouteError> {
        match self {
            Self::Direct(direct) => direct.take(source).map(Taken::Shared).map(Some),
            Self::Shm(shm, _) => Ok(shm.take()?.map(Taken::Free)),
        }
    }

    /// Draws a frame into a target that was taken. Gives the bytes that the CPU wrote.
    pub(crate) fn draw(&mut self, source: &Source<'_>, taken: &Taken) -> Result<u64, RouteError> {
        match (self, taken) {
            (Self::Shm(shm, _), Taken::Free(free)) => {
                let frame = source.layout.map(source.buffer)?;
                shm.draw(&frame, free)
            }
            _ => Ok(0),
        }
    }

    /// What the compositor must be told of the colours.
    pub(crate) fn labels(&self) -> Option<Labels> {
        match self {
            Self::Direct(direct) => direct.labels(),
            Self::Shm(..) => None,
        }
    }

    /// What there is to say of it.
    pub(crate) fn description(&self) -> RouteDescription {
        match self {
            Self::Direct(direct) => RouteDescription {
                kind: RouteKind::Direct,
                reason: Cow::Borrowed("the compositor shows the decoder's memory as it is"),
                target: direct.size(),
            },
            Self::Shm(shm, reason) => RouteDescription {
                kind: RouteKind::Shm,
                reason: reason.clone(),
                target: shm.canvas(),
            },
        }
    }
}
