//! The element: GStreamer's calls, and which thread may be in which.
//!
//! `prepare`, `render`, `show_frame`, `set_caps` and serialised events come on the streaming thread, one at a time, with
//! the base class's preroll lock held. `unlock` comes on any thread, before that lock is asked for, so it must neither
//! wait for the streaming thread nor for a lock that it holds: it only interrupts the wait for a target. Nothing that
//! is interrupted fails then: the frame is given up, and the base class finds out by itself whether it is flushing
//! (and ends the flow) or paused (and prepares the same buffer again).
//!
//! `prepare` may return nothing but OK or an error; a frame that could not be drawn is reported as dropped by `render`.
//! The base class calls `show_frame` for a preroll only, since `render` is overridden here: so the two are told apart.
//! At preroll a dropped frame must not be reported, since the state change would be aborted for it.

use gstreamer as gst;
use gstreamer_base as gst_base;
use gstreamer_video as gst_video;

use crate::{
    Description, Presenter, Redraw, SinkStats,
    caps::{StreamFormat, offered, template},
    frame::FrameError,
    painter::{PaintError, Painter, Rendered},
    planner::PlanError,
    pool::{self, DmabufPool},
    properties,
    route::{RouteError, dmabuf_formats},
    standalone::{Settings, Standalone},
    stats::Count,
    tags::Tags,
    upstream,
};
use drm_fourcc::DrmFormat;
use gst::glib;
use gst_base::{prelude::*, subclass::prelude::*};
use gst_video::{VideoCropMeta, VideoMeta, subclass::prelude::*};
use std::sync::{
    Arc, LazyLock, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use veil_frame::presentable::Released;

pub(crate) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    gst::DebugCategory::new(
        "veilsink",
        gst::DebugColorFlags::empty(),
        Some("veil's wallpaper sink"),
    )
});

/// How late a frame may come, beyond the end of its own time. More than GstVideoSink's 5 ms: no sound goes with a
/// wallpaper, and a frame that is a little late looks better than one that is missing.
const MAX_LATENESS: gst::ClockTime = gst::ClockTime::from_mseconds(20);

/// Decoder's buffers that may be with the presenter at one time: on the screen, taken for the next refresh, in the mailbox,
/// and prepared.
const SHOWN_AT_ONCE: u32 = 4;

/// Whether the base class knows GST_BASE_SINK_FLOW_DROPPED, which is FlowSuccess::CustomSuccess. Before 1.24 it counted
/// such a frame as shown, and gave the value to elements upstream, where some take it for a reason to stop.
static KNOWS_DROPPED: LazyLock<bool> = LazyLock::new(|| gst::version() >= (1, 24, 0, 0));

/// The instance's state.
#[derive(Debug, Default)]
pub struct VeilSink {
    presenter: Mutex<Option<Arc<dyn Presenter>>>,
    painter: Mutex<Option<Painter>>,
    tags: Mutex<Tags>,
    stats: Arc<SinkStats>,
    released: Arc<Released>,
    description: Arc<Mutex<Description>>,
    pub(crate) settings: Mutex<Settings>,
    /// What shows the pictures if nobody else does; there between `start` and `stop`.
    pub(crate) standalone: Mutex<Option<Standalone>>,
    /// The dmabufs that were offered last, and the generation of the capabilities that were looked at for it.
    offered: Mutex<(u64, Vec<DrmFormat>)>,
    /// The next QoS message tells of a frame that was given up here, not of a late one.
    own_drop: AtomicBool,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic is turned into an element error by the bindings, and the element refuses to go on after it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl VeilSink {
    pub(crate) fn set_presenter(&self, presenter: Arc<dyn Presenter>) {
        *lock(&self.presenter) = Some(presenter);
    }

    pub(crate) fn stats(&self) -> Arc<SinkStats> {
        Arc::clone(&self.stats)
    }

    pub(crate) fn description(&self) -> Description {
        lock(&self.description).clone()
    }

    pub(crate) fn redraw(&self) -> Redraw {
        let result = lock(&self.painter).as_mut().map(Painter::redraw);
        match result {
            None => Redraw::NoFrame,
            Some(Ok(redraw)) => redraw,
            Some(Err(error)) => {
                self.post(&error);
                Redraw::Failed
            }
        }
    }

    /// Does something with the painter, which is there between `start` and `stop`, and posts what goes wrong.
    fn paint<T>(
        &self,
        work: impl FnOnce(&mut Painter) -> Result<T, PaintError>,
    ) -> Result<T, gst::FlowError> {
        self.check_shown()?;
        // The lock is let go before anything is posted: handlers of messages may call the element.
        let result = lock(&self.painter).as_mut().map(work);
        match result {
            None => Err(gst::FlowError::Flushing),
            Some(Ok(value)) => Ok(value),
            Some(Err(PaintError::NoCaps)) => Err(gst::FlowError::NotNegotiated),
            Some(Err(error)) => {
                self.post(&error);
                Err(gst::FlowError::Error)
            }
        }
    }

    fn with_painter(&self, work: impl FnOnce(&mut Painter)) {
        if let Some(painter) = lock(&self.painter).as_mut() {
            work(painter);
        }
    }

    /// Connects to the compositor, and starts a loop that shows pictures there, unless somebody else shows them.
    fn stand_alone(&self) -> Result<(), gst::StateChangeError> {
        if lock(&self.presenter).is_some() {
            return Ok(());
        }
        let settings = lock(&self.settings).clone();
        match Standalone::start(settings, self.obj().downgrade()) {
            Ok(standalone) => {
                *lock(&self.standalone) = Some(standalone);
                Ok(())
            }
            Err(error) => {
                gst::element_imp_error!(self, gst::ResourceError::NotFound, ("{error}"));
                Err(gst::StateChangeError)
            }
        }
    }

    /// Ends that loop.
    fn stand_down(&self) {
        // Not with the lock held: the loop's end is waited for, and it may ask for a redraw.
        let stats = self.frame_stats();
        if let Some(standalone) = lock(&self.standalone).take() {
            gst::info!(CAT, imp = self, "{stats}");
            drop(standalone);
        }
    }

    /// The dmabufs that can be shown now, by capabilities of this generation; `None` while nobody is there to show them.
    fn dmabuf_formats(&self) -> Option<(u64, Vec<DrmFormat>)> {
        let presenter = lock(&self.painter).as_ref().map(Painter::presenter)?;
        let asked = lock(&self.settings).asked();
        let capabilities = presenter.capabilities();
        let decoded_by = capabilities
            .dmabuf
            .as_ref()
            .and_then(|_| upstream::device(self.obj().sink_pad()));
        let formats = dmabuf_formats(&asked, &capabilities, decoded_by);
        Some((capabilities.generation, formats))
    }

    /// Has the elements upstream ask again what is taken, if that has changed by this generation of the capabilities: another
    /// device, other modifiers. Decoders then choose other memory; what they gave before is shown as well as it goes until
    /// then.
    fn renegotiate_if_needed(&self, generation: u64) {
        if lock(&self.offered).0 == generation {
            return;
        }
        let Some((generation, formats)) = self.dmabuf_formats() else {
            return;
        };
        let mut offered = lock(&self.offered);
        offered.0 = generation;
        if offered.1 == formats {
            return;
        }
        offered.1 = formats;
        drop(offered);
        gst::debug!(CAT, imp = self, "other dmabufs are taken than before");
        self.obj().sink_pad().push_event(gst::event::Reconfigure::new());
    }

    /// Offers buffers in dmabufs for frames in system memory, where these can be shown as they are or read by a GPU.
    fn propose_pool(&self, query: &mut gst::query::Allocation, caps: &gst::CapsRef, stream: &StreamFormat) {
        let (Some((_, formats)), Some(format)) = (self.dmabuf_formats(), stream.dmabuf_format()) else {
            return;
        };
        if !formats.contains(&format) {
            return;
        }
        let Some(allocator) = pool::allocator() else {
            return;
        };
        let size = u32::try_from(stream.info.size()).unwrap_or(u32::MAX);
        match DmabufPool::new(allocator, &caps.to_owned(), size, SHOWN_AT_ONCE) {
            Some(pool) => {
                let size = pool.buffer_size().unwrap_or(size);
                query.add_allocation_pool(Some(&pool), size, SHOWN_AT_ONCE, 0);
            }
            None => gst::warning!(CAT, imp = self, "no pool of dmabufs for {caps:?}"),
        }
    }

    /// Refuses frames when nothing can be shown any more; the error was posted when that happened.
    fn check_shown(&self) -> Result<(), gst::FlowError> {
        match &*lock(&self.standalone) {
            Some(standalone) if standalone.is_lost() => Err(gst::FlowError::Error),
            _ => Ok(()),
        }
    }

    fn post(&self, error: &PaintError) {
        match error {
            PaintError::Route(RouteError::Memory(_) | RouteError::Share(_)) => {
                gst::element_imp_error!(self, gst::ResourceError::NoSpaceLeft, ["{error}"]);
            }
            // Nobody upstream has listened when other memory was asked for.
            PaintError::Plan(PlanError::Route(RouteError::OutOfReach(..))) => {
                gst::element_imp_error!(self, gst::CoreError::Negotiation, ["{error}"]);
            }
            PaintError::Frame(FrameError::Map(_)) => {
                gst::element_imp_error!(self, gst::ResourceError::Read, ["{error}"]);
            }
            _ => gst::element_imp_error!(self, gst::StreamError::Format, ["{error}"]),
        }
    }

    fn change_tags(&self, change: impl FnOnce(&mut Tags)) {
        let mut tags = lock(&self.tags);
        change(&mut tags);
        let orientation = tags.orientation();
        drop(tags);
        self.with_painter(|painter| painter.set_orientation(orientation));
    }
}

#[glib::object_subclass]
impl ObjectSubclass for VeilSink {
    const NAME: &'static str = "VeilSink";
    // A plugin of the same code may be loaded into a process that has its own; its type is named otherwise then.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::VeilSink;
    type ParentType = gst_video::VideoSink;
}

impl ObjectImpl for VeilSink {
    fn constructed(&self) {
        self.parent_constructed();
        let obj = self.obj();
        obj.set_enable_last_sample(false);
        obj.set_max_lateness(MAX_LATENESS.nseconds().cast_signed());
        obj.set_qos(true);
        obj.set_sync(true);
    }

    fn properties() -> &'static [glib::ParamSpec] {
        properties::all()
    }

    fn set_property(&self, _: usize, value: &glib::Value, spec: &glib::ParamSpec) {
        self.set_property_by_name(spec.name(), value);
    }

    fn property(&self, _: usize, spec: &glib::ParamSpec) -> glib::Value {
        self.property_by_name(spec.name())
    }
}

impl GstObjectImpl for VeilSink {}

impl ElementImpl for VeilSink {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Veil video sink",
                "Sink/Video",
                "Shows video on Wayland, behind everything else or in a window",
                "The veil developers",
            )
        });
        Some(&METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            use gst::{PadDirection::Sink, PadPresence::Always};
            // Fails only for a malformed name.
            gst::PadTemplate::new("sink", Sink, Always, &template())
                .into_iter()
                .collect()
        });
        &TEMPLATES
    }

    fn change_state(
        &self,
        transition: gst::StateChange,
    ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
        // Here and not in `start`: a failure of that makes the base class post a second error, with less in it.
        if transition == gst::StateChange::NullToReady {
            self.stand_alone()?;
        }
        let result = self.parent_change_state(transition);
        if transition == gst::StateChange::ReadyToNull
            || transition == gst::StateChange::NullToReady && result.is_err()
        {
            self.stand_down();
        }
        if transition == gst::StateChange::PausedToReady {
            // The pad is inactive, no streaming thread is left.
            self.with_painter(Painter::reset);
            *lock(&self.tags) = Tags::default();
        }
        result
    }

    fn post_message(&self, message: gst::Message) -> bool {
        // A sink posts a QoS message for each frame that it drops; frames that are late never get here otherwise.
        if message.type_() == gst::MessageType::Qos && !self.own_drop.swap(false, Ordering::Relaxed) {
            self.stats.count(Count::Late);
        }
        self.parent_post_message(message)
    }
}

impl BaseSinkImpl for VeilSink {
    fn start(&self) -> Result<(), gst::ErrorMessage> {
        let own = || lock(&self.standalone).as_ref().map(Standalone::presenter);
        let presenter = lock(&self.presenter).clone();
        let presenter = presenter.or_else(own).ok_or_else(|| {
            gst::error_msg!(
                gst::ResourceError::NotFound,
                ["nobody to show pictures to: the sink has no presenter"]
            )
        })?;
        let (stats, released) = (self.stats(), Arc::clone(&self.released));
        *lock(&self.painter) = Some(Painter::new(
            presenter,
            stats,
            released,
            Arc::clone(&self.description),
            lock(&self.settings).asked(),
        ));
        Ok(())
    }

    fn stop(&self) -> Result<(), gst::ErrorMessage> {
        *lock(&self.painter) = None;
        Ok(())
    }

    fn caps(&self, filter: Option<&gst::Caps>) -> Option<gst::Caps> {
        let caps = match self.dmabuf_formats() {
            Some((generation, formats)) => {
                let caps = offered(&formats);
                *lock(&self.offered) = (generation, formats);
                caps
            }
            None => template(),
        };
        Some(match filter {
            Some(filter) => filter.intersect_with_mode(&caps, gst::CapsIntersectMode::First),
            None => caps,
        })
    }

    fn set_caps(&self, caps: &gst::Caps) -> Result<(), gst::LoggableError> {
        // The parent knows the frame rate by it.
        self.parent_set_caps(caps)?;
        let stream = StreamFormat::from_caps(caps).map_err(|error| gst::loggable_error!(CAT, "{error}"))?;
        gst::debug!(CAT, imp = self, "{:?}", stream.description);
        self.with_painter(|painter| painter.set_stream(stream));
        Ok(())
    }

    fn propose_allocation(&self, query: &mut gst::query::Allocation) -> Result<(), gst::LoggableError> {
        query.add_allocation_meta::<VideoMeta>(None);
        query.add_allocation_meta::<VideoCropMeta>(None);
        let (caps, needs_pool) = query.get_owned();
        let Some(stream) = caps.as_ref().and_then(|caps| StreamFormat::from_caps(caps).ok()) else {
            return Ok(());
        };
        if stream.drm.is_some() {
            // A decoder adds its own.
            query.add_allocation_pool(None::<&gst::BufferPool>, 0, SHOWN_AT_ONCE, 0);
        } else if needs_pool && let Some(caps) = &caps {
            self.propose_pool(query, caps, &stream);
        }
        Ok(())
    }

    fn event(&self, event: gst::Event) -> bool {
        match event.view() {
            gst::EventView::FlushStart(_) => {
                // First the base class, which ends the wait that the painter may be in.
                let handled = self.parent_event(event);
                self.with_painter(Painter::forget);
                return handled;
            }
            gst::EventView::StreamStart(_) => {
                self.change_tags(Tags::next_stream);
                self.with_painter(Painter::forget);
            }
            gst::EventView::Segment(_) | gst::EventView::FlushStop(_) => self.with_painter(Painter::forget),
            gst::EventView::Tag(event) => self.change_tags(|tags| tags.take(event.tag())),
            _ => {}
        }
        self.parent_event(event)
    }

    fn prepare(&self, buffer: &gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let generation = self.paint(|painter| painter.prepare(buffer))?;
        self.renegotiate_if_needed(generation);
        gst::trace!(CAT, imp = self, "prepared {:?}", buffer.pts());
        Ok(gst::FlowSuccess::Ok)
    }

    fn render(&self, buffer: &gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let rendered = self.paint(|painter| painter.render(buffer))?;
        gst::trace!(CAT, imp = self, "{rendered:?} {:?}", buffer.pts());
        match rendered {
            Rendered::Submitted | Rendered::Unseen => Ok(gst::FlowSuccess::Ok),
            Rendered::Dropped if *KNOWS_DROPPED => {
                self.own_drop.store(self.obj().is_qos(), Ordering::Relaxed);
                Ok(gst::FlowSuccess::CustomSuccess)
            }
            Rendered::Dropped => Ok(gst::FlowSuccess::Ok),
        }
    }

    fn prepare_list(&self, _list: &gst::BufferList) -> Result<gst::FlowSuccess, gst::FlowError> {
        // All buffers of a list have one time, and only the last of them stays to be seen: drawn when they are due.
        Ok(gst::FlowSuccess::Ok)
    }

    fn render_list(&self, list: &gst::BufferList) -> Result<gst::FlowSuccess, gst::FlowError> {
        for buffer in list.iter_owned() {
            // The base class takes no DROPPED for a list.
            self.paint(|painter| painter.render(&buffer))?;
        }
        Ok(gst::FlowSuccess::Ok)
    }

    fn unlock(&self) -> Result<(), gst::ErrorMessage> {
        self.released.interrupt(true);
        Ok(())
    }

    fn unlock_stop(&self) -> Result<(), gst::ErrorMessage> {
        self.released.interrupt(false);
        Ok(())
    }
}

impl VideoSinkImpl for VeilSink {
    fn show_frame(&self, buffer: &gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        self.paint(|painter| painter.preroll(buffer))?;
        gst::trace!(CAT, imp = self, "prerolled {:?}", buffer.pts());
        Ok(gst::FlowSuccess::Ok)
    }
}
