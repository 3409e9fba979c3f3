//! Colours of real elements' frames, in every format.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Screen, demand, near, pixels, rgb};
use gstreamer as gst;
use gstreamer_video as gst_video;

use drm_fourcc::DrmFourcc;
use gst::prelude::*;
use gst_video::{VideoFormat, VideoFormatInfo};
use std::{str::FromStr, sync::Arc};
use veil_frame::{FitMode, PixelFormat, Presentable, Size};
use veil_sink::{Presenter, RouteKind, VeilSink};

/// Plays two frames of videotestsrc and gives the second.
fn play(caps: &str, properties: &[(&str, &str)], size: Size) -> (Presentable, VeilSink) {
    gst::init().unwrap();
    let screen = Screen::new(demand(FitMode::Stretch, size.w, size.h), 1);
    let sink = VeilSink::new(Arc::clone(&screen) as Arc<dyn Presenter>);
    // No frame is late, on machines of any speed.
    sink.set_property("sync", false);
    let source = gst::ElementFactory::make("videotestsrc")
        .property("num-buffers", 2)
        .build()
        .unwrap();
    for (name, value) in properties {
        source.set_property_from_str(name, value);
    }
    let filter = gst::ElementFactory::make("capsfilter").build().unwrap();
    filter.set_property("caps", gst::Caps::from_str(caps).unwrap());
    let pipeline = gst::Pipeline::new();
    pipeline.add_many([&source, &filter, sink.upcast_ref()]).unwrap();
    gst::Element::link_many([&source, &filter, sink.upcast_ref()]).unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let wanted = [gst::MessageType::Eos, gst::MessageType::Error];
    let end = pipeline
        .bus()
        .unwrap()
        .timed_pop_filtered(gst::ClockTime::from_seconds(30), &wanted);
    assert_eq!(
        end.as_ref().map(|m| m.type_()),
        Some(gst::MessageType::Eos),
        "{caps}: {end:?}"
    );
    let last = screen.last();
    assert_eq!(last.sequence, 1);
    let description = sink.description();
    pipeline.set_state(gst::State::Null).unwrap();
    assert_eq!(
        description.route.map(|route| (route.kind, route.target)),
        Some((RouteKind::Shm, size))
    );
    assert_eq!(sink.description().stream, None);
    (last, sink)
}

#[test]
fn a_solid_colour_is_that_colour_in_every_format() {
    gst::init().unwrap();
    let size = Size::new(33, 19);
    let color = [0x30, 0x60, 0xb0];
    for format in VideoFormat::iter_raw() {
        let (name, info) = (format.to_str(), VideoFormatInfo::from_format(format));
        let described = PixelFormat::from_name(name);
        let caps = format!("video/x-raw, format={name}, width=33, height=19, framerate=100/1");
        let (shown, sink) = play(
            &caps,
            &[("pattern", "solid-color"), ("foreground-color", "0xff3060b0")],
            size,
        );
        // Five bits a colour are right within a step of eight codes, a palette within half of its steps.
        let step = match info.depth().iter().min() {
            _ if info.has_palette() => 26,
            Some(5) => 9,
            _ => 3,
        };
        for (x, y) in [(0, 0), (32, 0), (0, 18), (32, 18), (17, 9)] {
            if x == 32 && last_column_is_unclear(&info) {
                continue;
            }
            let seen = rgb(&shown, x, y);
            if info.is_gray() {
                // The luma of it, whatever range GStreamer gave it.
                assert!(
                    seen[0] == seen[1] && seen[1] == seen[2] && seen[0].abs_diff(0x5c) < 16,
                    "{name} {seen:?}"
                );
            } else {
                assert!(near(seen, color, step), "{name} at {x} {y}: {seen:?}");
            }
        }
        let alpha = described.map_or(info.has_alpha(), PixelFormat::has_alpha);
        assert!(!alpha || pixels(&shown).iter().all(|p| p[3] == 255), "{name}");
        assert_eq!(shown.plan.picture.opaque, !alpha);
        let fourcc = if alpha {
            DrmFourcc::Argb8888
        } else {
            DrmFourcc::Xrgb8888
        };
        assert_eq!(shown.target.target().fourcc, fourcc, "{name}");
        assert_eq!(sink.stats().snapshot().submitted, 2, "{name}");
    }
}

/// Whether GStreamer may write no chroma for the last of an odd number of columns, or Cb in the place of Cr: versions do
/// so where these have no planes of their own (NV61, YUY2).
fn last_column_is_unclear(info: &VideoFormatInfo) -> bool {
    info.w_sub().get(1).is_some_and(|&sub| sub > 0) && info.n_planes() < 3
}

#[test]
fn bars_are_where_they_belong() {
    // 100 % bars: white, yellow, cyan, green, magenta, red, blue, black; each an eighth of the width or so.
    const BARS: [[u8; 3]; 7] = [
        [255, 255, 255],
        [255, 255, 0],
        [0, 255, 255],
        [0, 255, 0],
        [255, 0, 255],
        [255, 0, 0],
        [0, 0, 255],
    ];
    let size = Size::new(427, 241);
    for (format, colorimetry) in [
        ("I420", "bt601"),
        ("NV12", "bt709"),
        ("NV12", "bt601"),
        ("Y42B", "bt709"),
        ("Y444", "bt601"),
        ("P010_10LE", "bt709"),
        ("I420_10LE", "bt709"),
        ("YUY2", "bt601"),
        ("BGRx", "sRGB"),
        ("RGB16", "sRGB"),
    ] {
        let caps = format!(
            "video/x-raw, format={format}, width={}, height={}, framerate=100/1, colorimetry={colorimetry}",
            size.w, size.h
        );
        let (shown, _) = play(&caps, &[("pattern", "smpte100")], size);
        for (bar, color) in BARS.into_iter().enumerate() {
            let x = (2 * bar as u32 + 1) * size.w / 14;
            let seen = rgb(&shown, x, 40);
            assert!(near(seen, color, 4), "{format} {colorimetry} bar {bar}: {seen:?}");
        }
    }
}

#[test]
fn alpha_comes_premultiplied() {
    let size = Size::new(16, 16);
    for format in ["BGRA", "RGBA", "ARGB", "ABGR", "A420", "GBRA"] {
        let caps = format!("video/x-raw, format={format}, width=16, height=16, framerate=100/1");
        let properties = [("pattern", "solid-color"), ("foreground-color", "0x80ff4000")];
        let (shown, _) = play(&caps, &properties, size);
        let [b, g, r, a] = pixels(&shown)[8 * 16 + 8];
        assert_eq!(a, 0x80, "{format}");
        assert!(near([r, g, b], [0x80, 0x20, 0], 3), "{format}: {:?}", [r, g, b]);
    }
}

#[test]
fn a_large_video_is_drawn_at_the_size_that_is_seen() {
    let size = Size::new(160, 90);
    let caps = "video/x-raw, format=NV12, width=1280, height=720, framerate=100/1";
    let (shown, sink) = play(
        caps,
        &[("pattern", "solid-color"), ("foreground-color", "0xff3060b0")],
        size,
    );
    assert_eq!(shown.target.target().size, size);
    assert!(near(rgb(&shown, 80, 45), [0x30, 0x60, 0xb0], 3));
    assert_eq!(sink.stats().snapshot().bytes, 2 * 160 * 90 * 4);
}
