//! Nothing is read or written before the fences in source and target allow it.

#![allow(clippy::unwrap_used)]

mod common;

use common::{
    Content, Gpu, Picture, Random,
    memory::{Layout, map_mut, place, words},
    sharing::{GENEROUS, Stream, plain, sharing_device, target},
};
use drm_fourcc::DrmFourcc;
use std::{
    os::fd::{AsFd, OwnedFd},
    sync::mpsc,
    thread,
    time::Duration,
};
use veil_dmabuf::fence::{self, Use};
use veil_frame::{Dmabuf, PixelFormat, Size, Spec};
use veil_gpu::{import::Importer, submit::Source, target::TargetImage};
use veil_testkit::sw_sync::Timeline;

const FORMAT: PixelFormat = PixelFormat::Nv12;
const SIZE: Size = Size::new(64, 32);
const TOGETHER: Layout = Layout {
    apart: false,
    lead: 0,
};

/// Puts the fence of somebody who uses it so into a picture's dmabuf.
fn attach(dmabuf: &Dmabuf, fence: &OwnedFd, of: Use) {
    assert!(fence::import(&dmabuf.planes[0].fd, of, fence).unwrap());
}

/// Whether a picture's dmabuf has to be waited for.
fn is_busy(dmabuf: &Dmabuf, before: Use) -> bool {
    !fence::wait_until_usable(&dmabuf.planes[0].fd, before, Duration::ZERO).unwrap()
}

fn picture(seed: u64) -> Picture {
    Picture::new(FORMAT, SIZE, 0, Content::Noise, &mut Random(seed))
}

/// What a picture is converted into.
fn converted(gpu: &Gpu, spec: &Spec, picture: &Picture) -> Vec<u32> {
    gpu.convert(spec, SIZE, ash::vk::Format::R8G8B8A8_UNORM, picture)
}

/// Writes another picture over the one in a dmabuf.
fn overwrite(dmabuf: &Dmabuf, picture: &Picture) {
    let bytes = picture.data.iter().zip(&dmabuf.planes);
    for (data, plane) in bytes {
        let start = plane.offset as usize;
        map_mut(plane.fd.as_fd(), start + data.len())[start..].copy_from_slice(data);
    }
}

/// Puts a fence into source or target, submits a frame, and changes the source before the fence signals. The target
/// must have its old pixels until then, and those of the changed source afterwards.
fn waits(fence_into: impl Fn(&Dmabuf, &TargetImage, &OwnedFd)) {
    let gpu = Gpu::on(sharing_device());
    let spec = plain(FORMAT, SIZE);
    let (first, second) = (picture(1), picture(2));
    let source = place(&first, FORMAT, SIZE, TOGETHER);
    let target = target(&gpu.device, SIZE, DrmFourcc::Xbgr8888);
    let planes = Importer::new(&gpu.device)
        .import(&source.borrow(), FORMAT)
        .unwrap();
    let mut stream = Stream::new(&gpu, &spec, &target, 2);
    let before = stream.draw(&planes, &target);
    assert!(before == converted(&gpu, &spec, &first));
    // A third picture: whatever is drawn too early is none of the others.
    overwrite(&source, &picture(3));

    let timeline = Timeline::new().unwrap();
    fence_into(&source, &target, &timeline.fence(1).unwrap());
    let (recorded, is_recorded) = mpsc::channel();
    thread::scope(|scope| {
        let frame = scope.spawn(|| {
            let conversion = &stream.conversion;
            let frame = stream
                .recorder
                .frame(Source::Dmabuf(&planes), &target, |commands, slot| {
                    // SAFETY: as in `Stream::submit`.
                    unsafe { conversion.record(commands, slot, planes.views(), target.view()) };
                    recorded.send(()).unwrap();
                });
            let frame = frame.unwrap();
            assert!(stream.recorder.wait(frame.serial, GENEROUS).unwrap());
        });
        is_recorded.recv_timeout(GENEROUS).unwrap();
        // Frames on another device, which nothing holds up: the one above would have been drawn meanwhile.
        let other = Gpu::on(sharing_device());
        for seed in 0..3 {
            converted(&other, &spec, &picture(10 + seed));
        }
        assert!(words(target.dmabuf()) == before, "drawn before the fence");
        overwrite(&source, &second);
        timeline.advance(1).unwrap();
        frame.join().unwrap();
    });
    assert!(words(target.dmabuf()) == converted(&gpu, &spec, &second));
}

#[test]
#[ignore = "needs the test machine"]
fn a_source_that_is_being_written_is_waited_for() {
    waits(|source, _, fence| {
        attach(source, fence, Use::Write);
        assert!(is_busy(source, Use::Read));
    });
}

#[test]
#[ignore = "needs the test machine"]
fn a_target_that_is_being_read_is_waited_for() {
    waits(|_, target, fence| attach(target.dmabuf(), fence, Use::Read));
}

#[test]
#[ignore = "needs the test machine"]
fn both_are_waited_for() {
    waits(|source, target, fence| {
        attach(target.dmabuf(), fence, Use::Write);
        attach(source, fence, Use::Write);
    });
}

#[test]
#[ignore = "needs the test machine"]
fn a_source_that_others_read_is_not_waited_for() {
    let gpu = Gpu::on(sharing_device());
    let spec = plain(FORMAT, SIZE);
    let source = place(&picture(1), FORMAT, SIZE, TOGETHER);
    let target = target(&gpu.device, SIZE, DrmFourcc::Xbgr8888);
    let planes = Importer::new(&gpu.device)
        .import(&source.borrow(), FORMAT)
        .unwrap();
    let timeline = Timeline::new().unwrap();
    attach(&source, &timeline.fence(1).unwrap(), Use::Read);
    let drawn = Stream::new(&gpu, &spec, &target, 1).draw(&planes, &target);
    assert!(drawn == converted(&gpu, &spec, &picture(1)));
    assert!(is_busy(&source, Use::Write));
}

#[test]
#[ignore = "needs the test machine"]
fn a_fence_that_never_signals_is_an_error() {
    let gpu = Gpu::on(sharing_device());
    let source = place(&picture(1), FORMAT, SIZE, TOGETHER);
    let target = target(&gpu.device, SIZE, DrmFourcc::Xbgr8888);
    let planes = Importer::new(&gpu.device)
        .import(&source.borrow(), FORMAT)
        .unwrap();
    let timeline = Timeline::new().unwrap();
    attach(&source, &timeline.fence(1).unwrap(), Use::Write);
    let mut stream = Stream::new(&gpu, &plain(FORMAT, SIZE), &target, 1);
    let refused = stream.submit(&planes, &target);
    assert!(
        matches!(refused, Err(veil_gpu::submit::SubmitError::Late(_))),
        "{refused:?}"
    );
    timeline.advance(1).unwrap();
    stream.recorder.finish_all().unwrap();
}
