//! The pixels of a picture that is shown, brought back to the CPU: upright, R, G, B.

use drm_fourcc::{DrmFourcc, DrmModifier};
use std::{fs::File, io, os::unix::fs::FileExt, time::Duration};
use veil_convert::{Converter, Planes, Spec};
use veil_dmabuf::{Access, Mapping, MappingError, fence};
use veil_frame::{
    Backing, ChromaSite, Colorimetry, Dmabuf, Orientation, PixelFormat, Presentable, RectF, Rgb, Size, Target,
};

/// How long a device may take to draw a picture.
const DRAWN_WITHIN: Duration = Duration::from_secs(2);

/// The pixels cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The memory is arranged in a way that only devices know.
    #[error(
        "the picture lies in a device's memory in an arrangement (modifier {0:#x}) that cannot be read back; with \
         `veil daemon --route shm` it could"
    )]
    Tiled(u64),
    /// Nobody knows how to read this.
    #[error("pictures of the format {0} cannot be read back")]
    Format(DrmFourcc),
    /// Nobody knows how to convert this.
    #[error("the picture cannot be converted: {0}")]
    Convert(String),
    /// The device does not get done.
    #[error("the picture was not drawn within {} s", DRAWN_WITHIN.as_secs())]
    Late,
    /// The memory cannot be read.
    #[error("the picture's memory cannot be read: {0}")]
    Read(#[from] io::Error),
    /// Nor mapped.
    #[error(transparent)]
    Map(#[from] MappingError),
}

/// Pixels, upright: R, G, B, row after row.
pub(super) struct Frame {
    pub(super) size: Size,
    pub(super) rgb: Vec<u8>,
}

impl Frame {
    /// Reads what lies in a target; what is transparent lies over `below`.
    pub(super) fn read(presentable: &Presentable, below: Rgb) -> Result<Self, FrameError> {
        let target = presentable.target.target();
        if let Some(drawn) = target.acquire()?
            && !fence::wait(drawn, DRAWN_WITHIN)?
        {
            return Err(FrameError::Late);
        }
        let rgb = match &target.backing {
            Backing::Shm { fd, len } => {
                let mut bytes = vec![0; *len];
                File::from(fd.try_clone()?).read_exact_at(&mut bytes, 0)?;
                let planes = Planes {
                    data: [&bytes, &[], &[], &[]],
                    stride: [target.stride as usize, 0, 0, 0],
                };
                convert(target, &planes, presentable, below)?
            }
            Backing::Dmabuf(dmabuf) => read_dmabuf(dmabuf, target, presentable, below)?,
        };
        Ok(Self {
            size: target.size,
            rgb,
        }
        .upright(presentable.plan.picture.orientation))
    }

    fn upright(self, orientation: Orientation) -> Self {
        if orientation == Orientation::UPRIGHT {
            return self;
        }
        let (stored, size) = (self.size, orientation.upright(self.size));
        let pixels = self.rgb.as_chunks::<3>().0;
        let mut rgb = Vec::with_capacity(self.rgb.len());
        for y in 0..size.h {
            for x in 0..size.w {
                let pixel = RectF {
                    x: f64::from(x),
                    y: f64::from(y),
                    w: 1.0,
                    h: 1.0,
                };
                let from = orientation.to_stored(pixel, (f64::from(stored.w), f64::from(stored.h)));
                let index = from.y.round() as usize * stored.w as usize + from.x.round() as usize;
                rgb.extend_from_slice(pixels.get(index).unwrap_or(&[0; 3]));
            }
        }
        Self { size, rgb }
    }
}

fn read_dmabuf(
    dmabuf: &Dmabuf,
    target: &Target,
    presentable: &Presentable,
    below: Rgb,
) -> Result<Vec<u8>, FrameError> {
    if dmabuf.format.modifier != DrmModifier::Linear {
        return Err(FrameError::Tiled(dmabuf.format.modifier.into()));
    }
    let mut maps = Vec::new();
    for plane in &dmabuf.planes {
        let len = veil_dmabuf::size(std::os::fd::AsFd::as_fd(&plane.fd))?;
        maps.push(Mapping::new(
            &plane.fd,
            usize::try_from(len).unwrap_or(usize::MAX),
        )?);
    }
    let bytes = maps
        .iter_mut()
        .map(|map| map.access(Access::Read))
        .collect::<Result<Vec<_>, _>>()?;
    let mut planes = Planes::default();
    for (index, (plane, bytes)) in dmabuf.planes.iter().zip(&bytes).enumerate() {
        planes.data[index] = bytes.get(plane.offset as usize..).unwrap_or_default();
        planes.stride[index] = plane.stride as usize;
    }
    convert(target, &planes, presentable, below)
}

/// The target's pixels as they are stored, R, G, B.
fn convert(
    target: &Target,
    planes: &Planes<'_>,
    presentable: &Presentable,
    below: Rgb,
) -> Result<Vec<u8>, FrameError> {
    if target.fourcc == DrmFourcc::Argb8888 || target.fourcc == DrmFourcc::Abgr8888 {
        return Ok(blended(target, planes, below));
    }
    let format = PixelFormat::from_fourcc(target.fourcc).ok_or(FrameError::Format(target.fourcc))?;
    let labels = presentable.labels;
    let spec = Spec {
        format,
        stored: target.size,
        colorimetry: labels.map_or(Colorimetry::SRGB, |labels| labels.colorimetry),
        site: labels.map_or(ChromaSite::LEFT, |labels| labels.site),
        crop: RectF::whole(target.size),
        size: target.size,
    };
    let error = |error: &dyn std::fmt::Display| FrameError::Convert(error.to_string());
    let stride = target.size.w as usize * 4;
    let mut out = vec![0; stride * target.size.h as usize];
    Converter::new(&spec)
        .map_err(|e| error(&e))?
        .convert(planes, &mut out, stride)
        .map_err(|e| error(&e))?;
    let mut rgb = Vec::with_capacity(out.len() / 4 * 3);
    for [b, g, r, _] in out.as_chunks().0 {
        rgb.extend_from_slice(&[*r, *g, *b]);
    }
    Ok(rgb)
}

/// Pixels with alpha are premultiplied, as Wayland has them.
fn blended(target: &Target, planes: &Planes<'_>, below: Rgb) -> Vec<u8> {
    let columns = target.size.w as usize;
    let mut rgb = Vec::with_capacity(columns * target.size.h as usize * 3);
    let rows = planes.data[0].chunks(planes.stride[0].max(1));
    for row in rows.take(target.size.h as usize) {
        for &[first, g, third, a] in row.as_chunks::<4>().0.iter().take(columns) {
            let (r, b) = if target.fourcc == DrmFourcc::Argb8888 {
                (third, first)
            } else {
                (first, third)
            };
            let over = |color: u8, below: u8| {
                let below = (u32::from(below) * (255 - u32::from(a)) + 127) / 255;
                (u32::from(color) + below).min(255) as u8
            };
            rgb.extend_from_slice(&[over(r, below.r), over(g, below.g), over(b, below.b)]);
        }
    }
    rgb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_pictures_stand_upright() {
        // Two columns, one row: red, green. Turned clockwise, red is above green.
        let frame = || Frame {
            size: Size::new(2, 1),
            rgb: vec![255, 0, 0, 0, 255, 0],
        };
        let turned = frame().upright(Orientation {
            mirrored: false,
            quarters: 1,
        });
        assert_eq!(turned.size, Size::new(1, 2));
        assert_eq!(turned.rgb, [255, 0, 0, 0, 255, 0]);
        let mirrored = frame().upright(Orientation {
            mirrored: true,
            quarters: 0,
        });
        assert_eq!(mirrored.rgb, [0, 255, 0, 255, 0, 0]);
    }
}
