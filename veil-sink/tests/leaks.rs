//! State changes in any order leave nothing behind. Alone in its process, since it counts what the process has.

#![allow(clippy::unwrap_used)]

mod common;

use common::{PATIENCE, Screen, demand};
use gstreamer as gst;

use gst::prelude::*;
use std::{
    fs,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use veil_frame::FitMode;
use veil_sink::{Presenter, VeilSink};

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

fn descriptors() -> Vec<String> {
    let mut all: Vec<_> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .map(|path| path.to_string_lossy().into_owned())
        // The listing itself.
        .filter(|path| !path.starts_with("/proc/"))
        .collect();
    all.sort();
    all
}

fn until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Goes through states in an order that `seed` makes up, without waiting for any of them.
fn wander(seed: u64) {
    let screen = Screen::new(demand(FitMode::Fill, 160, 90), 2);
    let sink = VeilSink::new(Arc::clone(&screen) as Arc<dyn Presenter>);
    let weak = sink.downgrade();
    let source = gst::ElementFactory::make("videotestsrc").build().unwrap();
    let pipeline = gst::Pipeline::new();
    pipeline.add_many([&source, sink.upcast_ref()]).unwrap();
    let caps: gst::Caps = "video/x-raw, format=I420, width=320, height=180, framerate=60/1"
        .parse()
        .unwrap();
    source.link_filtered(&sink, &caps).unwrap();
    drop(sink);
    let mut state = seed;
    for _ in 0..5 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let to = match state >> 60 & 3 {
            0 => gst::State::Null,
            1 => gst::State::Ready,
            2 => gst::State::Paused,
            _ => gst::State::Playing,
        };
        pipeline.set_state(to).unwrap();
        match state >> 50 & 3 {
            0 => screen
                .capabilities
                .set_demand(demand(FitMode::Fill, 100 + (state >> 40 & 63) as u32, 90)),
            1 => pipeline
                .seek_simple(gst::SeekFlags::FLUSH, gst::ClockTime::ZERO)
                .is_ok(),
            2 => weak
                .upgrade()
                .is_some_and(|sink| sink.redraw() != veil_sink::Redraw::Failed),
            _ => {
                thread::sleep(Duration::from_millis(state >> 32 & 7));
                true
            }
        };
    }
    let error = pipeline.bus().unwrap().pop_filtered(&[gst::MessageType::Error]);
    assert!(error.is_none(), "{error:?}");
    pipeline.set_state(gst::State::Null).unwrap();
    drop(pipeline);
    drop(source);
    // A thread of the bin's that was to continue a state change may hold it a moment longer.
    until("the sink to go", || weak.upgrade().is_none());
}

#[test]
fn a_hundred_state_changes_leave_nothing() {
    gst::init().unwrap();
    for seed in 0..10 {
        wander(seed);
    }
    let (before, had) = (descriptors(), threads());
    for seed in 10..110 {
        wander(seed);
    }
    assert_eq!(descriptors(), before);
    assert!(
        !before.iter().any(|path| path.contains("memfd:veil")),
        "{before:?}"
    );
    // Idle threads of GLib's pool go by themselves.
    until("the threads to go", || threads() <= had);
}
