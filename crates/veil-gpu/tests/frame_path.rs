//! What a frame costs the heap: nothing.

#![allow(clippy::unwrap_used)]

mod common;

use common::{
    Content, Gpu, Picture, Random,
    memory::{Layout, place},
    sharing::{Stream, plain, sharing_device, target},
};
use drm_fourcc::DrmFourcc;
use std::{
    alloc::{GlobalAlloc, Layout as Memory, System},
    cell::Cell,
};
use veil_frame::{PixelFormat, Size};
use veil_gpu::import::Importer;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Memory) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Memory) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
#[ignore = "needs the test machine"]
fn a_frame_allocates_nothing() {
    let gpu = Gpu::on(sharing_device());
    let (format, size) = (PixelFormat::I420, Size::new(64, 32));
    let spec = plain(format, size);
    let target = target(&gpu.device, size, DrmFourcc::Xbgr8888);
    let mut importer = Importer::new(&gpu.device);
    let mut stream = Stream::new(&gpu, &spec, &target, 4);
    let sources: Vec<_> = (1..=6)
        .map(|seed| {
            let picture = Picture::new(format, size, 0, Content::Noise, &mut Random(seed));
            let layout = Layout {
                apart: seed % 2 == 0,
                lead: 0,
            };
            place(&picture, format, size, layout)
        })
        .collect();
    let mut frame = |source: usize| {
        let before = ALLOCATIONS.get();
        let planes = importer.import(&sources[source].borrow(), format).unwrap();
        let submitted = stream.submit(&planes, &target).unwrap();
        stream.recorder.finished(submitted.serial).unwrap();
        ALLOCATIONS.get() - before
    };
    for source in 0..sources.len() {
        assert!(frame(source) > 0, "nothing is counted");
    }
    for i in 0..100 {
        assert_eq!(frame(i % sources.len()), 0, "frame {i}");
    }
}
