//! The pool that the sink proposes: whose turn it is with a buffer, and what there is where dmabufs run out.

#![allow(clippy::unwrap_used, unsafe_code)]

mod common;

use common::{Rig, Screen, demand};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use gstreamer as gst;
use gstreamer_allocators as gst_allocators;
use gstreamer_video as gst_video;

use gst::prelude::*;
use std::{
    fs::File,
    os::{fd::BorrowedFd, unix::fs::MetadataExt},
    str::FromStr,
    sync::atomic::{AtomicUsize, Ordering},
};
use veil_dmabuf::fence::{self, Use};
use veil_frame::{DmabufSupport, FitMode, Matrix, Range};
use veil_testkit::sw_sync::Timeline;

/// What the pool has said of buffers that are written although somebody reads them.
static STILL_READ: AtomicUsize = AtomicUsize::new(0);

/// A sink, and the pool that it proposes for frames of this size, with as many buffers as that.
fn proposed(width: u32, height: u32, buffers: u32) -> (Rig, gst::BufferPool) {
    let screen = Screen::new(demand(FitMode::Stretch, 64, 64), 1);
    let support = DmabufSupport {
        formats: vec![DrmFormat {
            code: DrmFourcc::Yuv420,
            modifier: DrmModifier::Linear,
        }],
        codings: vec![(Matrix::Bt601, Range::Limited), (Matrix::Bt709, Range::Limited)],
        ..DmabufSupport::default()
    };
    let uses = screen.capabilities.get().demand.clone();
    assert!(screen.capabilities.set(uses, Some(support)));
    let rig = Rig::new(&screen);
    let caps = format!("video/x-raw, format=I420, width={width}, height={height}, framerate=30/1");
    let caps = gst::Caps::from_str(&caps).unwrap();
    let mut query = gst::query::Allocation::new(Some(&caps), true);
    assert!(rig.pad.peer_query(query.query_mut()));
    let (pool, size, ..) = query.allocation_pools().next().expect("a pool");
    let pool = pool.expect("a pool of dmabufs");
    let mut config = pool.config();
    config.set_params(Some(&caps), size, buffers, buffers);
    pool.set_config(config).unwrap();
    pool.set_active(true).unwrap();
    (rig, pool)
}

fn dmabuf(buffer: &gst::BufferRef) -> Option<BorrowedFd<'_>> {
    let memory = buffer
        .peek_memory(0)
        .downcast_memory_ref::<gst_allocators::DmaBufMemory>()?;
    // SAFETY: the buffer holds the memory, which holds the descriptor.
    Some(unsafe { BorrowedFd::borrow_raw(memory.fd()) })
}

#[test]
#[ignore = "needs the test machine"]
fn a_buffer_that_is_read_is_waited_for() {
    gst::init().unwrap();
    gst::log::set_threshold_for_name("veilsink", gst::DebugLevel::Warning);
    gst::log::add_log_function(|_, _, _, _, _, _, message| {
        if message
            .get()
            .is_some_and(|text| text.contains("somebody still reads"))
        {
            STILL_READ.fetch_add(1, Ordering::Relaxed);
        }
    });
    let said = || STILL_READ.load(Ordering::Relaxed);
    let (_rig, pool) = proposed(640, 360, 1);
    let timeline = Timeline::new().unwrap();
    let buffer = pool.acquire_buffer(None).unwrap();
    assert!(fence::import(dmabuf(&buffer).unwrap(), Use::Read, timeline.fence(1).unwrap()).unwrap());
    drop(buffer);
    assert_eq!(said(), 0);
    // Nobody signals, so it is given up to wait.
    let buffer = pool.acquire_buffer(None).unwrap();
    assert_eq!(said(), 1);
    assert!(
        !fence::wait_until_usable(dmabuf(&buffer).unwrap(), Use::Write, std::time::Duration::ZERO).unwrap()
    );
    timeline.advance(1).unwrap();
    drop(buffer);
    let buffer = pool.acquire_buffer(None).unwrap();
    assert_eq!(said(), 1);
    drop(buffer);
    pool.set_active(false).unwrap();
}

#[test]
#[ignore = "needs the test machine"]
fn memory_stays_mapped() {
    let (_rig, pool) = proposed(640, 360, 1);
    let buffer = pool.acquire_buffer(None).unwrap();
    let file = File::from(dmabuf(&buffer).unwrap().try_clone_to_owned().unwrap());
    let inode = file.metadata().unwrap().ino().to_string();
    let mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines()
            .any(|line| line.split_whitespace().nth(4) == Some(&inode))
    };
    drop(buffer.map_readable().unwrap());
    assert!(mapped());
    drop(buffer);
    assert!(mapped());
    pool.set_active(false).unwrap();
}

#[test]
#[ignore = "needs the test machine"]
fn without_dmabufs_there_is_plain_memory() {
    // Above what udmabuf makes.
    let (_rig, pool) = proposed(9000, 8000, 1);
    let buffer = pool.acquire_buffer(None).unwrap();
    assert!(dmabuf(&buffer).is_none());
    let meta = buffer.meta::<gst_video::VideoMeta>().unwrap();
    assert!(meta.stride()[0] >= 9000 && buffer.size() >= 9000 * 8000 * 3 / 2);
    drop(buffer);
    pool.set_active(false).unwrap();
}
