//! What the sink takes, and what it was given.
//!
//! Caps name the memory by a feature; without one it is system memory. ANY is never offered: decoders that see it choose by
//! themselves, and choose badly. dmabufs come as `memory:DMABuf` with the format DMA_DRM and a `drm-format` (GStreamer
//! 1.24); the template says no more of them, and the answer to a query of the caps names what can be shown now. What an upstream element gives in system memory may
//! have any stride and any offset, since the sink offers VideoMeta in its answer to the allocation query.

use gstreamer as gst;
use gstreamer_allocators as gst_allocators;
use gstreamer_video as gst_video;

use crate::{
    colorimetry::{chroma_site, colorimetry},
    description::StreamDescription,
    drm,
    unpack::Unpacking,
};
use drm_fourcc::{DrmFormat, DrmModifier};
use gst_video::VideoFormat;
use std::time::Duration;
use veil_frame::{PixelFormat, Size, Spec, TargetPlan};

/// The longest time that counts as a frame period; slower videos are waited for no longer than that.
const LONGEST_PERIOD: Duration = Duration::from_millis(100);
/// The frame period of a video that comes at no fixed rate.
const USUAL_PERIOD: Duration = Duration::from_millis(33);

/// The caps of the sink pad: dmabufs, of which is asked when they are known, and system memory in every format and size. Rate and scan are not named, so any is taken, and
/// caps that say nothing of them too. First the formats that the conversion reads as they are, then those that are
/// unpacked; of both only those that the GStreamer that runs has heard of.
pub(crate) fn template() -> gst::Caps {
    let mut caps = gst::Caps::new_empty();
    if knows_dmabufs() {
        let dmabufs = gst::Caps::builder("video/x-raw")
            .features([gst_allocators::CAPS_FEATURE_MEMORY_DMABUF])
            .field("format", drm::FORMAT);
        caps.merge(any_size(dmabufs));
    }
    caps.merge(system_memory());
    caps
}

/// What is offered at present: dmabufs in exactly these formats, then system memory.
pub(crate) fn offered(formats: &[DrmFormat]) -> gst::Caps {
    let mut caps = gst::Caps::new_empty();
    if knows_dmabufs() && !formats.is_empty() {
        let names = gst::List::new(formats.iter().map(|format| drm::name(*format)));
        let dmabufs = gst::Caps::builder("video/x-raw")
            .features([gst_allocators::CAPS_FEATURE_MEMORY_DMABUF])
            .field("format", drm::FORMAT)
            .field("drm-format", names);
        caps.merge(any_size(dmabufs));
    }
    caps.merge(system_memory());
    caps
}

/// Whether GStreamer knows caps of dmabufs with a modifier: 1.24 and later do.
fn knows_dmabufs() -> bool {
    VideoFormat::from_string(drm::FORMAT) != VideoFormat::Unknown
}

fn any_size(caps: gst::caps::Builder<gst::caps::HasFeatures>) -> gst::Caps {
    caps.field("width", gst::IntRange::new(1, i32::MAX))
        .field("height", gst::IntRange::new(1, i32::MAX))
        .build()
}

fn system_memory() -> gst::Caps {
    let known = |format: PixelFormat| VideoFormat::from_string(format.info().name) != VideoFormat::Unknown;
    let described = PixelFormat::ALL.iter().filter(|&&format| known(format));
    let names = described.map(|format| format.info().name);
    let others = VideoFormat::iter_raw().filter(|format| {
        PixelFormat::from_name(format.to_str()).is_none() && Unpacking::of(*format).is_some()
    });
    let formats = gst::List::new(names.chain(others.map(|format| format.to_str().as_str())));
    gst::Caps::builder("video/x-raw")
        .field("format", formats)
        .field("width", gst::IntRange::new(1, i32::MAX))
        .field("height", gst::IntRange::new(1, i32::MAX))
        .build()
}

/// The caps cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CapsError {
    /// They do not describe raw video.
    #[error("not raw video: {0}")]
    NotVideo(#[from] gst::glib::BoolError),
    /// The format is none of those that were offered.
    #[error("the format {0} was not offered")]
    Format(String),
    /// Not a memory that was offered.
    #[error("the memory {0} was not offered")]
    Memory(String),
    /// dmabufs of a format that was not offered.
    #[error("the DRM format {0} was not offered")]
    DrmFormat(String),
}

/// Caps that were agreed on, taken apart once so that frames need not.
#[derive(Clone, Debug)]
pub(crate) struct StreamFormat {
    /// GStreamer's description, for strides and offsets of buffers without VideoMeta.
    pub(crate) info: gst_video::VideoInfo,
    /// How frames are unpacked before they are converted, where they must be.
    pub(crate) unpacking: Option<Unpacking>,
    /// How pixels lie in the dmabufs that frames come in, by the caps; `None` for system memory. Frames of that may be in
    /// dmabufs all the same, row after row.
    pub(crate) drm: Option<DrmFormat>,
    /// What there is to say of it.
    pub(crate) description: StreamDescription,
    /// Width to height of a pixel.
    pub(crate) pixel_aspect: (u32, u32),
    /// How long a frame is shown, if its buffer does not say.
    pub(crate) period: Duration,
}

impl StreamFormat {
    /// Takes caps apart.
    pub(crate) fn from_caps(caps: &gst::CapsRef) -> Result<Self, CapsError> {
        let (info, drm) = match caps.features(0) {
            Some(features) if features.contains(gst_allocators::CAPS_FEATURE_MEMORY_DMABUF) => {
                let (info, drm) = dmabuf_info(caps)?;
                (info, Some(drm))
            }
            Some(features) if !features.contains(gst::CAPS_FEATURE_MEMORY_SYSTEM_MEMORY) => {
                return Err(CapsError::Memory(features.to_string()));
            }
            _ => (gst_video::VideoInfo::from_caps(caps)?, None),
        };
        let described = PixelFormat::from_name(info.name());
        let unpacking = match described {
            Some(_) => None,
            None => Unpacking::of(info.format()),
        };
        let format = described
            .or(unpacking.map(|unpacking| unpacking.target))
            .ok_or_else(|| CapsError::Format(info.name().to_owned()))?;
        let size = Size::new(info.width(), info.height());
        let structure = caps.structure(0);
        let text = |field| structure.and_then(|s| s.get::<&str>(field).ok());
        let framerate = fraction(info.fps()).unwrap_or((0, 1));
        let period = match framerate {
            (0, _) => USUAL_PERIOD,
            (n, d) => Duration::from_secs_f64(f64::from(d) / f64::from(n)).min(LONGEST_PERIOD),
        };
        let description = StreamDescription {
            memory: if drm.is_some() { "dmabuf" } else { "system" },
            name: info.name(),
            format,
            size,
            framerate,
            colorimetry: colorimetry(text("colorimetry"), format.info().model, size.h),
            site: chroma_site(text("chroma-site")),
        };
        let pixel_aspect = fraction(info.par()).filter(|&(n, _)| n > 0).unwrap_or((1, 1));
        Ok(Self {
            info,
            unpacking,
            drm,
            description,
            pixel_aspect,
            period,
        })
    }

    /// What a conversion of its frames by this plan is asked for.
    pub(crate) fn spec(&self, plan: &TargetPlan) -> Spec {
        let told = &self.description;
        Spec {
            format: told.format,
            stored: plan.picture.stored,
            colorimetry: told.colorimetry,
            site: told.site,
            crop: plan.crop,
            size: plan.size,
        }
    }

    /// How pixels lie in dmabufs, if frames come in such: what the caps say, or row after row for system memory, which may
    /// be a dmabuf too.
    pub(crate) fn dmabuf_format(&self) -> Option<DrmFormat> {
        let linear = |code| DrmFormat {
            code,
            modifier: DrmModifier::Linear,
        };
        let fourcc = self.description.format.info().fourcc;
        self.drm
            .or_else(|| fourcc.filter(|_| self.unpacking.is_none()).map(linear))
    }

    /// How long this frame is shown.
    pub(crate) fn period_of(&self, buffer: &gst::BufferRef) -> Duration {
        buffer.duration().map_or(self.period, |duration| {
            Duration::from(duration).min(LONGEST_PERIOD)
        })
    }
}

/// Reads caps of dmabufs as those of the same picture in system memory, whose layout is what a linear dmabuf without
/// VideoMeta has.
fn dmabuf_info(caps: &gst::CapsRef) -> Result<(gst_video::VideoInfo, DrmFormat), CapsError> {
    let structure = caps.structure(0);
    let told = structure.and_then(|structure| structure.get::<&str>("drm-format").ok());
    let unknown = || CapsError::DrmFormat(told.unwrap_or("(none)").to_owned());
    let drm = told.and_then(drm::parse).ok_or_else(unknown)?;
    let format = PixelFormat::from_fourcc(drm.code).ok_or_else(unknown)?;
    let mut plain = caps.to_owned();
    let plain_caps = plain.make_mut();
    plain_caps.set_features(0, Some(gst::CapsFeatures::new_empty()));
    if let Some(structure) = plain_caps.structure_mut(0) {
        structure.set("format", format.info().name);
        structure.remove_field("drm-format");
    }
    Ok((gst_video::VideoInfo::from_caps(&plain)?, drm))
}

/// A fraction that is not negative and has a denominator.
fn fraction(value: gst::Fraction) -> Option<(u32, u32)> {
    let n = u32::try_from(value.numer()).ok()?;
    let d = u32::try_from(value.denom()).ok().filter(|&d| d > 0)?;
    Some((n, d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;
    use veil_frame::{Colorimetry, Matrix};

    fn parse(text: &str) -> Result<StreamFormat, CapsError> {
        gst::init().unwrap();
        StreamFormat::from_caps(&gst::Caps::from_str(text).unwrap())
    }

    #[test]
    fn every_format_of_the_template_is_understood() {
        gst::init().unwrap();
        let template = template();
        let mut unpacked = 0;
        for name in VideoFormat::iter_raw().map(|format| format.to_str()) {
            let text = format!("video/x-raw, format={name}, width=33, height=17, framerate=30/1");
            let caps = gst::Caps::from_str(&text).unwrap();
            assert!(caps.is_subset(&template), "{text}");
            let stream = StreamFormat::from_caps(&caps).unwrap();
            let told = stream.description;
            match stream.unpacking {
                None => assert_eq!(
                    stream.info.n_planes(),
                    u32::from(told.format.info().planes),
                    "{text}"
                ),
                Some(unpacking) => assert_eq!(told.format, unpacking.target),
            }
            unpacked += usize::from(stream.unpacking.is_some());
            assert_eq!(told.name, name);
        }
        assert!((1..20).contains(&unpacked), "{unpacked} formats are unpacked");
        let interlaced = "video/x-raw, format=NV12, width=720, height=576, interlace-mode=mixed, field-order=top-field-first";
        assert!(gst::Caps::from_str(interlaced).unwrap().is_subset(&template));
        let gl = gst::Caps::from_str("video/x-raw(memory:GLMemory), format=RGBA, width=1, height=1").unwrap();
        assert!(!gl.can_intersect(&template));
        let formats = ["NV12", "P010:0x0100000000000002"].map(|name| drm::parse(name).unwrap());
        let offered = offered(&formats);
        assert!(offered.is_subset(&template), "{offered}");
        let dmabuf = |format| {
            let caps = format!(
                "video/x-raw(memory:DMABuf), format=DMA_DRM, drm-format={format}, width=64, height=2"
            );
            gst::Caps::from_str(&caps).unwrap()
        };
        for (format, taken) in [("NV12", true), ("P010:0x0100000000000002", true), ("P010", false)] {
            assert_eq!(
                dmabuf(format).is_subset(&offered),
                taken && knows_dmabufs(),
                "{format}"
            );
        }
    }

    #[test]
    fn dmabufs_are_read_as_what_is_in_them() {
        let text = |format| {
            format!(
                "video/x-raw(memory:DMABuf), format=DMA_DRM, drm-format={format}, width=1920, height=1080, framerate=30/1"
            )
        };
        let stream = parse(&text("NV12:0x0100000000000002")).unwrap();
        let told = stream.description;
        assert_eq!((told.memory, told.format), ("dmabuf", PixelFormat::Nv12));
        assert_eq!(told.colorimetry, Colorimetry::assumed(1080));
        assert_eq!(stream.drm, drm::parse("NV12:0x0100000000000002"));
        assert_eq!(stream.info.stride()[..2], [1920, 1920]);
        assert!(matches!(parse(&text("QQQQ")), Err(CapsError::DrmFormat(_))));
    }

    #[test]
    fn odd_numbers_have_sensible_defaults() {
        let pal =
            parse("video/x-raw, format=I420, width=720, height=576, pixel-aspect-ratio=16/15, framerate=0/1")
                .unwrap();
        assert_eq!((pal.pixel_aspect, pal.period), ((16, 15), USUAL_PERIOD));
        assert_eq!(pal.description.colorimetry, Colorimetry::assumed(576));
        let slow = parse("video/x-raw, format=I420, width=720, height=576, framerate=1/5").unwrap();
        assert_eq!((slow.pixel_aspect, slow.period), ((1, 1), LONGEST_PERIOD));
        let rgb = parse("video/x-raw, format=RGBx, width=9, height=9, framerate=60/1").unwrap();
        assert_eq!(rgb.description.colorimetry.matrix, Matrix::Rgb);
        assert!(matches!(
            parse("video/x-raw, format=ENCODED, width=9, height=9"),
            Err(CapsError::Format(_))
        ));
        let gl = "video/x-raw(memory:GLMemory), format=RGBA, width=9, height=9";
        assert!(matches!(parse(gl), Err(CapsError::Memory(_))));
    }
}
