//! The decoder's own memory is attached: nothing is drawn, and no pixel is touched.
//!
//! A decoder has a few buffers that come round again and again, so each becomes a target once, and is known again by
//! its [`Identity`]. The decoder gets its buffer back when the last surface has let go of it.

use super::{RouteError, Source};
use crate::caps::StreamFormat;
use drm_fourcc::DrmFormat;
use gstreamer as gst;
use std::sync::{Arc, Mutex, PoisonError};
use veil_dmabuf::Identity;
use veil_frame::{
    BorrowedDmabuf, Demand, DmabufSupport, FitMode, Labels, Matrix, Model, PixelFormat, Size, Target,
    TargetUse,
    presentable::{OnFree, Released},
};

/// More buffers than a decoder has.
const MOST: usize = 64;

/// The decoder's buffer, while it is shown.
#[derive(Debug, Default)]
struct Holding(Mutex<Option<gst::Buffer>>);

impl Holding {
    /// Takes a target for showing what is in this buffer.
    fn take(&self, target: &Arc<Target>, buffer: &gst::Buffer) -> TargetUse {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // In here, so that whoever has just let go of it sees that it is used again.
        let target = target.share();
        let before = held.replace(buffer.clone());
        drop(held);
        // With no lock held: a buffer goes back to its pool.
        drop(before);
        target
    }
}

#[derive(Debug)]
struct LetGo(Arc<Holding>);

impl OnFree for LetGo {
    fn freed(&self, target: &Target) {
        let mut held = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = if target.is_used() { None } else { held.take() };
        drop(held);
        drop(buffer);
    }
}

#[derive(Debug)]
struct Known {
    identity: Identity,
    target: Arc<Target>,
    holding: Arc<Holding>,
}

/// The decoder's buffers as targets.
#[derive(Debug)]
pub(crate) struct Direct {
    format: DrmFormat,
    size: Size,
    labels: Option<Labels>,
    known: Vec<Known>,
    released: Arc<Released>,
}

/// Why the decoder's memory cannot be attached; nothing if it can.
///
/// `strict` asks for right colours: of YCbCr the compositor must be told what the numbers mean, and of what is not SDR with the
/// primaries of BT.709 it cannot be told.
pub(crate) fn obstacle(
    stream: &StreamFormat,
    format: Option<DrmFormat>,
    support: Option<&DmabufSupport>,
    demand: &Demand,
    strict: bool,
) -> Option<&'static str> {
    let told = &stream.description;
    let Some(format) = format else {
        return Some("frames are not in dmabufs");
    };
    let Some(support) = support else {
        return Some("the compositor takes no dmabufs");
    };
    if !support.formats.contains(&format) {
        return Some("the compositor does not take this format and modifier");
    }
    if told.format.has_alpha() {
        return Some("alpha must be multiplied in");
    }
    if demand.uses.iter().any(|(mode, _)| *mode == FitMode::Tile) {
        return Some("tiles must be drawn");
    }
    let color = told.colorimetry;
    if strict && told.format.info().model != Model::Rgb {
        if !support.codings.contains(&(color.matrix, color.range)) {
            return Some("the compositor cannot be told what these colours mean");
        }
        if color.needs_linear_light() && !support.colours.contains(&(color.primaries, color.transfer)) {
            return Some("the compositor cannot be told of colours beyond SDR with the primaries of BT.709");
        }
    }
    None
}

/// Of what a compositor takes, the formats that may be attached as they are. With `strict`, of YCbCr only where the compositor
/// can be told what colours mean.
pub(crate) fn formats(support: &DmabufSupport, strict: bool) -> Vec<DrmFormat> {
    let suits = |format: &&DrmFormat| {
        PixelFormat::from_fourcc(format.code).is_some_and(|pixels| {
            let named = pixels.info().model == Model::Rgb || !support.codings.is_empty();
            !pixels.has_alpha() && (named || !strict)
        })
    };
    support.formats.iter().filter(suits).copied().collect()
}

impl Direct {
    /// For frames in dmabufs of this format.
    pub(crate) fn new(
        before: Option<Self>,
        stream: &StreamFormat,
        format: DrmFormat,
        size: Size,
        support: &DmabufSupport,
        released: &Arc<Released>,
    ) -> Self {
        let told = &stream.description;
        let labels = Labels {
            colorimetry: told.colorimetry,
            site: told.site,
        };
        let coding = (told.colorimetry.matrix, told.colorimetry.range);
        let can_be_told = told.colorimetry.matrix != Matrix::Rgb && support.codings.contains(&coding);
        let known = before
            .filter(|before| before.format == format && before.size == size)
            .map_or_else(|| Vec::with_capacity(MOST), |before| before.known);
        Self {
            format,
            size,
            labels: can_be_told.then_some(labels),
            known,
            released: Arc::clone(released),
        }
    }

    /// Columns and rows of the targets.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// What the compositor is told of the colours.
    pub(crate) fn labels(&self) -> Option<Labels> {
        self.labels
    }

    /// The frame's own memory as a target.
    pub(crate) fn take(&mut self, source: &Source<'_>) -> Result<TargetUse, RouteError> {
        let dmabuf = source.dmabuf.as_ref().ok_or(RouteError::NoDmabuf)?;
        let identity = Identity::of(dmabuf)?;
        let index = match self.known.iter().position(|known| known.identity == identity) {
            Some(index) => index,
            None => {
                // A compositor ends who sends it less memory than there are pixels.
                source.layout.check_dmabuf(dmabuf)?;
                self.learn(identity, dmabuf)?
            }
        };
        let known = &self.known[index];
        Ok(known.holding.take(&known.target, source.buffer))
    }

    fn learn(&mut self, identity: Identity, dmabuf: &BorrowedDmabuf<'_>) -> Result<usize, RouteError> {
        if self.known.len() == MOST {
            // The oldest that is not shown; if all are, the oldest lives on until it is let go.
            let oldest = self.known.iter().position(|known| !known.target.is_used());
            self.known.remove(oldest.unwrap_or(0));
        }
        let holding = Arc::new(Holding::default());
        let on_free: Box<dyn OnFree> = Box::new(LetGo(Arc::clone(&holding)));
        let target = Target::of_dmabuf(dmabuf.to_owned()?, Arc::clone(&self.released), Some(on_free));
        self.known.push(Known {
            identity,
            target,
            holding,
        });
        Ok(self.known.len() - 1)
    }
}
