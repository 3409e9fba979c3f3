//! Every call that Vulkan may refuse is refused once: an error comes, nothing breaks, nothing is left behind.

#![cfg(feature = "fault-injection")]
#![allow(clippy::unwrap_used)]

mod common;

use ash::vk;
use common::{
    Content, Picture, Random,
    memory::{Layout, assert_back_to, counts, place},
    sharing::plain,
};
use drm_fourcc::{DrmFourcc, DrmModifier};
use std::{error::Error, sync::Arc};
use veil_frame::{Dmabuf, PixelFormat, Size};
use veil_gpu::{
    convert::{Conversion, Pipelines},
    device::{Device, DeviceChoice},
    fault::injection,
    import::Importer,
    instance,
    submit::{Recorder, Source},
    target::TargetImage,
    upload::Upload,
};

const FORMAT: PixelFormat = PixelFormat::Nv12;
const SIZE: Size = Size::new(64, 32);

/// All that is done for a stream, from the device to a few frames.
fn everything(picture: &Picture, dmabuf: &Dmabuf) -> Result<(), Box<dyn Error>> {
    let device = Device::open(&DeviceChoice::Named("lavapipe".to_owned()))?;
    let pipelines = Pipelines::new(&device)?;
    let linear = [DrmModifier::Linear];
    let target = Arc::new(TargetImage::new(&device, SIZE, DrmFourcc::Xbgr8888, &linear)?);
    let conversion = Conversion::new(&pipelines, &plain(FORMAT, SIZE), SIZE, target.format(), 2)?;
    let mut upload = Upload::new(&device, FORMAT, SIZE, 2)?;
    let mut importer = Importer::new(&device);
    // Dropped first, since it waits for the frames.
    let mut recorder = Recorder::new(&device, 2)?;
    for _ in 0..3 {
        let planes = importer.import(&dmabuf.borrow(), FORMAT)?;
        recorder.frame(Source::Dmabuf(&planes), &target, |commands, slot| {
            // SAFETY: the recorder holds both, and waits for a slot's last frame.
            unsafe { conversion.record(commands, slot, planes.views(), target.view()) };
        })?;
    }
    let frame = recorder.frame(Source::Device, &target, |commands, slot| {
        upload.write(slot, &picture.planes()).unwrap();
        // SAFETY: as above.
        unsafe {
            upload.record(commands, slot);
            conversion.record(commands, slot, upload.views(), target.view());
        }
    })?;
    recorder.finished(frame.serial)?;
    Ok(())
}

fn refuse_each_call(error: vk::Result) {
    let _ = tracing_subscriber::fmt().with_test_writer().try_init();
    let picture = Picture::new(FORMAT, SIZE, 0, Content::Noise, &mut Random(1));
    let layout = Layout { apart: true, lead: 0 };
    let dmabuf = place(&picture, FORMAT, SIZE, layout);
    everything(&picture, &dmabuf).unwrap();
    let before = counts();
    let (mut n, mut errors) = (0, 0);
    loop {
        injection::fail(n, error);
        let result = everything(&picture, &dmabuf);
        let all = injection::disarm();
        assert_back_to(before, &format!("call {n}: {result:?}"));
        assert_eq!(instance::validation_messages(), 0, "call {n}: {result:?}");
        if all {
            result.unwrap();
            break;
        }
        if let Err(error) = result {
            // Whoever reads it learns what was refused.
            assert!(error.to_string().len() > 10, "call {n}: {error}");
            errors += 1;
        }
        n += 1;
    }
    assert!(
        n > 50 && errors > 40,
        "{n} calls were refused, {errors} were errors"
    );
}

#[test]
#[ignore = "needs the test machine"]
fn no_memory_at_any_call() {
    refuse_each_call(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
}

#[test]
#[ignore = "needs the test machine"]
fn the_device_is_lost_at_any_call() {
    refuse_each_call(vk::Result::ERROR_DEVICE_LOST);
}
