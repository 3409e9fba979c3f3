//! Which route is taken where a GPU is there, but cannot do what is wanted.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Padding, Rig, Screen, caps, demand, picture};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use gstreamer as gst;

use gst::prelude::*;
use std::sync::Arc;
use veil_frame::{DmabufSupport, FitMode, PixelFormat, Size};
use veil_sink::{Presenter, RouteChoice, RouteKind, VeilSink};

/// More than 64 times as wide as it is shown: a GPU's pass does not scale so far down.
const WIDE: Size = Size::new(8192, 64);

fn rig(screen: &Arc<Screen>, route: RouteChoice) -> Rig {
    let support = DmabufSupport {
        formats: vec![DrmFormat {
            code: DrmFourcc::Xbgr8888,
            modifier: DrmModifier::Linear,
        }],
        ..DmabufSupport::default()
    };
    let uses = screen.capabilities.get().demand.clone();
    screen.capabilities.set(uses, Some(support));
    let mut rig = Rig::idle(screen);
    let sink = VeilSink::new(Arc::clone(screen) as Arc<dyn Presenter>);
    sink.set_property("route", route);
    sink.set_property("device", "llvmpipe");
    rig.replace_sink(sink);
    rig.play();
    rig
}

fn frame(size: Size) -> gst::Buffer {
    picture(PixelFormat::Nv12, size, Padding::default(), |_, x, y| {
        (x * y) as u16
    })
}

#[test]
#[ignore = "needs the test machine"]
fn what_a_gpu_cannot_convert_the_cpu_does() {
    let screen = Screen::new(demand(FitMode::Stretch, 100, 64), 1);
    let mut rig = rig(&screen, RouteChoice::Auto);
    for (size, kind) in [
        (WIDE, RouteKind::Shm),
        (Size::new(640, 64), RouteKind::Convert),
        (WIDE, RouteKind::Shm),
    ] {
        rig.begin(&caps(PixelFormat::Nv12, size));
        screen.release();
        rig.show(frame(size));
        let route = rig.sink.description().route.unwrap();
        assert_eq!(route.kind, kind, "{size}: {}", route.reason);
        assert_eq!(
            route.reason.contains("scale"),
            kind == RouteKind::Shm,
            "{}",
            route.reason
        );
    }
}

#[test]
#[ignore = "needs the test machine"]
fn a_route_that_was_asked_for_is_not_replaced() {
    let screen = Screen::new(demand(FitMode::Stretch, 100, 64), 1);
    let mut rig = rig(&screen, RouteChoice::Convert);
    rig.begin(&caps(PixelFormat::Nv12, WIDE));
    assert!(rig.push(frame(WIDE)).is_err());
    let error = rig.error();
    assert!(
        error.contains("cannot be taken") && error.contains("scale"),
        "{error}"
    );
}
