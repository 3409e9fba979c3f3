//! A GPU converts: it reads the decoder's dmabufs, or what was uploaded of plain memory, and writes a dmabuf that the
//! compositor shows.
//!
//! The GPU may still read when the base class has let go of a buffer. Decoders whose memory carries fences wait for that
//! themselves; not all do, so the newest buffers are kept until the GPU has read them.

use super::{RouteError, Source};
use crate::{
    caps::StreamFormat,
    gpu::Gpu,
    ring::{Free, Ring},
};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use gstreamer as gst;
use std::sync::Arc;
use veil_frame::{DmabufSupport, Size, Spec, Target, TargetPlan, presentable::Released};
use veil_gpu::{Conversion, Converter, ConverterError, TargetImage};

/// Frames that the GPU may be working on.
const IN_FLIGHT: usize = 2;

/// A conversion on a GPU, and its targets.
#[derive(Debug)]
pub(crate) struct Convert {
    // First, since it waits for the GPU.
    converter: Converter,
    gpu: Arc<Gpu>,
    spec: Spec,
    canvas: Size,
    targets: Vec<DrmFormat>,
    ring: Ring<Arc<TargetImage>>,
    /// Buffers that the GPU may still read, with the numbers of the frames, oldest first.
    read: Vec<(u64, gst::Buffer)>,
    released: Arc<Released>,
}

/// Why a GPU cannot convert these frames for these surfaces; nothing if it can.
pub(crate) fn obstacle(
    stream: &StreamFormat,
    format: Option<DrmFormat>,
    support: &DmabufSupport,
    gpu: &Gpu,
) -> Option<&'static str> {
    let told = &stream.description;
    if stream.unpacking.is_some() || !Conversion::supports(told.format) {
        return Some("a GPU does not read this format");
    }
    if targets(stream, support, gpu).is_empty() {
        return Some("the compositor takes nothing that the GPU writes");
    }
    match (stream.drm, format) {
        (Some(drm), None) if drm.modifier != DrmModifier::Linear => {
            Some("frames are not in dmabufs as they should be")
        }
        (Some(drm), Some(_))
            if drm.modifier != DrmModifier::Linear
                && !gpu.device().formats().reads(told.format, drm.modifier) =>
        {
            Some("the GPU does not read this modifier")
        }
        _ => None,
    }
}

/// The dmabufs that a GPU reads, as far as it converts them, best first.
pub(crate) fn formats(gpu: &Gpu) -> impl Iterator<Item = DrmFormat> {
    let sources = gpu.device().formats().sources().iter();
    sources
        .filter(|source| Conversion::supports(source.format))
        .map(|source| source.pair)
}

/// What it may write for these surfaces, best format first.
fn targets(stream: &StreamFormat, support: &DmabufSupport, gpu: &Gpu) -> Vec<DrmFormat> {
    let format = stream.description.format;
    let deep = format
        .info()
        .components
        .iter()
        .any(|component| component.bits > 8);
    let codes: &[DrmFourcc] = match (format.has_alpha(), deep) {
        (true, _) => &[DrmFourcc::Abgr8888],
        (false, true) => &[DrmFourcc::Xbgr2101010, DrmFourcc::Xbgr8888],
        (false, false) => &[DrmFourcc::Xbgr8888],
    };
    let written = gpu.device().formats().targets();
    // Where another device than the compositor's was named, its tiles are out of the compositor's reach.
    let tiles = gpu.shares_memory_with(support.device);
    let of = |code: &DrmFourcc| {
        let all: Vec<_> = written
            .iter()
            .filter(|pair| pair.code == *code && support.formats.contains(pair))
            .filter(|pair| tiles || pair.modifier == DrmModifier::Linear)
            .copied()
            .collect();
        (!all.is_empty()).then_some(all)
    };
    codes.iter().find_map(of).unwrap_or_default()
}

impl Convert {
    /// For this stream and plan, with the targets of the route before if they fit.
    pub(crate) fn new(
        before: Option<Self>,
        stream: &StreamFormat,
        plan: &TargetPlan,
        support: &DmabufSupport,
        gpu: &Arc<Gpu>,
        released: &Arc<Released>,
    ) -> Result<Self, ConverterError> {
        let spec = stream.spec(plan);
        let targets = targets(stream, support, gpu);
        let (canvas, fits) = (plan.canvas, |before: &Self| {
            before.canvas == plan.canvas && before.targets == targets && Arc::ptr_eq(&before.gpu, gpu)
        });
        let ring = before.filter(fits).map_or_else(Ring::new, |before| before.ring);
        Ok(Self {
            converter: Converter::new(&gpu.pipelines, &spec, canvas, &targets, IN_FLIGHT)?,
            gpu: Arc::clone(gpu),
            spec,
            canvas,
            targets,
            ring,
            read: Vec::with_capacity(IN_FLIGHT + 1),
            released: Arc::clone(released),
        })
    }

    /// Columns and rows of the targets.
    pub(crate) fn canvas(&self) -> Size {
        self.canvas
    }

    /// The name of the device.
    pub(crate) fn device_name(&self) -> &str {
        &self.gpu.device().info().name
    }

    /// Whether the device was lost.
    pub(crate) fn lost(&self) -> bool {
        self.gpu.device().lost()
    }

    /// Takes a target that is free; `None` if all are in use.
    pub(crate) fn take(&mut self) -> Result<Option<Free>, RouteError> {
        let Self {
            converter,
            ring,
            released,
            ..
        } = self;
        ring.take(|| {
            let image = converter.target()?;
            let target = Target::of_dmabuf(image.export()?, Arc::clone(released), None);
            Ok((image, target))
        })
    }

    /// Has the GPU draw a frame into a target that was taken. Gives the bytes that the CPU wrote.
    pub(crate) fn draw(&mut self, source: &Source<'_>, free: &Free) -> Result<u64, RouteError> {
        let Some(image) = self.ring.memory(free).map(|image| Arc::clone(image)) else {
            return Err(RouteError::TooLarge(self.canvas));
        };
        while let Some((serial, _)) = self.read.first()
            && self.converter.finished(*serial)?
        {
            self.read.remove(0);
        }
        let readable = source.dmabuf.filter(|dmabuf| {
            let formats = self.gpu.device().formats();
            formats.reads(self.spec.format, dmabuf.format.modifier)
        });
        let imported = readable.map(|dmabuf| self.converter.convert(&dmabuf, &image));
        let (bytes, submitted) = match imported {
            Some(Ok(submitted)) => {
                if self.read.len() > IN_FLIGHT {
                    self.read.remove(0);
                }
                self.read.push((submitted.serial, source.buffer.clone()));
                (0, submitted)
            }
            // Drivers refuse some memory that they list, for its stride or its exporter. What the CPU can read is uploaded.
            Some(Err(error)) if !(matches!(error, ConverterError::Import(_)) && source.is_linear()) => {
                return Err(error.into());
            }
            Some(Err(_)) | None => {
                let frame = source.layout.map(source.buffer)?;
                self.converter.upload(&frame.planes(), &image)?
            }
        };
        free.target.target().set_acquire(submitted.fence);
        Ok(bytes)
    }
}
