//! Decoders that write by the CPU, and the sink's own dmabufs: what they decode must be what is shown, and the sink must not
//! touch it.

#![allow(clippy::unwrap_used)]

mod common;

use common::{PATIENCE, Screen, demand};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use gstreamer as gst;
use gstreamer_video as gst_video;

use gst::prelude::*;
use gst_video::prelude::*;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use veil_dmabuf::{Access, Mapping};
use veil_frame::{Backing, Dmabuf, DmabufSupport, FitMode, Matrix, Presentable, Range};
use veil_sink::{Presenter, VeilSink};
use veil_testkit::clips;

fn support() -> DmabufSupport {
    let linear = |code| DrmFormat {
        code,
        modifier: DrmModifier::Linear,
    };
    DmabufSupport {
        formats: vec![linear(DrmFourcc::Nv12), linear(DrmFourcc::Yuv420)],
        codings: vec![(Matrix::Bt601, Range::Limited), (Matrix::Bt709, Range::Limited)],
        ..DmabufSupport::default()
    }
}

/// It keeps as many pictures as a compositor.
fn screen() -> Arc<Screen> {
    let screen = Screen::new(demand(FitMode::Stretch, 64, 64), 3);
    let uses = screen.capabilities.get().demand.clone();
    assert!(screen.capabilities.set(uses, Some(support())));
    screen
}

fn play(file: &Path, decoder: &str, sink: &gst::Element) {
    let line = format!(
        "filesrc location={} ! parsebin ! {decoder} name=decoder",
        file.display()
    );
    let pipeline = gst::parse::launch(&line)
        .unwrap()
        .downcast::<gst::Pipeline>()
        .unwrap();
    pipeline.add(sink).unwrap();
    pipeline.by_name("decoder").unwrap().link(sink).unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let patience = gst::ClockTime::from_seconds(PATIENCE.as_secs() * 10);
    let message = pipeline
        .bus()
        .unwrap()
        .timed_pop_filtered(Some(patience), &[gst::MessageType::Eos, gst::MessageType::Error]);
    let message = message.expect("the clip does not end");
    assert_eq!(message.type_(), gst::MessageType::Eos, "{message:?}");
    pipeline.set_state(gst::State::Null).unwrap();
}

/// The samples of all planes, without what is between the rows.
fn samples(info: &gst_video::VideoInfo, row: impl Fn(usize, usize, usize) -> Vec<u8>) -> Vec<u8> {
    let format = info.format_info();
    (0..info.n_planes())
        .flat_map(|plane| (0..info.comp_height(plane.min(1) as u8)).map(move |y| (plane, y)))
        .flat_map(|(plane, y)| {
            let component = plane.min(1) as u8;
            let len =
                info.comp_width(component) as usize * format.pixel_stride()[component as usize] as usize;
            row(plane as usize, y as usize, len)
        })
        .collect()
}

/// What the decoder gives when it writes into memory of its own.
fn decoded(file: &Path, decoder: &str) -> (gst_video::VideoInfo, Vec<Vec<u8>>) {
    let frames = Arc::new(Mutex::new((None, Vec::new())));
    let sink = gst::ElementFactory::make("fakesink")
        .property("sync", false)
        .property("signal-handoffs", true)
        .build()
        .unwrap();
    let kept = Arc::clone(&frames);
    sink.connect("handoff", false, move |values| {
        let buffer = values[1].get::<gst::Buffer>().unwrap();
        let pad = values[2].get::<gst::Pad>().unwrap();
        let info = gst_video::VideoInfo::from_caps(&pad.current_caps().unwrap()).unwrap();
        let frame = gst_video::VideoFrameRef::from_buffer_ref_readable(&buffer, &info).unwrap();
        let bytes = samples(&info, |plane, y, len| {
            let start = y * frame.plane_stride()[plane] as usize;
            frame.plane_data(plane as u32).unwrap()[start..start + len].to_vec()
        });
        let mut kept = kept.lock().unwrap();
        kept.1.push(bytes);
        kept.0 = Some(info.clone());
        None
    });
    play(file, decoder, &sink);
    let mut frames = frames.lock().unwrap();
    (frames.0.take().unwrap(), std::mem::take(&mut frames.1))
}

fn dmabuf(shown: &Presentable) -> &Dmabuf {
    match &shown.target.target().backing {
        Backing::Dmabuf(dmabuf) => dmabuf,
        Backing::Shm { .. } => panic!("frame {} was copied", shown.sequence),
    }
}

fn shown_samples(info: &gst_video::VideoInfo, dmabuf: &Dmabuf) -> Vec<u8> {
    let end = |plane: usize| {
        let rows = info.comp_height(plane.min(1) as u8) as usize;
        dmabuf.planes[plane].offset as usize + rows * dmabuf.planes[plane].stride as usize
    };
    let len = (0..dmabuf.planes.len()).map(end).max().unwrap();
    let mut mapping = Mapping::new(&dmabuf.planes[0].fd, len).unwrap();
    let bytes = mapping.access(Access::Read).unwrap();
    samples(info, |plane, y, len| {
        let (offset, stride) = (dmabuf.planes[plane].offset, dmabuf.planes[plane].stride);
        let start = offset as usize + y * stride as usize;
        bytes[start..start + len].to_vec()
    })
}

/// Plays a clip, every frame of which must be shown in a dmabuf, untouched by the sink, and be what it should be. Gives how
/// many bytes a row of the first plane has.
fn is_decoded_into_dmabufs(file: &Path, decoder: &str) -> u32 {
    gst::init().unwrap();
    let (info, expected) = decoded(file, decoder);
    let screen = screen();
    let sink = VeilSink::new(Arc::clone(&screen) as Arc<dyn Presenter>);
    sink.set_property("sync", false);
    sink.set_property("qos", false);
    play(file, decoder, sink.upcast_ref());
    let stats = sink.stats().snapshot();
    let frames = expected.len() as u64;
    assert_eq!(
        (stats.received, stats.submitted, stats.bytes),
        (frames, frames, 0)
    );
    screen.wait("a picture", |state| {
        assert_eq!(state.seen.len() as u64, frames);
        for shown in &state.kept {
            let same = shown_samples(&info, dmabuf(shown)) == expected[shown.sequence as usize];
            assert!(same, "frame {} is another", shown.sequence);
        }
        Some(dmabuf(state.kept.last()?).planes[0].stride)
    })
}

fn lavfi(name: &str, size: (u32, u32), arguments: &[&str]) -> PathBuf {
    let source = format!("testsrc2=s={}x{}:r=30:d=0.8", size.0, size.1);
    clips::lavfi(name, &source, &[arguments, &["-pix_fmt", "yuv420p"]].concat()).unwrap()
}

#[test]
#[ignore = "needs the test machine"]
fn frames_of_any_size_are_shown_where_libav_puts_them() {
    for (width, height) in [(1024, 768), (640, 360), (854, 480), (1920, 1080)] {
        let clip = clips::moving(width, height, 30, 0.8).unwrap();
        let stride = is_decoded_into_dmabufs(&clip, "avdec_h264");
        // Those of the other planes are half as long.
        assert_eq!(stride, 2 * (width / 2).next_multiple_of(256));
    }
}

#[test]
#[ignore = "needs the test machine"]
fn other_decoders_take_the_pool() {
    let hevc = ["-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1"];
    let hevc = lavfi("pool-hevc.mp4", (854, 480), &hevc);
    for decoder in ["avdec_h265", "libde265dec"] {
        assert_eq!(is_decoded_into_dmabufs(&hevc, decoder), 1024, "{decoder}");
    }
}
