//! Ways from a decoded frame to a presentable target. One stream has one route at a time.

mod choice;
mod convert;
mod direct;
mod shm;

pub use choice::{RouteChoice, UnknownRoute};

use crate::{
    Capabilities,
    caps::StreamFormat,
    description::{RouteDescription, RouteKind},
    dmabuf_memory,
    frame::{FrameError, Layout},
    gpu::{self, Gpu},
    ring::Free,
};
use convert::Convert;
use direct::Direct;
use drm_fourcc::{DrmFormat, DrmModifier};
use gstreamer as gst;
use shm::Shm;
use std::{borrow::Cow, sync::Arc};
use veil_dmabuf::node;
use veil_frame::{
    BorrowedDmabuf, DmabufSupport, Labels, Picture, TargetPlan, TargetUse, presentable::Released,
};

/// A route cannot be taken, or has failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RouteError {
    /// No conversion for this picture.
    #[error("cannot convert: {0}")]
    Spec(#[from] veil_convert::SpecError),
    /// A conversion failed.
    #[error("conversion failed: {0}")]
    Convert(#[from] veil_convert::ConvertError),
    /// The GPU could not do it.
    #[error("the GPU cannot convert: {0}")]
    Gpu(#[from] veil_gpu::ConverterError),
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
    /// Devices cannot be told of what the CPU has written.
    #[error(transparent)]
    Written(#[from] veil_dmabuf::MappingError),
    /// A frame came in other memory than the ones before.
    #[error("the frame is not in a dmabuf any more")]
    NoDmabuf,
    /// Only a device can read the frames, and none may.
    #[error("frames lie in a device's memory ({0:?}), which the CPU cannot read, and {1}")]
    OutOfReach(DrmModifier, String),
    /// The route that was asked for cannot be taken.
    #[error("the route \"{0}\" cannot be taken: {1}")]
    Forced(&'static str, String),
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
    /// Whether it was written as system memory: by the CPU, as far as anybody knows.
    by_cpu: bool,
}

impl<'a> Source<'a> {
    /// Finds the picture in a buffer.
    pub(crate) fn of(buffer: &'a gst::Buffer, stream: &StreamFormat) -> Result<Self, FrameError> {
        let layout = Layout::of(buffer, stream)?;
        Ok(Self {
            buffer,
            layout,
            dmabuf: layout.dmabuf(buffer, stream.dmabuf_format()),
            by_cpu: stream.drm.is_none(),
        })
    }

    /// Makes devices see what the CPU has written.
    fn show_to_devices(&self) -> Result<(), RouteError> {
        match &self.dmabuf {
            Some(dmabuf) if self.by_cpu => Ok(dmabuf_memory::written(dmabuf)?),
            _ => Ok(()),
        }
    }

    /// Whether it lies row after row, so that the CPU can read it.
    pub(crate) fn is_linear(&self) -> bool {
        self.format()
            .is_none_or(|format| format.modifier == DrmModifier::Linear)
    }

    /// How it lies in dmabufs, if it does.
    pub(crate) fn format(&self) -> Option<DrmFormat> {
        self.dmabuf.map(|dmabuf| dmabuf.format)
    }
}

/// What the user asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) choice: RouteChoice,
    /// The name or render node of a device.
    pub(crate) device: Option<String>,
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
    pub(crate) asked: &'a Asked,
    /// Why a GPU is not to be tried again.
    pub(crate) no_gpu: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn not_direct(&self) -> Option<&'static str> {
        let strict = match self.asked.choice {
            RouteChoice::Auto => true,
            RouteChoice::Direct => false,
            RouteChoice::Convert | RouteChoice::Shm => return Some("another route was asked for"),
        };
        let (support, demand) = (self.capabilities.dmabuf.as_ref(), &self.capabilities.demand);
        direct::obstacle(self.stream, self.source.format(), support, demand, strict)
    }

    /// The GPU that can convert this, and what it converts for; or why there is none.
    fn gpu(&self) -> Result<(Arc<Gpu>, &'a DmabufSupport), Cow<'static, str>> {
        if let RouteChoice::Shm | RouteChoice::Direct = self.asked.choice {
            return Err("another route was asked for".into());
        }
        if let Some(reason) = self.no_gpu {
            return Err(reason.to_owned().into());
        }
        let Some(support) = &self.capabilities.dmabuf else {
            return Err("the compositor takes no dmabufs".into());
        };
        let gpu = gpu::open(self.asked.device.as_deref(), support)
            .map_err(|reason| Cow::Owned(String::from(&*reason)))?;
        match convert::obstacle(self.stream, self.source.format(), support, &gpu) {
            Some(reason) => Err(reason.into()),
            None => Ok((gpu, support)),
        }
    }
}

/// The dmabufs that can be shown as they are or read by a GPU, best first. `decoded_by` is the node of the device that
/// writes them, where one does: what another device than the compositor's has tiled is out of reach there.
pub(crate) fn dmabuf_formats(
    asked: &Asked,
    capabilities: &Capabilities,
    decoded_by: Option<u64>,
) -> Vec<DrmFormat> {
    let Some(support) = &capabilities.dmabuf else {
        return Vec::new();
    };
    let mut formats = match asked.choice {
        RouteChoice::Auto => direct::formats(support, true),
        RouteChoice::Direct => direct::formats(support, false),
        RouteChoice::Convert | RouteChoice::Shm => Vec::new(),
    };
    if let RouteChoice::Auto | RouteChoice::Convert = asked.choice
        && let Ok(gpu) = gpu::open(asked.device.as_deref(), support)
    {
        for format in convert::formats(&gpu) {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
    }
    let elsewhere = support
        .device
        .zip(decoded_by)
        .is_some_and(|(device, decoder)| !node::is_same_device(device, decoder));
    formats.retain(|format| !elsewhere || format.modifier == DrmModifier::Linear);
    formats
}

/// The route that is taken.
#[derive(Debug)]
pub(crate) enum Route {
    Direct(Direct),
    Convert(Box<Convert>, Cow<'static, str>),
    Shm(Box<Shm>, Cow<'static, str>),
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
            asked,
            ..
        } = wanted;
        let not_direct = wanted.not_direct();
        match (not_direct, source.format(), &capabilities.dmabuf) {
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
            (Some(why), ..) if asked.choice == RouteChoice::Direct => {
                return Err(RouteError::Forced("direct", why.to_owned()));
            }
            _ => {}
        }
        let not_direct = not_direct.unwrap_or_default();
        let plan = TargetPlan::new(picture, &capabilities.demand);
        let (convert_before, shm_before) = match before {
            Some(Self::Convert(convert, _)) => (Some(*convert), None),
            Some(Self::Shm(shm, _)) => (None, Some(*shm)),
            _ => (None, None),
        };
        let convert = wanted.gpu().and_then(|(gpu, support)| {
            Convert::new(convert_before, stream, &plan, support, &gpu, released)
                .map_err(|error| error.to_string().into())
        });
        let no_gpu = match convert {
            Ok(convert) => {
                let reason = format!("{} converts: {not_direct}", convert.device_name());
                return Ok((Self::Convert(Box::new(convert), reason.into()), plan));
            }
            Err(reason) => reason,
        };
        if asked.choice == RouteChoice::Convert {
            return Err(RouteError::Forced("convert", no_gpu.into_owned()));
        }
        if let Some(format) = stream.drm
            && format.modifier != DrmModifier::Linear
        {
            return Err(RouteError::OutOfReach(format.modifier, no_gpu.into_owned()));
        }
        let shm = Shm::new(shm_before, stream, &plan, released)?;
        let reason = Self::shm_reason(&shm, source.format().is_some(), not_direct, &no_gpu);
        Ok((Self::Shm(Box::new(shm), reason), plan))
    }

    fn shm_reason(shm: &Shm, dmabufs: bool, not_direct: &str, no_gpu: &str) -> Cow<'static, str> {
        let done = if shm.unpacks() {
            "are unpacked, then converted, by the CPU"
        } else {
            "are converted by the CPU"
        };
        let memory = if dmabufs { "dmabufs" } else { "system memory" };
        if dmabufs && not_direct != no_gpu {
            format!("frames in {memory} {done}: {not_direct}; {no_gpu}").into()
        } else {
            format!("frames in {memory} {done}: {no_gpu}").into()
        }
    }

    /// Whether it would be chosen again, with the same plan, for surfaces that are all that has changed.
    pub(crate) fn serves(&self, plan: &TargetPlan, before: &Capabilities, wanted: Wanted<'_>) -> bool {
        let capabilities = wanted.capabilities;
        match self {
            Self::Direct(_) => wanted.not_direct().is_none(),
            _ => {
                capabilities.dmabuf == before.dmabuf
                    && wanted.not_direct().is_some()
                    && TargetPlan::new(wanted.picture, &capabilities.demand) == *plan
            }
        }
    }

    /// Takes a target that is free; `None` if all are in use.
    pub(crate) fn take(&mut self, source: &Source<'_>) -> Result<Option<Taken>, RouteError> {
        match self {
            Self::Direct(direct) => direct.take(source).map(Taken::Shared).map(Some),
            Self::Convert(convert, _) => Ok(convert.take()?.map(Taken::Free)),
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
            (Self::Convert(convert, _), Taken::Free(free)) => {
                source.show_to_devices()?;
                convert.draw(source, free)
            }
            (Self::Direct(_), Taken::Shared(_)) => {
                source.show_to_devices()?;
                Ok(0)
            }
            _ => Ok(0),
        }
    }

    /// Whether it failed because the device was lost.
    pub(crate) fn lost_device(&self) -> bool {
        matches!(self, Self::Convert(convert, _) if convert.lost())
    }

    /// What the compositor must be told of the colours.
    pub(crate) fn labels(&self) -> Option<Labels> {
        match self {
            Self::Direct(direct) => direct.labels(),
            Self::Convert(..) | Self::Shm(..) => None,
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
            Self::Convert(convert, reason) => RouteDescription {
                kind: RouteKind::Convert,
                reason: reason.clone(),
                target: convert.canvas(),
            },
            Self::Shm(shm, reason) => RouteDescription {
                kind: RouteKind::Shm,
                reason: reason.clone(),
                target: shm.canvas(),
            },
        }
    }
}
