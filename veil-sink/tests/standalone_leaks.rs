//! State changes in any order, with a connection of the sink's own, leave nothing behind. Alone in its process, since it
//! counts what the process has.

use gstreamer as gst;

use anyhow::{Result, ensure};
use gst::{glib, prelude::*};
use std::fs;
use veil_sink::{LayerKind, VeilSink};
use veil_testkit::{GENEROUS, Sway, wait_until};

fn threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Goes through states in an order that `seed` makes up, without waiting for any of them.
fn wander(sway: &Sway, seed: u64) -> Result<()> {
    let socket = sway.session().runtime_dir().join(sway.session().display());
    let layer = [LayerKind::Window, LayerKind::Background][seed as usize % 2];
    let sink: VeilSink = glib::Object::builder()
        .property("display", socket.to_string_lossy().into_owned())
        .property("layer", layer)
        .build();
    let weak = sink.downgrade();
    let source = gst::ElementFactory::make("videotestsrc").build()?;
    let pipeline = gst::Pipeline::new();
    pipeline.add_many([&source, sink.upcast_ref()])?;
    source.link(&sink)?;
    drop(sink);
    let mut random = seed;
    for _ in 0..12 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let states = [
            gst::State::Null,
            gst::State::Ready,
            gst::State::Paused,
            gst::State::Playing,
        ];
        pipeline.set_state(states[(random >> 60) as usize % 4])?;
        if random >> 56 & 3 == 0 {
            // Not for long: a pipeline whose target changes to and fro while it prerolls may forget to go on (GstBin,
            // "state continue aborted due to intervening change").
            let _ = pipeline.state(gst::ClockTime::from_mseconds(200));
        }
    }
    pipeline.set_state(gst::State::Null)?;
    drop((source, pipeline));
    // Another thread may be about to let go of it.
    wait_until("the sink's end", GENEROUS, || weak.upgrade().is_none())?;
    Ok(())
}

#[test]
fn nothing_is_left_of_any_order() -> Result<()> {
    gst::init()?;
    let sway = Sway::start("320x180")?;
    wander(&sway, 1)?;
    wander(&sway, 2)?;
    // GStreamer keeps a pool of threads for calls; those come and go by themselves.
    let before = descriptors();
    for seed in 3..60 {
        wander(&sway, seed)?;
    }
    wait_until("as many descriptors as before", GENEROUS, || {
        descriptors() <= before
    })?;
    ensure!(threads() < 20, "{} threads", threads());
    Ok(())
}
