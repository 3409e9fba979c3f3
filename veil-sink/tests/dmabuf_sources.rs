//! Frames that an element gives in dmabufs: wherever planes lie and whatever is cropped, they look as in plain memory; and what
//! may be given is only what can be read.

#![allow(clippy::unwrap_used, unsafe_code)]

mod common;

use common::{PATIENCE, Padding, Rig, Screen, demand, picture, pixels};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use gstreamer as gst;
use gstreamer_allocators as gst_allocators;
use gstreamer_video as gst_video;

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_allocators::prelude::*;
use gst_video::{VideoCropMeta, VideoMeta};
use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use veil_dmabuf::{Access, Allocator, Mapping};
use veil_frame::{Backing, DmabufSupport, FitMode, PixelFormat, Presentable, Rect, Size};
use veil_sink::{Presenter, RouteChoice, RouteKind, VeilSink};

const CODED: Size = Size::new(352, 208);
const CROP: Rect = Rect {
    x: 14,
    y: 10,
    w: 322,
    h: 182,
};
/// A modifier that nobody here knows, as a decoder's tiles have one.
const TILED: u64 = 0x0100_0000_0000_0002;

fn pair(code: DrmFourcc, modifier: u64) -> DrmFormat {
    DrmFormat {
        code,
        modifier: DrmModifier::from(modifier),
    }
}

fn support(formats: &[DrmFormat]) -> DmabufSupport {
    DmabufSupport {
        formats: formats.to_vec(),
        ..DmabufSupport::default()
    }
}

/// A sink that takes this route to a screen that takes these dmabufs.
fn rig(screen: &Arc<Screen>, route: RouteChoice, support: DmabufSupport) -> Rig {
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

fn caps(format: &str, size: Size) -> String {
    format!(
        "video/x-raw(memory:DMABuf), format=DMA_DRM, drm-format={format}, width={}, height={}, framerate=10/1",
        size.w, size.h
    )
}

fn sample(component: usize, x: u32, y: u32) -> u16 {
    match component {
        0 => (4096 + (x * 131 + y * 57) % 56000) as u16,
        1 => (12000 + x * 190 % 40000) as u16,
        _ => (12000 + y * 390 % 40000) as u16,
    }
}

/// The same bytes, each memory in a dmabuf of its own.
fn in_dmabufs(plain: &gst::BufferRef) -> gst::Buffer {
    let allocator = Allocator::open().unwrap();
    let wrapper = gst_allocators::DmaBufAllocator::new();
    let mut buffer = gst::Buffer::new();
    let writable = buffer.make_mut();
    for memory in plain.iter_memories() {
        let bytes = memory.map_readable().unwrap();
        let fd = allocator.allocate(bytes.len()).unwrap();
        let mut mapping = Mapping::new(&fd, bytes.len()).unwrap();
        mapping.access(Access::Write).unwrap().copy_from_slice(&bytes);
        drop(mapping);
        // SAFETY: the descriptor is the memory's from here on.
        writable.append_memory(unsafe { wrapper.alloc_dmabuf(fd, bytes.len()) }.unwrap());
    }
    let meta = plain.meta::<VideoMeta>().unwrap();
    VideoMeta::add_full(
        writable,
        gst_video::VideoFrameFlags::empty(),
        meta.format(),
        meta.width(),
        meta.height(),
        meta.offset(),
        meta.stride(),
    )
    .unwrap();
    buffer
}

fn cropped(mut buffer: gst::Buffer, crop: Rect) -> gst::Buffer {
    VideoCropMeta::add(buffer.make_mut(), (crop.x, crop.y, crop.w, crop.h));
    buffer
}

/// R, G, B of every pixel of an XBGR8888 target in a dmabuf.
fn converted(presentable: &Presentable) -> Vec<[u8; 3]> {
    let Backing::Dmabuf(dmabuf) = &presentable.target.target().backing else {
        panic!("not in a dmabuf");
    };
    assert_eq!(dmabuf.format, pair(DrmFourcc::Xbgr8888, 0));
    let (plane, size) = (&dmabuf.planes[0], dmabuf.size);
    let len = plane.offset as usize + plane.stride as usize * size.h as usize;
    let mut mapping = Mapping::new(&plane.fd, len).unwrap();
    let bytes = mapping.access(Access::Read).unwrap();
    bytes[plane.offset as usize..]
        .chunks(plane.stride as usize)
        .flat_map(|row| row[..4 * size.w as usize].chunks(4))
        .map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect()
}

#[test]
#[ignore = "needs the test machine"]
fn planes_may_lie_anywhere_and_be_cropped() {
    let screen = || Screen::new(demand(FitMode::Stretch, CROP.w, CROP.h), 1);
    for (format, code) in [
        (PixelFormat::Nv12, DrmFourcc::Nv12),
        (PixelFormat::I420, DrmFourcc::Yuv420),
        (PixelFormat::P010, DrmFourcc::P010),
    ] {
        let name = format!("{code}");
        let visible = caps(&name, CROP.size());
        let layouts = [
            Padding::default(),
            Padding {
                row: 64,
                before: 256,
                ..Padding::default()
            },
            Padding {
                row: 32,
                before: 128,
                apart: true,
                ..Padding::default()
            },
        ];
        for layout in layouts {
            let what = format!("{name} {layout:?}");
            let plain = cropped(picture(format, CODED, layout, sample), CROP);
            let frame = || cropped(in_dmabufs(&plain), CROP);

            let shm = screen();
            let mut rig_shm = rig(&shm, RouteChoice::Shm, support(&[]));
            rig_shm.begin(&common::caps(format, CROP.size()));
            let reference = pixels(&rig_shm.show(plain.copy()));

            let gpu = screen();
            let mut rig_gpu = rig(
                &gpu,
                RouteChoice::Convert,
                support(&[pair(DrmFourcc::Xbgr8888, 0)]),
            );
            rig_gpu.begin(&visible);
            let shown = converted(&rig_gpu.show(frame()));
            assert_eq!(rig_gpu.sink.stats().snapshot().bytes, 0, "{what}: uploaded");
            assert_eq!(shown.len(), reference.len());
            let worst = shown
                .iter()
                .zip(&reference)
                .flat_map(|(got, bgr)| (0..3).map(move |i| got[i].abs_diff(bgr[2 - i])))
                .max();
            assert!(worst <= Some(2), "{what}: {worst:?}");

            let direct = screen();
            let mut rig_direct = rig(&direct, RouteChoice::Direct, support(&[pair(code, 0)]));
            rig_direct.begin(&visible);
            let shown = rig_direct.show(frame());
            let Backing::Dmabuf(dmabuf) = &shown.target.target().backing else {
                panic!("{what}: not the decoder's");
            };
            let meta = plain.meta::<VideoMeta>().unwrap();
            let strides: Vec<i32> = dmabuf.planes.iter().map(|plane| plane.stride as i32).collect();
            assert_eq!(
                (strides.as_slice(), dmabuf.size),
                (meta.stride(), CODED),
                "{what}"
            );
            assert_eq!(shown.plan.picture.crop, CROP, "{what}");
            assert_eq!(
                (shown.plan.canvas, shown.plan.picture.stored),
                (CODED, CODED),
                "{what}"
            );
        }
    }
}

#[test]
#[ignore = "needs the test machine"]
fn less_memory_than_pixels_is_never_sent() {
    let size = Size::new(64, 64);
    let screen = Screen::new(demand(FitMode::Stretch, 64, 64), 1);
    let mut rig = rig(&screen, RouteChoice::Direct, support(&[pair(DrmFourcc::Nv12, 0)]));
    rig.begin(&caps("NV12", size));
    // Three pages would be needed, where there are two.
    let whole = picture(PixelFormat::Nv12, size, Padding::default(), sample);
    rig.show(in_dmabufs(&whole));
    let mut short = gst::Buffer::new();
    let wrapper = gst_allocators::DmaBufAllocator::new();
    let fd = Allocator::open().unwrap().allocate(4096).unwrap();
    // SAFETY: the descriptor is the memory's from here on. The length is a lie.
    short
        .make_mut()
        .append_memory(unsafe { wrapper.alloc_dmabuf(fd, 6144) }.unwrap());
    assert!(rig.push(short).is_err());
    let error = rig.error();
    assert!(error.contains("plane 1 has 0 bytes of 2048"), "{error}");
    assert_eq!(screen.count(), 1);
}

/// The decoder's tiles can't be shown any more: it is asked for other memory, and what it has given meanwhile is left out.
#[test]
#[ignore = "needs the test machine"]
fn other_memory_is_asked_for_when_the_surfaces_take_other() {
    asks_for_other_memory(true);
    asks_for_other_memory(false);
}

/// Where the decoder does not hear it ends in an error.
fn asks_for_other_memory(hears: bool) {
    let size = Size::new(64, 64);
    let screen = Screen::new(demand(FitMode::Stretch, 64, 64), 1);
    let tiled = pair(DrmFourcc::Nv12, TILED);
    let taken = DmabufSupport {
        codings: vec![(veil_frame::Matrix::Bt601, veil_frame::Range::Limited)],
        ..support(&[tiled, pair(DrmFourcc::Nv12, 0)])
    };
    let mut rig = rig(&screen, RouteChoice::Auto, taken.clone());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    rig.pad
        .add_probe(gst::PadProbeType::EVENT_UPSTREAM, move |_, info| {
            if matches!(&info.data, Some(gst::PadProbeData::Event(event)) if event.type_() == gst::EventType::Reconfigure)
            {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            gst::PadProbeReturn::Ok
        })
        .unwrap();
    let offered = |rig: &Rig| rig.pad.peer_query_caps(None).to_string();
    assert!(
        offered(&rig).contains("NV12:0x0100000000000002"),
        "{}",
        offered(&rig)
    );
    let text = caps("NV12:0x0100000000000002", size);
    rig.begin(&text);
    let frame = in_dmabufs(&picture(PixelFormat::Nv12, size, Padding::default(), sample));
    let direct = rig.show(frame.copy());
    assert!(matches!(direct.target.target().backing, Backing::Dmabuf(_)));
    drop(direct);
    let before = asked.load(Ordering::Relaxed);

    let uses = screen.capabilities.get().demand.clone();
    let linear_only = DmabufSupport {
        formats: vec![pair(DrmFourcc::Nv12, 0)],
        ..taken
    };
    screen.capabilities.set(uses, Some(linear_only));
    // A frame that was on its way: left out, and no error.
    rig.push(frame.copy()).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), before + 1);
    assert_eq!(screen.count(), 1);
    assert!(
        !offered(&rig).contains("NV12:0x0100000000000002"),
        "{}",
        offered(&rig)
    );
    if !hears {
        let pushed = (0..200).find_map(|_| rig.push(frame.copy()).err());
        assert!(pushed.is_some(), "it goes on for ever");
        let message = rig.bus.timed_pop_filtered(
            gst::ClockTime::from_seconds(PATIENCE.as_secs()),
            &[gst::MessageType::Error],
        );
        let message = message.expect("an error");
        let gst::MessageView::Error(error) = message.view() else {
            unreachable!()
        };
        // Whoever plays the file knows by this that it is worth opening again.
        assert!(error.error().matches(gst::CoreError::Negotiation), "{error:?}");
        return;
    }
    rig.caps(&caps("NV12", size));
    rig.show(in_dmabufs(&picture(
        PixelFormat::Nv12,
        size,
        Padding::default(),
        sample,
    )));
    assert_eq!(rig.sink.description().route.unwrap().kind, RouteKind::Direct);
}

mod imp {
    use super::*;

    /// What decodes on a device: an element that has the name of its node, and passes on what it gets.
    #[derive(Default)]
    pub(super) struct OnDevice(pub(super) Mutex<Option<String>>);

    #[glib::object_subclass]
    impl ObjectSubclass for OnDevice {
        const NAME: &'static str = "VeilTestOnDevice";
        type Type = super::OnDevice;
        type ParentType = gst::Bin;
    }

    impl ObjectImpl for OnDevice {
        fn properties() -> &'static [glib::ParamSpec] {
            static ALL: LazyLock<Vec<glib::ParamSpec>> =
                LazyLock::new(|| vec![glib::ParamSpecString::builder("device-path").read_only().build()]);
            &ALL
        }

        fn property(&self, _: usize, _: &glib::ParamSpec) -> glib::Value {
            self.0.lock().unwrap().to_value()
        }

        fn constructed(&self) {
            self.parent_constructed();
            let inner = gst::ElementFactory::make("identity").build().unwrap();
            self.obj().add(&inner).unwrap();
            for name in ["sink", "src"] {
                let pad = gst::GhostPad::with_target(&inner.static_pad(name).unwrap()).unwrap();
                self.obj().add_pad(&pad).unwrap();
            }
        }
    }

    impl GstObjectImpl for OnDevice {}
    impl ElementImpl for OnDevice {}
    impl BinImpl for OnDevice {}
}

glib::wrapper! {
    struct OnDevice(ObjectSubclass<imp::OnDevice>) @extends gst::Bin, gst::Element, gst::Object;
}

/// The numbers of the nodes of two devices, with their paths.
fn two_devices() -> [(PathBuf, u64); 2] {
    let mut cards: Vec<_> = fs::read_dir("/dev/dri")
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("card"))
        .map(|path| (path.clone(), veil_dmabuf::node::number(&path).unwrap()))
        .collect();
    cards.sort();
    cards.truncate(2);
    cards.try_into().expect("two devices")
}

#[test]
#[ignore = "needs the test machine"]
fn a_decoder_on_another_gpu_is_offered_rows_only() {
    let devices = two_devices();
    let screen = Screen::new(demand(FitMode::Stretch, 64, 64), 1);
    let taken = DmabufSupport {
        device: Some(devices[0].1),
        codings: vec![(veil_frame::Matrix::Bt601, veil_frame::Range::Limited)],
        ..support(&[pair(DrmFourcc::Nv12, TILED), pair(DrmFourcc::Nv12, 0)])
    };
    for (wrapped, (path, _)) in [(false, &devices[0]), (false, &devices[1]), (true, &devices[1])] {
        let mut rig = rig(&screen, RouteChoice::Auto, taken.clone());
        let decoder: OnDevice = glib::Object::new();
        *decoder.imp().0.lock().unwrap() = Some(path.to_str().unwrap().to_owned());
        // What stands between a decoder and its sink.
        let after = gst::ElementFactory::make("identity").build().unwrap();
        let bin = gst::Bin::new();
        bin.add(&decoder).unwrap();
        bin.add(&after).unwrap();
        decoder.link(&after).unwrap();
        let input = gst::GhostPad::with_target(&decoder.static_pad("sink").unwrap()).unwrap();
        let output = gst::GhostPad::with_target(&after.static_pad("src").unwrap()).unwrap();
        bin.add_pad(&input).unwrap();
        bin.add_pad(&output).unwrap();
        let sink = rig.sink.static_pad("sink").unwrap();
        rig.pad.unlink(&sink).unwrap();
        // The decoder in a bin, and something after that.
        let behind = wrapped.then(|| gst::ElementFactory::make("identity").build().unwrap());
        let last = match &behind {
            Some(behind) => {
                output.link(&behind.static_pad("sink").unwrap()).unwrap();
                behind.set_state(gst::State::Playing).unwrap();
                behind.static_pad("src").unwrap()
            }
            None => output.clone().upcast::<gst::Pad>(),
        };
        last.link(&sink).unwrap();
        rig.pad.link(&input).unwrap();
        bin.set_state(gst::State::Playing).unwrap();
        let offered = rig.sink.static_pad("sink").unwrap().query_caps(None).to_string();
        let own = path == &devices[0].0;
        assert_eq!(offered.contains("NV12:0x"), own, "{offered}");
        assert!(offered.contains("NV12"), "{offered}");
        // And that works.
        rig.begin(&caps("NV12", Size::new(64, 64)));
        screen.release();
        let frame = picture(PixelFormat::Nv12, Size::new(64, 64), Padding::default(), sample);
        rig.show(in_dmabufs(&frame));
        rig.pad.set_active(false).unwrap();
        bin.set_state(gst::State::Null).unwrap();
        if let Some(behind) = behind {
            behind.set_state(gst::State::Null).unwrap();
        }
    }
}
