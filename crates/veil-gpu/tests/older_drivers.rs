//! Devices without what newer drivers have.

#![cfg(feature = "fault-injection")]
#![allow(clippy::unwrap_used)]

mod common;

use ash::{ext, khr};
use common::{
    Content, Gpu, Picture, Random,
    memory::{Layout, place, words},
    sharing::{GENEROUS, plain, sharing_device},
};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use std::{os::fd::OwnedFd, sync::mpsc, thread};
use veil_dmabuf::fence::{self, Use};
use veil_frame::{PixelFormat, Size};
use veil_gpu::{
    Converter, ConverterError, Device, DeviceChoice,
    device::DeviceError,
    fault::injection,
    import::ImportError,
    submit::{Recorder, Source, SubmitError},
};
use veil_testkit::sw_sync::Timeline;

const LINEAR: [DrmFormat; 1] = [DrmFormat {
    code: DrmFourcc::Xbgr8888,
    modifier: DrmModifier::Linear,
}];
const SIZE: Size = Size::new(67, 31);
const TOGETHER: Layout = Layout {
    apart: false,
    lead: 0,
};

#[test]
#[ignore = "needs the test machine"]
fn without_dmabufs_it_says_what_is_missing() {
    injection::hide(&[ext::external_memory_dma_buf::NAME]);
    let choice = DeviceChoice::Named("lavapipe".to_owned());
    match Device::open(&choice) {
        Err(DeviceError::Missing { missing, .. }) => {
            assert_eq!(missing, "VK_EXT_external_memory_dma_buf");
        }
        other => panic!("{:?}", other.err()),
    }
    let device = Device::open_without_dmabufs(&choice).unwrap();
    assert!(device.formats().sources().is_empty() && device.formats().targets().is_empty());
}

/// AMD's before GFX9: frames are uploaded, targets are rows as the driver likes them.
#[test]
#[ignore = "needs the test machine"]
fn without_modifiers_targets_are_rows_and_nothing_is_imported() {
    injection::hide(&[ext::image_drm_format_modifier::NAME]);
    let gpu = Gpu::on(sharing_device());
    assert!(gpu.device.formats().sources().is_empty());
    assert!(gpu.device.formats().targets().contains(&LINEAR[0]));
    let spec = plain(PixelFormat::Nv12, SIZE);
    let picture = Picture::new(spec.format, SIZE, 0, Content::Noise, &mut Random(2));
    let mut converter = Converter::new(&gpu.pipelines, &spec, SIZE, &LINEAR, 2).unwrap();
    let target = converter.target().unwrap();
    assert_eq!(target.dmabuf().format, LINEAR[0]);
    let wanted = gpu.convert(&spec, SIZE, target.format(), &picture);
    for _ in 0..2 {
        let (_, frame) = converter.upload(&picture.planes(), &target).unwrap();
        assert!(converter.wait(frame.serial, GENEROUS).unwrap());
        assert!(words(target.dmabuf()) == wanted);
    }
    let source = place(&picture, spec.format, SIZE, TOGETHER);
    let refused = converter.convert(&source.borrow(), &target);
    assert!(matches!(
        refused,
        Err(ConverterError::Import(ImportError::Unsupported { .. }))
    ));
}

/// Without sync files the CPU waits; without a foreign family, the external one has what others have.
#[test]
#[ignore = "needs the test machine"]
fn without_sync_files_fences_are_waited_for_all_the_same() {
    injection::hide(&[khr::external_semaphore_fd::NAME, ext::queue_family_foreign::NAME]);
    let gpu = Gpu::on(sharing_device());
    let spec = plain(PixelFormat::Nv12, SIZE);
    let picture = Picture::new(spec.format, SIZE, 0, Content::Noise, &mut Random(2));
    let source = place(&picture, spec.format, SIZE, TOGETHER);
    let mut converter = Converter::new(&gpu.pipelines, &spec, SIZE, &LINEAR, 2).unwrap();
    let target = converter.target().unwrap();
    let wanted = gpu.convert(&spec, SIZE, target.format(), &picture);
    for _ in 0..3 {
        let frame = converter.convert(&source.borrow(), &target).unwrap();
        assert!(frame.fence.is_none() && converter.finished(frame.serial).unwrap());
        assert!(words(target.dmabuf()) == wanted);
    }

    let timeline = Timeline::new().unwrap();
    let attach = |fence: OwnedFd| fence::import(&target.dmabuf().planes[0].fd, Use::Read, fence).unwrap();
    assert!(attach(timeline.fence(1).unwrap()));
    let late = converter.convert(&source.borrow(), &target);
    assert!(matches!(
        late,
        Err(ConverterError::Submit(SubmitError::Late("a target")))
    ));
    timeline.advance(1).unwrap();
    assert!(attach(timeline.fence(2).unwrap()));
    // Nothing is recorded before the fence signals, since the CPU waits for it first.
    let mut recorder = Recorder::new(&gpu.device, 1).unwrap();
    let (recorded, is_recorded) = mpsc::channel();
    thread::scope(|scope| {
        let frame =
            scope.spawn(|| recorder.frame(Source::Device, &target, |_, _| recorded.send(()).unwrap()));
        assert!(is_recorded.try_recv().is_err());
        timeline.advance(1).unwrap();
        is_recorded.recv_timeout(GENEROUS).unwrap();
        frame.join().unwrap().unwrap();
    });
}
