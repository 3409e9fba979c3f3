//! One stream's way through the device: import or upload, conversion, submission; what a frame needs, in one call.

use crate::{
    convert::{Conversion, ConvertError, Pipelines},
    import::{ImportError, Importer},
    submit::{Recorder, Source, SubmitError, Submitted},
    target::{TargetError, TargetImage},
    upload::{Upload, UploadError},
};
use ash::vk;
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use std::{fmt, mem::ManuallyDrop, sync::Arc, time::Duration};
use veil_frame::{BorrowedDmabuf, Planes, Size, Spec};

/// A stream cannot be converted, or a frame could not be.
#[derive(Debug, thiserror::Error)]
pub enum ConverterError {
    /// There is nothing to draw into.
    #[error("nothing that the device writes is wanted")]
    NoTarget,
    /// No conversion.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// No target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A frame's dmabufs cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A frame in plain memory cannot be brought to the device.
    #[error(transparent)]
    Upload(#[from] UploadError),
    /// A frame could not be submitted.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// It is smaller than the stream's.
    #[error("a picture of {given} pixels came in a stream of {wanted}")]
    Picture {
        /// Its size.
        given: Size,
        /// The stream's.
        wanted: Size,
    },
    /// The target is not one of [`Converter::target`]'s.
    #[error(
        "a target of {given} pixels in {fourcc} is none of this conversion, which draws {wanted} in {wanted_fourcc}"
    )]
    OtherTarget {
        /// Its size.
        given: Size,
        /// Its format.
        fourcc: DrmFourcc,
        /// The conversion's size.
        wanted: Size,
        /// The conversion's format.
        wanted_fourcc: DrmFourcc,
    },
}

/// Converts the frames of one stream.
pub struct Converter {
    recorder: Recorder,
    parts: ManuallyDrop<Parts>,
    pipelines: Arc<Pipelines>,
    spec: Spec,
    canvas: Size,
    fourcc: DrmFourcc,
    modifiers: Vec<DrmModifier>,
}

/// What frames in flight use; kept for ever if they never end.
struct Parts {
    conversion: Conversion,
    importer: Importer,
    upload: Option<Upload>,
}

impl fmt::Debug for Converter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Converter")
            .field("spec", &self.spec)
            .field("canvas", &self.canvas)
            .finish_non_exhaustive()
    }
}

impl Converter {
    /// A conversion to targets of `canvas` pixels (the specification's size, or several times that: then the picture is
    /// repeated) in the format of the first of `targets`, with any of the modifiers that they have for it. The device works
    /// on at most `slots` frames at once.
    ///
    /// # Errors
    /// [`ConverterError`] says what is not possible.
    pub fn new(
        pipelines: &Arc<Pipelines>,
        spec: &Spec,
        canvas: Size,
        targets: &[DrmFormat],
        slots: usize,
    ) -> Result<Self, ConverterError> {
        let fourcc = targets.first().ok_or(ConverterError::NoTarget)?.code;
        let of_it = targets.iter().filter(|pair| pair.code == fourcc);
        let format = match fourcc {
            DrmFourcc::Xbgr2101010 | DrmFourcc::Abgr2101010 => vk::Format::A2B10G10R10_UNORM_PACK32,
            _ => vk::Format::R8G8B8A8_UNORM,
        };
        let device = pipelines.device();
        let recorder = Recorder::new(device, slots)?;
        let parts = Parts {
            conversion: Conversion::new(pipelines, spec, canvas, format, recorder.slots())?,
            importer: Importer::new(device),
            upload: None,
        };
        Ok(Self {
            recorder,
            parts: ManuallyDrop::new(parts),
            pipelines: Arc::clone(pipelines),
            spec: *spec,
            canvas,
            fourcc,
            modifiers: of_it.map(|pair| pair.modifier).collect(),
        })
    }

    /// Makes a target.
    ///
    /// # Errors
    /// [`ConverterError::Target`] where there is no memory for it.
    pub fn target(&self) -> Result<Arc<TargetImage>, ConverterError> {
        let device = self.pipelines.device();
        let target = TargetImage::new(device, self.canvas, self.fourcc, &self.modifiers)?;
        Ok(Arc::new(target))
    }

    /// Has the device convert a frame in dmabufs into one of the targets. Nothing is copied, and for a buffer that came
    /// before nothing is allocated. The frame must stay as it is until this is [finished](Self::finished): decoders that
    /// wait for the fences in a dmabuf see to that by themselves, V4L2 does not.
    ///
    /// # Errors
    /// [`ConverterError`] says what went wrong; then the target is as it was, or half drawn.
    pub fn convert(
        &mut self,
        source: &BorrowedDmabuf<'_>,
        target: &Arc<TargetImage>,
    ) -> Result<Submitted, ConverterError> {
        self.check(target)?;
        // It may be larger: decoders write whole blocks.
        let stored = self.spec.stored;
        if source.size.w < stored.w || source.size.h < stored.h {
            return Err(ConverterError::Picture {
                given: source.size,
                wanted: stored,
            });
        }
        let parts = &mut *self.parts;
        let images = parts.importer.import(source, self.spec.format)?;
        let conversion = &parts.conversion;
        let submitted = self
            .recorder
            .frame(Source::Dmabuf(&images), target, |commands, slot| {
                // SAFETY: the recorder is recording, waited for the slot's last frame, and holds images and target until
                // this one has finished. The images are of the specification's format and no smaller, and the target is
                // what the conversion was made for, as was checked.
                unsafe { conversion.record(commands, slot, images.views(), target.view()) };
            })?;
        Ok(submitted)
    }

    /// Has the device convert a frame in plain memory, which is copied once; says how many bytes that were.
    ///
    /// # Errors
    /// As for [`Self::convert`].
    pub fn upload(
        &mut self,
        planes: &Planes<'_>,
        target: &Arc<TargetImage>,
    ) -> Result<(u64, Submitted), ConverterError> {
        self.check(target)?;
        let slot = self.recorder.next_slot()?;
        let parts = &mut *self.parts;
        let upload = match &mut parts.upload {
            Some(upload) => upload,
            none => none.insert(Upload::new(
                self.pipelines.device(),
                self.spec.format,
                self.spec.stored,
                self.recorder.slots(),
            )?),
        };
        let written = upload.write(slot, planes)?;
        let (conversion, upload) = (&parts.conversion, &*upload);
        let submitted = self.recorder.frame(Source::Device, target, |commands, slot| {
            // SAFETY: the recorder is recording, waited for the slot's last frame, and holds the target until this one has
            // finished; the uploaded images live as long as that takes. They are of the specification's format and
            // size; the target is what the conversion was made for, as was checked.
            unsafe {
                upload.record(commands, slot);
                conversion.record(commands, slot, upload.views(), target.view());
            }
        })?;
        Ok((written, submitted))
    }

    fn check(&self, target: &TargetImage) -> Result<(), ConverterError> {
        let fourcc = target.dmabuf().format.code;
        if (target.size(), fourcc) == (self.canvas, self.fourcc) {
            return Ok(());
        }
        Err(ConverterError::OtherTarget {
            given: target.size(),
            fourcc,
            wanted: self.canvas,
            wanted_fourcc: self.fourcc,
        })
    }

    /// Whether a frame has been converted, so that its source may be given back.
    ///
    /// # Errors
    /// Where the device was lost.
    pub fn finished(&mut self, serial: u64) -> Result<bool, ConverterError> {
        Ok(self.recorder.finished(serial)?)
    }

    /// Waits for a frame's end; false if `limit` is over before.
    ///
    /// # Errors
    /// Where the device was lost.
    pub fn wait(&mut self, serial: u64, limit: Duration) -> Result<bool, ConverterError> {
        Ok(self.recorder.wait(serial, limit)?)
    }
}

impl Drop for Converter {
    fn drop(&mut self) {
        if self.recorder.end() {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.parts) };
        }
    }
}
