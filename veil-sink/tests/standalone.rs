//! The sink on its own in a pipeline of the test's: what an application sees that uses it as an element.

use gstreamer as gst;

use anyhow::{Context, Result, ensure};
use gst::{glib, prelude::*};
use std::time::Duration;
use veil_sink::{LayerKind, Mode, VeilSink};
use veil_testkit::{GENEROUS, Sway, clips, wait_for, wait_until};

const BLUE: [u8; 3] = [0x20, 0x40, 0x60];

/// A sink of its own in this session.
fn sink(sway: &Sway) -> VeilSink {
    let socket = sway.session().runtime_dir().join(sway.session().display());
    glib::Object::builder()
        .property("display", socket.to_string_lossy().into_owned())
        .property("background-color", 0x20_40_60_u32)
        .build()
}

/// `description`, then a sink that `sink` makes.
fn pipeline(description: &str, sink: &VeilSink) -> Result<gst::Pipeline> {
    // Caps alone may not end a description.
    let source = gst::parse::bin_from_description(&format!("{description} ! identity"), true)?;
    let pipeline = gst::Pipeline::new();
    pipeline.add_many([source.upcast_ref::<gst::Element>(), sink.upcast_ref()])?;
    source.link(sink)?;
    Ok(pipeline)
}

/// A pipeline that goes to NULL in any case.
struct Running(gst::Pipeline);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.set_state(gst::State::Null);
    }
}

fn start(description: &str, sink: &VeilSink, state: gst::State) -> Result<Running> {
    let running = Running(pipeline(description, sink)?);
    running.0.set_state(state)?;
    let (reached, ..) = running.0.state(gst::ClockTime::from_seconds(30));
    reached?;
    Ok(running)
}

fn stat(sink: &VeilSink, field: &str) -> u64 {
    sink.property::<gst::Structure>("frame-stats")
        .get(field)
        .unwrap_or(u64::MAX)
}

fn surfaces(sink: &VeilSink) -> Vec<gst::Structure> {
    let stats = sink.property::<gst::Structure>("frame-stats");
    let array = stats.get::<gst::Array>("surfaces").map(|array| array.to_vec());
    let array = array.unwrap_or_default();
    array.iter().filter_map(|value| value.get().ok()).collect()
}

fn tiled(mode: &str) -> Result<Sway> {
    gst::init()?;
    Sway::builder().output(mode).config("default_border none").start()
}

/// One frame and the end of the stream: it is on the screen all the same, until the pipeline ends.
#[test]
fn a_single_picture_stays() -> Result<()> {
    let sway = tiled("640x360")?;
    let picture = clips::quadrants(64, 36)?;
    let sink = sink(&sway);
    let source = format!(
        "filesrc location={} ! pngdec ! imagefreeze num-buffers=1",
        picture.display()
    );
    let running = start(&source, &sink, gst::State::Playing)?;
    let bus = running.0.bus().context("a pipeline has one")?;
    let end = bus.timed_pop_filtered(gst::ClockTime::from_seconds(30), &[gst::MessageType::Eos]);
    ensure!(end.is_some());
    sway.wait_for_picture("HEADLESS-1", "single picture", GENEROUS, |shot| {
        clips::is_quadrants(shot, shot.all(), 6)
    })?;
    drop(running);
    sway.wait_for_picture("HEADLESS-1", "nothing any more", GENEROUS, |shot| {
        !clips::is_quadrants(shot, shot.all(), 100)
    })?;
    Ok(())
}

#[test]
fn a_paused_picture_follows_the_size() -> Result<()> {
    let sway = tiled("640x360")?;
    let picture = clips::quadrants(320, 180)?;
    let sink = sink(&sway);
    sink.set_property("layer", LayerKind::Background);
    sink.set_property("mode", Mode::Tile);
    let source = format!("filesrc location={} ! pngdec ! imagefreeze", picture.display());
    let running = start(&source, &sink, gst::State::Paused)?;
    // Two by two, then one by two tiles.
    sway.wait_for_picture("HEADLESS-1", "four tiles", GENEROUS, |shot| {
        shot.is_near(80, 45, clips::QUADRANTS[0], 3) && shot.is_near(400, 225, clips::QUADRANTS[0], 3)
    })?;
    ensure!(stat(&sink, "received") == 1);
    sway.output("HEADLESS-1").mode("320x360")?;
    sway.wait_for_picture("HEADLESS-1", "two tiles", GENEROUS, |shot| {
        shot.size() == (320, 360)
            && shot.is_near(80, 45, clips::QUADRANTS[0], 3)
            && shot.is_near(240, 45, clips::QUADRANTS[1], 3)
            && shot.is_near(240, 225, clips::QUADRANTS[1], 3)
    })?;
    ensure!(stat(&sink, "received") == 1, "it is the same picture");
    drop(running);
    Ok(())
}

#[test]
fn properties_change_what_is_shown() -> Result<()> {
    let sway = tiled("640x360")?;
    let sink = sink(&sway);
    let source =
        "videotestsrc pattern=red is-live=true ! video/x-raw,format=RGBx,width=100,height=100,framerate=30/1";
    let _running = start(source, &sink, gst::State::Playing)?;
    let red = [255, 0, 0];
    let expect = |name: &str, points: &[(u32, u32, [u8; 3])]| {
        sway.wait_for_picture("HEADLESS-1", name, GENEROUS, |shot| {
            points.iter().all(|&(x, y, colour)| shot.is_near(x, y, colour, 2))
        })
        .map(drop)
    };
    expect(
        "fit",
        &[(139, 180, BLUE), (141, 180, red), (498, 0, red), (501, 180, BLUE)],
    )?;
    sink.set_property("mode", Mode::Center);
    expect(
        "center",
        &[
            (269, 180, BLUE),
            (271, 131, red),
            (320, 129, BLUE),
            (371, 180, BLUE),
        ],
    )?;
    sink.set_property("background-color", 0x00_ff_00_u32);
    expect("green", &[(269, 180, [0, 255, 0]), (271, 180, red)])?;
    sink.set_property("mode", Mode::Fill);
    expect("fill", &[(0, 0, red), (639, 359, red)])?;
    // Beside another window it has half the width; filling the output, all of it.
    ensure!(sink.property::<Mode>("mode") == Mode::Fill);
    Ok(())
}

#[test]
fn fullscreen_is_a_property() -> Result<()> {
    gst::init()?;
    let sway = Sway::builder()
        .output("640x360")
        .config("for_window [app_id=\".*\"] floating enable")
        .start()?;
    let sink = sink(&sway);
    let source =
        "videotestsrc pattern=red is-live=true ! video/x-raw,format=RGBx,width=160,height=90,framerate=30/1";
    let _running = start(source, &sink, gst::State::Playing)?;
    let red = [255, 0, 0];
    sway.wait_for_picture("HEADLESS-1", "a small window", GENEROUS, |shot| {
        shot.is_near(320, 180, red, 2) && !shot.is_near(2, 2, red, 100)
    })?;
    for (fullscreen, name) in [(true, "all of the output"), (false, "small again")] {
        sink.set_property("fullscreen", fullscreen);
        sway.wait_for_picture("HEADLESS-1", name, GENEROUS, |shot| {
            shot.is_near(320, 180, red, 2) && shot.is_near(2, 2, red, 2) == fullscreen
        })?;
    }
    Ok(())
}

#[test]
fn frame_stats_add_up() -> Result<()> {
    let sway = tiled("320x180")?;
    let sink = sink(&sway);
    ensure!(surfaces(&sink).is_empty() && stat(&sink, "received") == 0);
    let source = "videotestsrc num-buffers=40 ! video/x-raw,width=64,height=36,framerate=30/1";
    let running = start(source, &sink, gst::State::Playing)?;
    let bus = running.0.bus().context("a pipeline has one")?;
    let end = bus.timed_pop_filtered(gst::ClockTime::from_seconds(30), &[gst::MessageType::Eos]);
    ensure!(end.is_some());
    let surface = wait_for("the last picture", GENEROUS, || {
        let surface = surfaces(&sink).into_iter().next();
        Ok(surface.filter(|surface| {
            let get = |field| surface.get::<u64>(field).unwrap_or(0);
            get("shown") + get("missed") >= stat(&sink, "submitted")
        }))
    })?;
    ensure!(surface.get::<&str>("name")? == "window");
    let (received, late) = (stat(&sink, "received"), stat(&sink, "late"));
    ensure!(received + late == 40, "{received} {late}");
    ensure!(stat(&sink, "submitted") + stat(&sink, "no-target") == received);
    let mean = Duration::from_nanos(surface.get("mean-interval")?);
    ensure!(
        mean <= Duration::from_nanos(surface.get("longest-interval")?),
        "{surface}"
    );
    Ok(())
}

#[test]
fn seeks_flushes_and_a_second_start() -> Result<()> {
    let sway = tiled("320x180")?;
    let sink = sink(&sway);
    let running = start(
        "videotestsrc pattern=ball ! video/x-raw,width=64,height=36",
        &sink,
        gst::State::Playing,
    )?;
    for second in [5, 1, 3] {
        let before = stat(&sink, "submitted");
        running
            .0
            .seek_simple(gst::SeekFlags::FLUSH, gst::ClockTime::from_seconds(second))?;
        wait_until("more pictures", GENEROUS, || {
            stat(&sink, "submitted") > before + 5
        })?;
    }
    for state in [
        gst::State::Ready,
        gst::State::Paused,
        gst::State::Null,
        gst::State::Playing,
    ] {
        running.0.set_state(state)?;
        let (reached, ..) = running.0.state(gst::ClockTime::from_seconds(30));
        reached?;
    }
    let before = stat(&sink, "submitted");
    wait_until("more pictures", GENEROUS, || {
        stat(&sink, "submitted") > before && surfaces(&sink).iter().any(|s| s.get("shown") != Ok(0_u64))
    })?;
    Ok(())
}

/// An application may end the pipeline where it hears of the error: in the sink's own thread.
#[test]
fn an_error_handler_may_end_the_pipeline() -> Result<()> {
    let sway = tiled("320x180")?;
    let sink = sink(&sway);
    let running = start(
        "videotestsrc ! video/x-raw,width=64,height=36",
        &sink,
        gst::State::Playing,
    )?;
    let bus = running.0.bus().context("a pipeline has one")?;
    let (tell, told) = std::sync::mpsc::channel();
    let weak = running.0.downgrade();
    bus.set_sync_handler(move |_, message| {
        if let gst::MessageView::Error(error) = message.view()
            && error
                .src()
                .is_some_and(|src| src.type_() == VeilSink::static_type())
        {
            let ended = weak
                .upgrade()
                .map(|pipeline| pipeline.set_state(gst::State::Null).is_ok());
            let _ = tell.send((ended, error.error().to_string()));
        }
        gst::BusSyncReply::Drop
    });
    wait_until("a picture", GENEROUS, || {
        surfaces(&sink).iter().any(|s| s.get("shown") != Ok(0_u64))
    })?;
    sway.run("[app_id=\".*\"] kill")?;
    let (ended, text) = told.recv_timeout(GENEROUS)?;
    ensure!(
        ended == Some(true) && text == "the window was closed",
        "{ended:?} {text}"
    );
    Ok(())
}

/// Frames are refused once nothing can be shown, and a new start mends it.
#[test]
fn a_closed_window_comes_back_with_a_new_start() -> Result<()> {
    let sway = tiled("320x180")?;
    let sink = sink(&sway);
    let running = start(
        "videotestsrc ! video/x-raw,width=64,height=36",
        &sink,
        gst::State::Playing,
    )?;
    let bus = running.0.bus().context("a pipeline has one")?;
    let shown = || {
        surfaces(&sink)
            .iter()
            .any(|s| s.get::<u64>("shown").is_ok_and(|shown| shown > 0))
    };
    wait_until("a picture", GENEROUS, shown)?;
    sway.run("[app_id=\".*\"] kill")?;
    let error = bus.timed_pop_filtered(gst::ClockTime::from_seconds(30), &[gst::MessageType::Error]);
    ensure!(error.is_some());
    running.0.set_state(gst::State::Null)?;
    running.0.set_state(gst::State::Playing)?;
    wait_until("a picture again", GENEROUS, shown)?;
    Ok(())
}

/// What GStreamer's own checks ask of the properties of every element.
#[test]
fn every_property_is_described_and_takes_its_default() -> Result<()> {
    gst::init()?;
    let sink: VeilSink = glib::Object::new();
    let mut own = 0;
    for spec in sink.list_properties() {
        let name = spec.name();
        ensure!(
            spec.blurb().is_some_and(|blurb| blurb.len() > 10) && !spec.nick().is_empty(),
            "{name} is not described"
        );
        own += usize::from(spec.owner_type() == VeilSink::static_type());
        if !spec.flags().contains(glib::ParamFlags::READABLE) {
            continue;
        }
        let value = sink.property_value(name);
        ensure!(value.type_().is_a(spec.value_type()), "{name} is a {value:?}");
        let writable = spec.flags().contains(glib::ParamFlags::WRITABLE)
            && !spec.flags().contains(glib::ParamFlags::CONSTRUCT_ONLY);
        if writable && spec.owner_type() == VeilSink::static_type() {
            let default = spec.default_value();
            sink.set_property_from_value(name, default);
            let (now, default) = (format!("{:?}", sink.property_value(name)), format!("{default:?}"));
            ensure!(now == default, "{name} is {now} after it was set to {default}");
            // GStreamer says when a property may change, and an element that says nothing means NULL only.
            ensure!(
                spec.flags().bits()
                    & (gst::PARAM_FLAG_MUTABLE_READY.bits() | gst::PARAM_FLAG_MUTABLE_PLAYING.bits())
                    != 0,
                "{name} does not say when it may change"
            );
        }
    }
    ensure!(own >= 9, "only {own} properties of its own");
    Ok(())
}
