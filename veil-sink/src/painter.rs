//! From a decoder's buffer to a picture at the presenter: what was drawn, what was handed over, and what can be drawn
//! again. GStreamer's calls are translated to these steps in `imp.rs`.
//!
//! The base class prepares one buffer more than once: at preroll, and again when PLAYING begins, or when it is paused
//! while it waits for the buffer's time. It is drawn once all the same, unless the demand has changed since.
//!
//! While the sink is paused with a prerolled buffer, the base class keeps that buffer; so a reference here pins nothing
//! that would be free otherwise, and is what [`Painter::redraw`] draws from. It is let go when playing goes on, at a
//! flush, and when the sink leaves PAUSED.

use gstreamer as gst;

use crate::{
    Capabilities, Description, Presenter, SinkStats, Submitted,
    caps::StreamFormat,
    frame::FrameError,
    planner::{PlanError, Planner},
    ring::wait,
    route::{Asked, RouteError, Source},
    stats::Count,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use veil_frame::{Orientation, Presentable, presentable::Released};

/// A frame cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PaintError {
    /// It came before any caps.
    #[error("a frame came before its format")]
    NoCaps,
    /// It is not what it was said to be.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// There is nothing to see, or no way to show it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The route failed.
    #[error(transparent)]
    Route(#[from] RouteError),
}

/// What became of a frame at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rendered {
    /// The presenter has it.
    Submitted,
    /// Nobody wants to see it.
    Unseen,
    /// No target was free to draw it in.
    Dropped,
}

/// What came of [`VeilSink::redraw`](crate::VeilSink::redraw).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redraw {
    /// The frame was submitted again; it was drawn again if the demand had changed.
    Submitted,
    /// There is no frame to draw: the sink is not paused with a frame. While it plays, the next frame is soon here.
    NoFrame,
    /// Nobody wants to see it.
    Unseen,
    /// The presenter holds all targets.
    NoTarget,
    /// It failed; an error was posted on the bus.
    Failed,
}

/// Frames in a row that nothing here can read, and that are given up before it is an error: their decoder is asked for other
/// memory meanwhile, and has some of the old on its way.
const MOST_OUT_OF_REACH: u32 = 60;

/// Draws frames and hands them over.
#[derive(Debug)]
pub(crate) struct Painter {
    presenter: Arc<dyn Presenter>,
    stats: Arc<SinkStats>,
    released: Arc<Released>,
    description: Arc<Mutex<Description>>,
    stream: Option<StreamFormat>,
    orientation: Orientation,
    planner: Planner,
    prepared: Option<Prepared>,
    held: Option<gst::Buffer>,
    next: u64,
    /// Frames of late that nothing here can read, one after the other.
    out_of_reach: u32,
}

/// The buffer that was prepared last.
#[derive(Debug)]
struct Prepared {
    buffer: Identity,
    generation: u64,
    sequence: u64,
    outcome: Outcome,
    /// Whether the presenter has had it, in whatever size.
    counted: bool,
}

#[derive(Debug)]
enum Outcome {
    /// Drawn.
    Ready(Presentable),
    /// Drawn and handed over; kept so that it can be handed over again.
    Submitted(Presentable),
    Unseen,
    NoTarget,
}

/// Tells a buffer from the one before. Its address alone is used again soon by pools; but every way by which a prepared
/// buffer is given up unrendered forgets it here as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(usize, Option<gst::ClockTime>);

impl Identity {
    fn of(buffer: &gst::BufferRef) -> Self {
        Self(buffer.as_ptr() as usize, buffer.pts())
    }
}

impl Painter {
    /// For this presenter; `released` ends its waits when interrupted.
    pub(crate) fn new(
        presenter: Arc<dyn Presenter>,
        stats: Arc<SinkStats>,
        released: Arc<Released>,
        description: Arc<Mutex<Description>>,
        asked: Asked,
    ) -> Self {
        Self {
            presenter,
            stats,
            description,
            stream: None,
            orientation: Orientation::UPRIGHT,
            planner: Planner::new(Arc::clone(&released), asked),
            released,
            prepared: None,
            held: None,
            next: 0,
            out_of_reach: 0,
        }
    }

    /// Who shows the pictures.
    pub(crate) fn presenter(&self) -> Arc<dyn Presenter> {
        Arc::clone(&self.presenter)
    }

    /// Frames have this format from now on.
    pub(crate) fn set_stream(&mut self, stream: StreamFormat) {
        self.forget();
        self.planner.stream_changed();
        lock(&self.description).stream = Some(stream.description);
        self.stream = Some(stream);
    }

    /// Frames are turned like this from now on.
    pub(crate) fn set_orientation(&mut self, orientation: Orientation) {
        self.orientation = orientation;
    }

    /// The buffer of before will not come again.
    pub(crate) fn forget(&mut self) {
        self.prepared = None;
        self.held = None;
    }

    /// Lets go of everything but the presenter.
    pub(crate) fn reset(&mut self) {
        self.forget();
        self.planner.reset();
        self.stream = None;
        self.orientation = Orientation::UPRIGHT;
        *lock(&self.description) = Description::default();
    }

    /// Draws a buffer, unless that was done. Gives the generation of the capabilities that it was drawn for.
    pub(crate) fn prepare(&mut self, buffer: &gst::Buffer) -> Result<u64, PaintError> {
        let capabilities = self.presenter.capabilities();
        let generation = capabilities.generation;
        let identity = Identity::of(buffer);
        let before = self.prepared.take().filter(|before| before.buffer == identity);
        let (sequence, counted) = match before {
            Some(before)
                if before.generation == generation && !matches!(before.outcome, Outcome::NoTarget) =>
            {
                self.prepared = Some(before);
                return Ok(generation);
            }
            Some(before) => {
                if before.counted {
                    self.stats.count(Count::Redrawn);
                }
                (before.sequence, before.counted)
            }
            None => {
                self.held = None;
                self.stats.count(Count::Received);
                self.next += 1;
                (self.next - 1, false)
            }
        };
        let outcome = self.paint(buffer, &capabilities, sequence)?;
        self.prepared = Some(Prepared {
            buffer: identity,
            generation,
            sequence,
            outcome,
            counted,
        });
        Ok(generation)
    }

    /// Hands over a buffer whose time has come.
    pub(crate) fn render(&mut self, buffer: &gst::Buffer) -> Result<Rendered, PaintError> {
        if self
            .prepared
            .as_ref()
            .is_none_or(|prepared| prepared.buffer != Identity::of(buffer))
        {
            self.prepare(buffer)?;
        }
        self.held = None;
        self.hand_over();
        Ok(match self.prepared.take().map(|prepared| prepared.outcome) {
            Some(Outcome::Ready(_) | Outcome::Submitted(_)) => Rendered::Submitted,
            Some(Outcome::Unseen) | None => {
                self.stats.count(Count::Unseen);
                Rendered::Unseen
            }
            Some(Outcome::NoTarget) => {
                self.stats.count(Count::NoTarget);
                Rendered::Dropped
            }
        })
    }

    /// Hands over the buffer that the sink is paused with, and keeps it for [`Self::redraw`].
    pub(crate) fn preroll(&mut self, buffer: &gst::Buffer) -> Result<(), PaintError> {
        // Once more, since the demand may have changed after it was drawn; whoever changed it could not redraw it then.
        self.prepare(buffer)?;
        self.hand_over();
        self.held = Some(buffer.clone());
        Ok(())
    }

    /// Hands over the buffer that the sink is paused with once more, in the size that is wanted now.
    pub(crate) fn redraw(&mut self) -> Result<Redraw, PaintError> {
        let Some(buffer) = self.held.clone() else {
            return Ok(Redraw::NoFrame);
        };
        self.prepare(&buffer)?;
        let Some(prepared) = &self.prepared else {
            return Ok(Redraw::NoFrame);
        };
        match &prepared.outcome {
            Outcome::Ready(_) => self.hand_over(),
            Outcome::Submitted(presentable) => {
                let _ = self.presenter.submit(presentable.clone());
            }
            Outcome::Unseen => return Ok(Redraw::Unseen),
            Outcome::NoTarget => return Ok(Redraw::NoTarget),
        }
        Ok(Redraw::Submitted)
    }

    /// Submits what was prepared, if it was drawn and not submitted yet.
    fn hand_over(&mut self) {
        let Some(prepared) = &mut self.prepared else {
            return;
        };
        let Outcome::Ready(presentable) = &prepared.outcome else {
            return;
        };
        let presentable = presentable.clone();
        prepared.outcome = Outcome::Submitted(presentable.clone());
        if !prepared.counted {
            prepared.counted = true;
            self.stats.count(Count::Submitted);
        }
        if let Submitted::Replaced { sequence } = self.presenter.submit(presentable)
            && sequence != prepared.sequence
        {
            self.stats.count(Count::Replaced);
        }
    }

    fn paint(
        &mut self,
        buffer: &gst::Buffer,
        capabilities: &Arc<Capabilities>,
        sequence: u64,
    ) -> Result<Outcome, PaintError> {
        loop {
            match self.try_paint(buffer, capabilities, sequence) {
                Err(PaintError::Route(error)) if self.planner.failed(&error) => {}
                Err(PaintError::Plan(PlanError::Route(RouteError::OutOfReach(..))))
                    if self.out_of_reach < MOST_OUT_OF_REACH =>
                {
                    self.out_of_reach += 1;
                    return Ok(Outcome::NoTarget);
                }
                other => {
                    self.out_of_reach = 0;
                    return other;
                }
            }
        }
    }

    fn try_paint(
        &mut self,
        buffer: &gst::Buffer,
        capabilities: &Arc<Capabilities>,
        sequence: u64,
    ) -> Result<Outcome, PaintError> {
        let Some(stream) = &self.stream else {
            return Err(PaintError::NoCaps);
        };
        if capabilities.is_unseen() {
            return Ok(Outcome::Unseen);
        }
        let source = Source::of(buffer, stream)?;
        let limit = stream.period_of(buffer);
        let planned = self
            .planner
            .plan(stream, &source, self.orientation, capabilities)?;
        if let Some(told) = planned.news.take() {
            let mut description = lock(&self.description);
            if let Some(stream) = &mut description.stream {
                // Frames in system memory, by the caps, may be in dmabufs all the same: the sink's own, for one.
                stream.memory = if source.format().is_some() {
                    "dmabuf"
                } else {
                    "system"
                };
            }
            description.route = Some(told);
        }
        let Some(taken) = wait(&self.released, limit, || planned.route.take(&source))? else {
            return Ok(Outcome::NoTarget);
        };
        self.stats.wrote(planned.route.draw(&source, &taken)?);
        Ok(Outcome::Ready(Presentable {
            target: taken.into_target(),
            plan: planned.plan,
            sequence,
            labels: planned.route.labels(),
        }))
    }
}

fn lock(description: &Mutex<Description>) -> MutexGuard<'_, Description> {
    description.lock().unwrap_or_else(PoisonError::into_inner)
}
