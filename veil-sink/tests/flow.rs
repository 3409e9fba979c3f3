//! What happens to frames: when there is no target, nobody to see them, other caps, a flush, a pause.

#![allow(clippy::unwrap_used)]

mod common;

use common::{PATIENCE, Padding, Rig, Screen, caps, demand, picture, pixels};
use gstreamer as gst;

use drm_fourcc::{DrmFormat, DrmFourcc};
use gst::prelude::*;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use veil_frame::{Demand, DmabufSupport, FitMode, Matrix, PixelFormat, Presentable, Range, Size};
use veil_sink::{Capabilities, Presenter, Redraw, StatsSnapshot, Submitted, VeilSink};

const SMALL: Size = Size::new(64, 32);

fn frame(format: PixelFormat, size: Size) -> gst::Buffer {
    picture(format, size, Padding::default(), |c, x, y| {
        (c as u16 + 1) << 12 ^ (x * 64 + y) as u16
    })
}

/// Waits until the counters are like this.
fn until(rig: &Rig, what: &str, done: impl Fn(&StatsSnapshot) -> bool) {
    let start = Instant::now();
    while !done(&rig.sink.stats().snapshot()) {
        assert!(
            start.elapsed() < PATIENCE,
            "waited in vain for {what}: {:?}",
            rig.sink.stats().snapshot()
        );
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn other_caps_in_mid_stream() {
    let screen = Screen::new(demand(FitMode::Fit, 320, 320), 2);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    let first = rig.show(frame(PixelFormat::Nv12, SMALL));
    let old = pixels(&first);
    let mut known = vec![first.target.target().id];
    for (format, size) in [
        (PixelFormat::I42010, Size::new(33, 17)),
        (PixelFormat::Bgra, Size::new(33, 17)),
        (PixelFormat::Nv12, Size::new(640, 480)),
    ] {
        rig.caps(&caps(format, size));
        let shown = rig.show(frame(format, size));
        let target = shown.target.target();
        let scaled = if size.w > 320 { Size::new(320, 240) } else { size };
        assert_eq!(target.size, scaled, "{format:?}");
        assert!(!known.contains(&target.id), "an old target for {format:?}");
        known.push(target.id);
        let stream = rig.sink.description().stream.unwrap();
        assert_eq!(
            (stream.format, stream.size, stream.framerate),
            (format, size, (10, 1))
        );
        assert_eq!(rig.sink.description().route.unwrap().target, scaled);
    }
    // What the presenter still holds was not touched.
    assert_eq!(pixels(&first), old);
    // Other caps of the same size need no new targets.
    screen.release();
    rig.caps(&caps(PixelFormat::I420, Size::new(640, 480)));
    let shown = rig.show(frame(PixelFormat::I420, Size::new(640, 480)));
    assert_eq!(Some(&shown.target.target().id), known.last());
}

#[test]
fn a_presenter_that_never_lets_go() {
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 100);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    for _ in 0..4 {
        rig.show(frame(PixelFormat::Nv12, SMALL));
    }
    let start = Instant::now();
    for _ in 0..2 {
        assert!(rig.push(frame(PixelFormat::Nv12, SMALL)).is_ok());
    }
    // Each waits a frame period of 100 ms.
    assert!(start.elapsed() >= Duration::from_millis(200));
    let stats = rig.sink.stats().snapshot();
    assert_eq!(
        (stats.received, stats.submitted, stats.no_target, stats.late),
        (6, 4, 2, 0)
    );
    assert_eq!(stats.dropped(), 2);
    assert_eq!(screen.count(), 4);
    // A base class that understands it knows too, and says so.
    let qos = rig.bus.pop_filtered(&[gst::MessageType::Qos]);
    assert_eq!(qos.is_some(), gst::version() >= (1, 24, 0, 0));
    // As soon as it lets go, all goes on.
    screen.release();
    assert_eq!(rig.show(frame(PixelFormat::Nv12, SMALL)).sequence, 6);
}

#[test]
fn a_target_that_comes_back_in_time_is_used() {
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 100);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    // A wait that was interrupted once is a wait again.
    assert!(rig.pad.push_event(gst::event::FlushStart::new()));
    assert!(rig.pad.push_event(gst::event::FlushStop::new(true)));
    rig.segment();
    rig.play();
    for _ in 0..4 {
        rig.show(frame(PixelFormat::Nv12, SMALL));
    }
    let buffer = rig.stamp(frame(PixelFormat::Nv12, SMALL));
    let ((), pushed) = rig.while_pushing(buffer, || {
        until(&rig, "the fifth frame", |stats| stats.received == 5);
        screen.release();
    });
    assert!(pushed.is_ok(), "{pushed:?}");
    assert_eq!(rig.sink.stats().snapshot().submitted, 5);
}

/// How long a push took to return that waited for a target when `interrupt` came; the fastest of a few.
fn reaction(interrupt: impl Fn(&Rig)) -> Duration {
    let measured = (0..5).map(|_| {
        let screen = Screen::new(demand(FitMode::Fill, 64, 32), 100);
        let mut rig = Rig::new(&screen);
        rig.begin(&caps(PixelFormat::Nv12, SMALL));
        for _ in 0..4 {
            rig.show(frame(PixelFormat::Nv12, SMALL));
        }
        let buffer = rig.stamp(frame(PixelFormat::Nv12, SMALL));
        let (start, _) = rig.while_pushing(buffer, || {
            until(&rig, "the fifth frame", |stats| stats.received == 5);
            let start = Instant::now();
            interrupt(&rig);
            start
        });
        start.elapsed()
    });
    measured.min().unwrap()
}

#[test]
fn a_flush_ends_the_wait_for_a_target_at_once() {
    let after = reaction(|rig| assert!(rig.pad.push_event(gst::event::FlushStart::new())));
    assert!(after < Duration::from_millis(50), "{after:?}");
}

#[test]
fn stopping_ends_the_wait_for_a_target_at_once() {
    let after = reaction(|rig| {
        rig.sink.set_state(gst::State::Null).unwrap();
    });
    assert!(after < Duration::from_millis(50), "{after:?}");
}

#[test]
fn a_pause_while_waiting_for_a_target_loses_nothing_and_goes_on() {
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 100);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    for _ in 0..4 {
        rig.show(frame(PixelFormat::Nv12, SMALL));
    }
    let buffer = rig.stamp(frame(PixelFormat::Nv12, SMALL));
    let ((), pushed) = rig.while_pushing(buffer, || {
        until(&rig, "the fifth frame", |stats| stats.received == 5);
        let _ = rig.sink.set_state(gst::State::Paused);
        screen.release();
        rig.play();
    });
    assert!(pushed.is_ok(), "{pushed:?}");
    let stats = rig.sink.stats().snapshot();
    assert_eq!((stats.received, stats.submitted + stats.no_target), (5, 5));
    rig.show(frame(PixelFormat::Nv12, SMALL));
}

#[test]
fn after_a_flush_all_goes_on() {
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 1);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    for round in 0..20 {
        rig.show(frame(PixelFormat::Nv12, SMALL));
        assert!(rig.pad.push_event(gst::event::FlushStart::new()));
        assert_eq!(
            rig.push(frame(PixelFormat::Nv12, SMALL)),
            Err(gst::FlowError::Flushing)
        );
        assert!(rig.pad.push_event(gst::event::FlushStop::new(true)));
        rig.segment();
        // A flush makes a sink lose its state; in a pipeline the bin sees to this.
        rig.play();
        assert_eq!(rig.show(frame(PixelFormat::Nv12, SMALL)).sequence, round * 2 + 1);
    }
    assert!(rig.pad.push_event(gst::event::Eos::new()));
    assert_eq!(
        rig.push(frame(PixelFormat::Nv12, SMALL)),
        Err(gst::FlowError::Eos)
    );
    assert_eq!(rig.sink.stats().snapshot().dropped(), 0);
}

#[test]
fn what_nobody_sees_is_not_drawn() {
    let screen = Screen::new(Demand::default(), 1);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    for nobody in [Demand::default(), demand(FitMode::Fill, 0, 0)] {
        screen.capabilities.set_demand(nobody);
        for _ in 0..3 {
            assert!(rig.push(frame(PixelFormat::Nv12, SMALL)).is_ok());
        }
    }
    let stats = rig.sink.stats().snapshot();
    assert_eq!(
        (
            stats.received,
            stats.unseen,
            stats.submitted,
            stats.bytes,
            stats.dropped()
        ),
        (6, 6, 0, 0, 0)
    );
    screen.capabilities.set_demand(demand(FitMode::Fill, 64, 32));
    assert_eq!(rig.show(frame(PixelFormat::Nv12, SMALL)).sequence, 6);
}

#[test]
fn other_dmabufs_are_told_upstream_and_nothing_else_is() {
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 1);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    let takes = |modifier: u64| DmabufSupport {
        formats: vec![DrmFormat {
            code: DrmFourcc::Nv12,
            modifier: modifier.into(),
        }],
        codings: vec![(Matrix::Bt601, Range::Limited)],
        ..DmabufSupport::default()
    };
    // Each with whether elements upstream are to ask again.
    let steps = [
        (32, None, false),
        (64, None, false),
        (64, Some(0), true),
        (32, Some(0), false),
        (32, Some(0x0100_0000_0000_0001), true),
        (32, None, true),
    ];
    rig.show(frame(PixelFormat::Nv12, SMALL));
    rig.pad.peer_query_caps(None);
    rig.pad.check_reconfigure();
    for (height, modifier, asked) in steps {
        let demand = demand(FitMode::Fill, 64, height);
        screen.capabilities.set(demand, modifier.map(takes));
        screen.release();
        rig.show(frame(PixelFormat::Nv12, SMALL));
        assert_eq!(rig.pad.check_reconfigure(), asked, "{height} {modifier:?}");
        screen.release();
        rig.show(frame(PixelFormat::Nv12, SMALL));
        assert!(!rig.pad.check_reconfigure(), "twice for {height} {modifier:?}");
    }
}

#[test]
fn another_demand_makes_another_size_from_the_next_frame_on() {
    let large = Size::new(640, 480);
    let screen = Screen::new(demand(FitMode::Stretch, 320, 240), 1);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, large));
    let first = rig.show(frame(PixelFormat::Nv12, large)).target.target().clone();
    screen.capabilities.set_demand(demand(FitMode::Stretch, 200, 100));
    assert_eq!(
        rig.show(frame(PixelFormat::Nv12, large)).target.target().size,
        Size::new(200, 100)
    );
    // A second surface of the same size changes the demand, but not what is drawn.
    let mut both = demand(FitMode::Stretch, 200, 100);
    both.uses.push((FitMode::Stretch, Size::new(200, 100)));
    screen.release();
    let before = rig.show(frame(PixelFormat::Nv12, large)).target.target().id;
    screen.release();
    screen.capabilities.set_demand(both);
    assert_eq!(
        rig.show(frame(PixelFormat::Nv12, large)).target.target().id,
        before
    );
    // The first target was in use until now; its ring is long gone.
    assert_eq!(first.size, Size::new(320, 240));
    assert!(!first.is_used());
}

#[test]
fn a_paused_frame_is_drawn_again_for_another_demand() {
    let large = Size::new(640, 480);
    let screen = Screen::new(demand(FitMode::Stretch, 320, 240), 2);
    let mut rig = Rig::idle(&screen);
    rig.sink.set_state(gst::State::Paused).unwrap();
    assert_eq!(rig.sink.redraw(), Redraw::NoFrame);
    rig.begin(&caps(PixelFormat::Nv12, large));
    let buffer = rig.stamp(frame(PixelFormat::Nv12, large));
    let size_of = |n: usize| {
        screen.wait("a picture", |state| {
            (state.seen.len() == n).then(|| state.seen.last().map(|s| (s.0, s.1.size)))
        })
    };
    let ((), pushed) = rig.while_pushing(buffer, || {
        assert_eq!(size_of(1), Some((0, Size::new(320, 240))));
        screen.capabilities.set_demand(demand(FitMode::Stretch, 200, 100));
        until(&rig, "the pause", |_| {
            rig.sink.current_state() == gst::State::Paused
        });
        assert_eq!(rig.sink.redraw(), Redraw::Submitted);
        assert_eq!(size_of(2), Some((0, Size::new(200, 100))));
        // Without a change it is only handed over again.
        let bytes = rig.sink.stats().snapshot().bytes;
        assert_eq!(rig.sink.redraw(), Redraw::Submitted);
        assert_eq!(size_of(3), Some((0, Size::new(200, 100))));
        assert_eq!(rig.sink.stats().snapshot().bytes, bytes);
        screen.capabilities.set_demand(Demand::default());
        assert_eq!(rig.sink.redraw(), Redraw::Unseen);
        screen.capabilities.set_demand(demand(FitMode::Stretch, 100, 50));
        // Played on without a redraw: drawn again at once, since it was shown for nobody.
        rig.play();
    });
    assert!(pushed.is_ok(), "{pushed:?}");
    assert_eq!(size_of(4), Some((0, Size::new(100, 50))));
    assert_eq!(rig.sink.redraw(), Redraw::NoFrame);
    let stats = rig.sink.stats().snapshot();
    assert_eq!((stats.received, stats.submitted, stats.dropped()), (1, 1, 0));
    assert!(stats.redrawn >= 2);
}

/// Shows nothing, and is wanted at another size from the second question on.
#[derive(Debug)]
struct Fickle(AtomicU64, Arc<Screen>);

impl Presenter for Fickle {
    fn capabilities(&self) -> Arc<Capabilities> {
        let asked = self.0.fetch_add(1, Ordering::Relaxed);
        let side = if asked == 0 { 100 } else { 50 };
        Arc::new(Capabilities {
            generation: asked.min(1),
            demand: demand(FitMode::Stretch, side, side),
            dmabuf: None,
        })
    }

    fn submit(&self, presentable: Presentable) -> Submitted {
        self.1.submit(presentable)
    }
}

#[test]
fn a_demand_that_changes_just_before_the_pause_is_not_missed() {
    let large = Size::new(640, 480);
    let screen = Screen::new(Demand::default(), 2);
    let mut rig = Rig::idle(&screen);
    rig.replace_sink(VeilSink::new(Arc::new(Fickle(
        AtomicU64::new(0),
        Arc::clone(&screen),
    ))));
    rig.sink.set_state(gst::State::Paused).unwrap();
    rig.begin(&caps(PixelFormat::Nv12, large));
    let buffer = rig.stamp(frame(PixelFormat::Nv12, large));
    let ((), pushed) = rig.while_pushing(buffer, || {
        let sizes = screen.wait("a picture", |state| {
            state.seen.last().map(|(_, plan)| (state.seen.len(), plan.size))
        });
        assert_eq!(sizes, (1, Size::new(50, 50)));
        rig.sink.set_state(gst::State::Null).unwrap();
    });
    assert!(pushed.is_err(), "{pushed:?}");
}

#[test]
fn a_flush_takes_the_paused_frame_away() {
    let screen = Screen::new(demand(FitMode::Stretch, 64, 32), 2);
    let mut rig = Rig::idle(&screen);
    rig.sink.set_state(gst::State::Paused).unwrap();
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    let buffer = rig.stamp(frame(PixelFormat::Nv12, SMALL));
    let ((), pushed) = rig.while_pushing(buffer, || {
        screen.wait("the first picture", |state| (state.seen.len() == 1).then_some(()));
        assert!(rig.pad.push_event(gst::event::FlushStart::new()));
    });
    assert_eq!(pushed, Err(gst::FlowError::Flushing));
    assert_eq!(rig.sink.redraw(), Redraw::NoFrame);
}

#[test]
fn a_paused_start_draws_its_frame_once() {
    let screen = Screen::new(demand(FitMode::Stretch, 64, 32), 2);
    let mut rig = Rig::idle(&screen);
    rig.sink.set_state(gst::State::Paused).unwrap();
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    let buffer = rig.stamp(frame(PixelFormat::Nv12, SMALL));
    let ((), pushed) = rig.while_pushing(buffer, || {
        screen.wait("the first picture", |state| (state.seen.len() == 1).then_some(()));
        rig.play();
    });
    assert!(pushed.is_ok(), "{pushed:?}");
    let stats = rig.sink.stats().snapshot();
    assert_eq!((screen.count(), stats.received, stats.submitted), (1, 1, 1));
    assert_eq!(stats.bytes, 64 * 32 * 4);
}

#[test]
fn a_list_of_buffers_is_shown_one_by_one() {
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 1);
    let mut rig = Rig::new(&screen);
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    rig.show(frame(PixelFormat::Nv12, SMALL));
    let mut list = gst::BufferList::new();
    for _ in 0..3 {
        list.get_mut()
            .unwrap()
            .add(rig.stamp(frame(PixelFormat::Nv12, SMALL)));
    }
    assert!(rig.pad.push_list(list).is_ok());
    assert_eq!((screen.count(), screen.last().sequence), (4, 3));
}

#[test]
fn late_frames_are_counted() {
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 1);
    let mut rig = Rig::idle(&screen);
    // A base time of 0 on the system's clock: all that comes is as late as the machine is up.
    rig.sink.set_clock(Some(&gst::SystemClock::obtain())).unwrap();
    rig.play();
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    for _ in 0..6 {
        assert!(rig.push(frame(PixelFormat::Nv12, SMALL)).is_ok());
    }
    let stats = rig.sink.stats().snapshot();
    // The first is shown at preroll in any case.
    assert_eq!((stats.submitted, stats.late, stats.dropped()), (1, 5, 5));
}

#[test]
fn a_segment_loops_without_a_stop() {
    gst::init().unwrap();
    let screen = Screen::new(demand(FitMode::Fill, 64, 32), 1);
    let sink = VeilSink::new(Arc::clone(&screen) as Arc<dyn Presenter>);
    let source = gst::ElementFactory::make("videotestsrc").build().unwrap();
    let pipeline = gst::Pipeline::new();
    pipeline.add_many([&source, sink.upcast_ref()]).unwrap();
    let caps: gst::Caps = "video/x-raw, format=NV12, width=64, height=32, framerate=100/1"
        .parse()
        .unwrap();
    source.link_filtered(&sink, &caps).unwrap();
    let bus = pipeline.bus().unwrap();
    let wait = |kind| {
        let kinds = [kind, gst::MessageType::Error];
        let message = bus.timed_pop_filtered(gst::ClockTime::from_seconds(30), &kinds);
        assert_eq!(message.as_ref().map(|m| m.type_()), Some(kind), "{message:?}");
    };
    let seek = |flags| {
        let (start, stop) = (gst::ClockTime::ZERO, gst::ClockTime::from_mseconds(200));
        pipeline
            .seek(1.0, flags, gst::SeekType::Set, start, gst::SeekType::Set, stop)
            .unwrap();
    };
    pipeline.set_state(gst::State::Paused).unwrap();
    wait(gst::MessageType::AsyncDone);
    seek(gst::SeekFlags::FLUSH | gst::SeekFlags::SEGMENT);
    wait(gst::MessageType::AsyncDone);
    let before = screen.count();
    pipeline.set_state(gst::State::Playing).unwrap();
    for _ in 0..4 {
        wait(gst::MessageType::SegmentDone);
        seek(gst::SeekFlags::SEGMENT);
    }
    // The last frames of a segment are shown after the source is done with it.
    let stats = sink.stats();
    screen.wait("four loops", |state| {
        let late = stats.snapshot().late as usize;
        (state.seen.len() - before + late >= 79).then_some(())
    });
    assert!(screen.wait("order", |state| Some(
        state.seen.windows(2).all(|w| w[0].0 < w[1].0)
    )));
    pipeline.set_state(gst::State::Null).unwrap();
}

#[test]
fn without_a_presenter_it_does_not_start() {
    gst::init().unwrap();
    let sink: VeilSink = gst::glib::Object::new();
    assert!(sink.set_state(gst::State::Ready).is_err());
    assert_eq!(sink.redraw(), Redraw::NoFrame);
}

#[test]
fn it_offers_metas_and_system_memory_alone() {
    let rig = Rig::new(&Screen::new(demand(FitMode::Fill, 64, 32), 1));
    rig.begin(&caps(PixelFormat::Nv12, SMALL));
    let caps: gst::Caps = caps(PixelFormat::Nv12, SMALL).parse().unwrap();
    let mut query = gst::query::Allocation::new(Some(&caps), true);
    assert!(rig.pad.peer_query(query.query_mut()));
    for meta in ["GstVideoMetaAPI", "GstVideoCropMetaAPI"] {
        let api = gst::glib::Type::from_name(meta).unwrap();
        assert!(query.allocation_metas().any(|(t, _)| t == api), "{meta}");
    }
    let all = rig.pad.peer_query_caps(None);
    assert!(
        !all.is_any()
            && all
                .iter_with_features()
                .all(|(_, f)| f.contains("memory:SystemMemory"))
    );
    assert!(!rig.sink.property::<bool>("enable-last-sample"));
    assert!(rig.sink.property::<bool>("qos") && rig.sink.property::<bool>("sync"));
    assert_eq!(rig.sink.property::<i64>("max-lateness"), 20_000_000);
    assert!(rig.sink.factory().is_none());
}
