//! The budget: no heap allocation from entry to return of `prepare` and `show_frame`.
//!
//! Counted are Rust's allocations on the thread that pushes, during whole pushes; GStreamer's own do not go through
//! Rust's allocator.

#![allow(clippy::unwrap_used, unsafe_code)]

mod common;

use common::{Padding, Rig, caps, demand, noise::Noise, picture};
use gstreamer as gst;
use gstreamer_allocators as gst_allocators;
use gstreamer_video as gst_video;

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use gst::prelude::*;
use gst_allocators::prelude::*;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
};
use veil_dmabuf::{Allocator, Linear};
use veil_frame::{DmabufSupport, FitMode, PixelFormat, Presentable, Size};
use veil_sink::{Capabilities, Mailbox, Presenter, RouteChoice, SharedCapabilities, Submitted, VeilSink};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all work is the system allocator's; the counter is a thread's own and needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What the daemon does: a mailbox, and the pictures on the screen.
#[derive(Debug)]
struct Loop {
    capabilities: SharedCapabilities,
    mailbox: Mailbox,
}

impl Presenter for Loop {
    fn capabilities(&self) -> Arc<Capabilities> {
        self.capabilities.get()
    }

    fn submit(&self, presentable: Presentable) -> Submitted {
        self.mailbox.put(presentable)
    }
}

/// Pushes 20 frames of such caps to a desk of this size.
fn steady(what: &str, caps: &str, (w, h): (u32, u32), frame: impl Fn() -> gst::Buffer) {
    let desk = Arc::new(Loop {
        capabilities: SharedCapabilities::new(demand(FitMode::Fill, w, h)),
        mailbox: Mailbox::new(),
    });
    let screen = common::Screen::new(demand(FitMode::Fill, w, h), 1);
    let mut rig = Rig::idle(&screen);
    rig.replace_sink(VeilSink::new(Arc::clone(&desk) as Arc<dyn Presenter>));
    rig.play();
    rig.begin(caps);
    let mut buffers: Vec<_> = (0..20).map(|_| rig.stamp(frame())).collect();
    let mut on_screen = None;
    let mut counted = Vec::with_capacity(buffers.len());
    for (number, buffer) in buffers.drain(..).enumerate() {
        let before = COUNT.get();
        rig.pad_push(buffer);
        counted.push(COUNT.get() - before);
        if number % 3 != 0 {
            on_screen = desk.mailbox.take();
        }
    }
    assert!(
        on_screen.is_some() && counted[0] > 0,
        "the first frame makes a converter and a target"
    );
    // Until three targets are made, and have been the screen's once.
    assert!(
        counted[8..].iter().all(|&n| n == 0),
        "{what} {w}x{h}: {counted:?}"
    );
    let stats = rig.sink.stats().snapshot();
    assert_eq!((stats.submitted, stats.no_target), (20, 0));
    // One of three stays in the mailbox until the next comes.
    assert_eq!(stats.replaced, 7);
}

const SIZE: Size = Size::new(322, 182);

#[test]
fn a_frame_allocates_nothing() {
    for format in [
        PixelFormat::Nv12,
        PixelFormat::I420,
        PixelFormat::P010,
        PixelFormat::P010Be,
        PixelFormat::Bgrx,
        PixelFormat::Rgb10a2,
        PixelFormat::A420,
        PixelFormat::A42010,
    ] {
        for apart in [false, true] {
            let padding = Padding {
                apart,
                row: 6,
                ..Padding::default()
            };
            for screen in [(322, 182), (160, 90)] {
                let what = format!("{format:?}, planes apart: {apart}");
                steady(&what, &caps(format, SIZE), screen, || {
                    picture(format, SIZE, padding, |_, x, y| (x * y) as u16)
                });
            }
        }
    }
}

#[test]
fn nor_does_one_that_is_unpacked() {
    gst::init().unwrap();
    for name in ["v210", "NV12_64Z32", "NV12_10LE32", "RGB8P", "UYVP"] {
        let format = gst_video::VideoFormat::from_string(name);
        let caps = format!("video/x-raw, format={name}, width=322, height=182, framerate=10/1");
        for screen in [(322, 182), (160, 90)] {
            steady(name, &caps, screen, || Noise::new(format, SIZE, 2, 64).buffer());
        }
    }
}

/// Buffers in dmabufs, as a pool has them: each comes round again and again.
fn dmabuf_pool(size: Size, count: usize) -> Vec<gst::Buffer> {
    let allocator = Allocator::open().unwrap();
    let linear = Linear::new(PixelFormat::Nv12, size).unwrap();
    let wrapper = gst_allocators::DmaBufAllocator::new();
    let buffer = |_| {
        let fd = linear.allocate(&allocator).unwrap();
        // SAFETY: the descriptor is the memory's from here on.
        let memory = unsafe { wrapper.alloc_dmabuf(fd, linear.len) }.unwrap();
        let mut buffer = gst::Buffer::new();
        let writable = buffer.make_mut();
        writable.append_memory(memory);
        gst_video::VideoMeta::add_full(
            writable,
            gst_video::VideoFrameFlags::empty(),
            gst_video::VideoFormat::Nv12,
            size.w,
            size.h,
            &linear.offset[..2],
            &[linear.stride[0] as i32, linear.stride[1] as i32],
        )
        .unwrap();
        buffer
    };
    (0..count).map(buffer).collect()
}

/// On the routes that leave the pixels where they are, the CPU writes none either.
#[test]
#[ignore = "needs the test machine"]
fn nor_do_frames_in_dmabufs() {
    gst::init().unwrap();
    let linear = |code| DrmFormat {
        code,
        modifier: DrmModifier::Linear,
    };
    let support = DmabufSupport {
        formats: vec![linear(DrmFourcc::Nv12), linear(DrmFourcc::Xbgr8888)],
        ..DmabufSupport::default()
    };
    for route in [RouteChoice::Direct, RouteChoice::Convert] {
        let desk = Arc::new(Loop {
            capabilities: SharedCapabilities::new(Default::default()),
            mailbox: Mailbox::new(),
        });
        let wanted = demand(FitMode::Fill, SIZE.w, SIZE.h);
        desk.capabilities.set(wanted.clone(), Some(support.clone()));
        let screen = common::Screen::new(wanted, 1);
        let mut rig = Rig::idle(&screen);
        let sink = VeilSink::new(Arc::clone(&desk) as Arc<dyn Presenter>);
        sink.set_property("route", route);
        sink.set_property("device", "llvmpipe");
        rig.replace_sink(sink);
        rig.play();
        rig.begin(&caps(PixelFormat::Nv12, SIZE));
        let pool = dmabuf_pool(SIZE, 6);
        let mut buffers: Vec<_> = (0..30).map(|i| rig.stamp(pool[i % 6].copy())).collect();
        let mut on_screen = None;
        let mut counted = Vec::with_capacity(buffers.len());
        for buffer in buffers.drain(..) {
            let before = COUNT.get();
            let pushed = rig.pad.push(buffer);
            counted.push(COUNT.get() - before);
            assert!(pushed.is_ok(), "{route:?}: {}", rig.error());
            on_screen = desk.mailbox.take();
        }
        assert!(on_screen.is_some() && counted[0] > 0, "{route:?}: {counted:?}");
        assert!(counted[12..].iter().all(|&n| n == 0), "{route:?}: {counted:?}");
        let stats = rig.sink.stats().snapshot();
        assert_eq!((stats.submitted, stats.bytes), (30, 0), "{route:?}");
    }
}
