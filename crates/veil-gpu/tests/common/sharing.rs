//! Pictures converted from dmabufs into dmabufs.

use super::{Gpu, memory::words};
use drm_fourcc::{DrmFourcc, DrmModifier};
use std::{sync::Arc, time::Duration};
use veil_frame::{ChromaSite, Colorimetry, Dmabuf, PixelFormat, RectF, Size, Spec};
use veil_gpu::{
    convert::Conversion,
    device::{Device, DeviceChoice},
    import::PlaneImages,
    submit::{Recorder, Source, SubmitError, Submitted},
    target::TargetImage,
};

/// Long enough on the slowest machine.
pub const GENEROUS: Duration = Duration::from_secs(120);

/// A device that shares dmabufs.
pub fn sharing_device() -> Arc<Device> {
    let _ = tracing_subscriber::fmt().with_test_writer().try_init();
    Device::open(&DeviceChoice::Named("lavapipe".to_owned())).unwrap()
}

/// The whole picture, as large as it is.
pub fn plain(format: PixelFormat, size: Size) -> Spec {
    Spec {
        format,
        stored: size,
        colorimetry: Colorimetry::assumed(size.h),
        site: ChromaSite::LEFT,
        crop: RectF::whole(size),
        size,
    }
}

/// A target of rows of pixels.
pub fn target(device: &Arc<Device>, size: Size, fourcc: DrmFourcc) -> Arc<TargetImage> {
    Arc::new(TargetImage::new(device, size, fourcc, &[DrmModifier::Linear]).unwrap())
}

/// One stream: a conversion and what submits it.
pub struct Stream {
    pub recorder: Recorder,
    pub conversion: Conversion,
}

impl Stream {
    pub fn new(gpu: &Gpu, spec: &Spec, target: &TargetImage, slots: usize) -> Self {
        Self {
            recorder: Recorder::new(&gpu.device, slots).unwrap(),
            conversion: Conversion::new(&gpu.pipelines, spec, spec.size, target.format(), slots).unwrap(),
        }
    }

    /// Submits a frame.
    pub fn submit(
        &mut self,
        planes: &Arc<PlaneImages>,
        target: &Arc<TargetImage>,
    ) -> Result<Submitted, SubmitError> {
        let conversion = &self.conversion;
        self.recorder
            .frame(Source::Dmabuf(planes), target, |commands, slot| {
                // SAFETY: the recorder holds planes and target until this has finished, and waits before a slot is used
                // again; both are what the conversion was made for.
                unsafe { conversion.record(commands, slot, planes.views(), target.view()) };
            })
    }

    /// Draws a frame, to its end, and reads it.
    pub fn draw(&mut self, planes: &Arc<PlaneImages>, target: &Arc<TargetImage>) -> Vec<u32> {
        let frame = self.submit(planes, target).unwrap();
        assert!(self.recorder.wait(frame.serial, GENEROUS).unwrap());
        words(target.dmabuf())
    }
}

/// The names of what is in a dmabuf, for messages.
pub fn name(dmabuf: &Dmabuf) -> String {
    format!("{:?} {}", dmabuf.format, dmabuf.size)
}
