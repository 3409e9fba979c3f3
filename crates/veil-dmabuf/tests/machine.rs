//! With real dmabufs, of both kinds, and fences that wait for the test.

#![allow(clippy::unwrap_used)]

use std::{os::fd::OwnedFd, time::Duration};
use veil_dmabuf::{
    Access, Allocator, Identity, Linear, Mapping, begin_access, end_access,
    fence::{self, Use},
};
use veil_frame::{PixelFormat, Size};
use veil_testkit::sw_sync::Timeline;

const FOREVER: Duration = Duration::from_secs(600);

fn allocators() -> [Allocator; 2] {
    [Allocator::open().unwrap(), Allocator::open_heap().unwrap()]
}

#[test]
#[ignore = "needs the test machine"]
fn what_is_written_is_read_by_whoever_has_the_dmabuf() {
    let names = allocators().map(|allocator| allocator.device());
    assert_eq!(names, ["/dev/udmabuf", "/dev/dma_heap/system"]);
    for allocator in allocators() {
        let dmabuf = allocator.allocate(5000).unwrap();
        let mut first = Mapping::new(&dmabuf, 8192).unwrap();
        assert!(first.access(Access::Read).unwrap().iter().all(|byte| *byte == 0));
        first.access(Access::Write).unwrap()[4999] = 7;
        let mut second = Mapping::new(dmabuf.try_clone().unwrap(), 5000).unwrap();
        assert_eq!(second.access(Access::Read).unwrap()[4999], 7);
        assert!(allocator.allocate(0).is_err());
    }
}

#[test]
#[ignore = "needs the test machine"]
fn fences_in_a_dmabuf_are_waited_for() {
    for allocator in allocators() {
        let dmabuf = allocator.allocate(4096).unwrap();
        let usable = |what| fence::wait_until_usable(&dmabuf, what, Duration::ZERO).unwrap();
        let exported = |what| fence::export(&dmabuf, what).unwrap().unwrap();
        assert!(usable(Use::Write) && fence::has_signalled(exported(Use::Write)).unwrap());

        let timeline = Timeline::new().unwrap();
        // A reader: others may read, nobody may write.
        assert!(fence::import(&dmabuf, Use::Read, timeline.fence(1).unwrap()).unwrap());
        assert!(usable(Use::Read) && !usable(Use::Write));
        assert!(fence::has_signalled(exported(Use::Read)).unwrap());
        assert!(!fence::has_signalled(exported(Use::Write)).unwrap());
        // A writer: nobody may do anything.
        assert!(fence::import(&dmabuf, Use::Write, timeline.fence(2).unwrap()).unwrap());
        let (read, write) = (exported(Use::Read), exported(Use::Write));
        timeline.advance(1).unwrap();
        assert!(!usable(Use::Read) && !fence::has_signalled(&read).unwrap());
        let both = fence::merge(&read, timeline.fence(3).unwrap()).unwrap();
        timeline.advance(1).unwrap();
        assert!(fence::wait(&read, FOREVER).unwrap() && fence::wait(&write, FOREVER).unwrap());
        assert!(!fence::has_signalled(&both).unwrap());
        timeline.advance(1).unwrap();
        assert!(fence::wait(&both, FOREVER).unwrap() && usable(Use::Write));
    }
}

#[test]
#[ignore = "needs the test machine"]
fn a_dmabuf_is_known_by_whatever_descriptor() {
    let allocator = Allocator::open().unwrap();
    let linear = Linear::new(PixelFormat::Nv12, Size::new(66, 34)).unwrap();
    let make = || linear.allocate(&allocator).unwrap();
    let identity = |memory: &OwnedFd| Identity::of(&linear.describe(memory).unwrap().borrow()).unwrap();
    let mut seen = Vec::new();
    for _ in 0..100 {
        // Closed each time, so that the numbers of descriptors come again.
        let memory = make();
        let this = identity(&memory);
        assert!(this.is_one());
        assert_eq!(this, identity(&memory.try_clone().unwrap()));
        assert!(!seen.contains(&this));
        seen.push(this);
    }
    let (first, second) = (make(), make());
    let mut apart = linear.describe(&first).unwrap();
    apart.planes[1].fd = second;
    assert!(!Identity::of(&apart.borrow()).unwrap().is_one());
}

#[test]
#[ignore = "needs the test machine"]
fn an_access_that_never_began_may_end() {
    for allocator in allocators() {
        let dmabuf = allocator.allocate(4096).unwrap();
        end_access(&dmabuf, Access::Write).unwrap();
        begin_access(&dmabuf, Access::Write).unwrap();
        end_access(&dmabuf, Access::Write).unwrap();
    }
}
