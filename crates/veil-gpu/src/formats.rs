//! What a device reads and writes in dmabufs.
//!
//! Pictures are read plane by plane: each plane is an image of its own, whose texels are the plane's pixels. That is the
//! one way that every driver takes; drivers disagree on images of several planes. A format with a modifier is only
//! listed where every plane can be imported, so a decoder that chooses from the list gives what can be read. Modifiers
//! with a memory plane more than the format has, which holds compression, are left out by that.
//!
//! NVIDIA's block-linear memory can only be read from the beginning of a dmabuf, so there each plane must have its own.

mod probe;

use crate::{convert, device::Device};
use ash::vk;
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use probe::Probe;
use veil_frame::{BorrowedDmabuf, PixelFormat, Size};

/// How targets are stored: 8 bits a colour or 10, with alpha or without.
const TARGETS: [(DrmFourcc, vk::Format); 3] = [
    (DrmFourcc::Xbgr8888, vk::Format::R8G8B8A8_UNORM),
    (DrmFourcc::Abgr8888, vk::Format::R8G8B8A8_UNORM),
    (DrmFourcc::Xbgr2101010, vk::Format::A2B10G10R10_UNORM_PACK32),
];
/// Texels of which planes are made.
const TEXELS: [vk::Format; 7] = [
    vk::Format::R8_UNORM,
    vk::Format::R8G8_UNORM,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R16_UNORM,
    vk::Format::R16G16_UNORM,
    vk::Format::R16G16B16A16_UNORM,
    vk::Format::A2B10G10R10_UNORM_PACK32,
];

/// How a plane is read.
pub(crate) const SOURCE_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::SAMPLED;
/// How a target is written; tests copy from it.
pub(crate) const TARGET_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::STORAGE.as_raw() | vk::ImageUsageFlags::TRANSFER_SRC.as_raw(),
);

/// A way to store pictures that a device reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFormat {
    /// The format.
    pub format: PixelFormat,
    /// The same as a DRM format, with its modifier.
    pub pair: DrmFormat,
    /// Whether each plane must lie at the beginning of a dmabuf of its own.
    pub apart: bool,
}

/// What a device reads and writes; asked for once.
pub struct Formats {
    texels: Vec<Shareable>,
    targets: Vec<TargetFormat>,
    sources: Vec<SourceFormat>,
    pairs: Vec<DrmFormat>,
}

/// An image format that can be shared with this modifier.
#[derive(Clone, Copy, Debug)]
struct Shareable {
    format: vk::Format,
    modifier: DrmModifier,
    largest: Size,
}

/// A way to store pictures that a device writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetFormat {
    pub(crate) pair: DrmFormat,
    pub(crate) format: vk::Format,
    pub(crate) largest: Size,
    /// Planes of memory, those of compression included.
    pub(crate) memory_planes: u32,
}

impl Formats {
    /// Asks the device.
    pub fn of(device: &Device) -> Self {
        let probe = Probe::new(device);
        let texels: Vec<_> = TEXELS
            .iter()
            .flat_map(|&format| {
                probe
                    .importable(format)
                    .map(move |(modifier, largest)| Shareable {
                        format,
                        modifier,
                        largest,
                    })
            })
            .collect();
        let mut targets = Vec::new();
        for (code, format) in TARGETS {
            let listed = probe.exportable(format);
            targets.extend(
                listed
                    .into_iter()
                    .map(|(modifier, memory_planes, largest)| TargetFormat {
                        pair: DrmFormat { code, modifier },
                        format,
                        largest,
                        memory_planes,
                    }),
            );
        }
        let mut formats = Self {
            texels,
            pairs: targets.iter().map(|target| target.pair).collect(),
            targets,
            sources: Vec::new(),
        };
        for &format in PixelFormat::ALL {
            formats.list(format);
        }
        formats
    }

    fn list(&mut self, format: PixelFormat) {
        let Some(code) = format.info().fourcc else {
            return;
        };
        let first = self.sources.len();
        for i in 0..self.texels.len() {
            let modifier = self.texels[i].modifier;
            let pair = DrmFormat { code, modifier };
            if self.reads(format, modifier) && !self.sources[first..].iter().any(|source| source.pair == pair)
            {
                self.sources.push(SourceFormat {
                    format,
                    pair,
                    apart: must_be_apart(format, modifier),
                });
            }
        }
        // Drivers put the better ones first, but for this one.
        self.sources[first..].sort_by_key(|source| source.pair.modifier == DrmModifier::Linear);
    }

    /// The pairs of format and modifier that can be read, cheapest format first, LINEAR last of a format.
    pub fn sources(&self) -> &[SourceFormat] {
        &self.sources
    }

    /// The pairs of format and modifier that can be written, and shown if the compositor takes them, too.
    pub fn targets(&self) -> &[DrmFormat] {
        &self.pairs
    }

    pub(crate) fn target_formats(&self) -> &[TargetFormat] {
        &self.targets
    }

    /// Whether a format that is stored with this modifier can be read; also formats that DRM has no name for.
    pub fn reads(&self, format: PixelFormat, modifier: DrmModifier) -> bool {
        let planes = convert::planes(format, 1, 1);
        planes.is_some_and(|mut planes| {
            planes.all(|plane| {
                (plane.whole_pixels || modifier == DrmModifier::Linear)
                    && self.largest(plane.format, modifier).is_some()
            })
        })
    }

    /// The largest image of these texels and this modifier that can be imported.
    pub(crate) fn largest(&self, texel: vk::Format, modifier: DrmModifier) -> Option<Size> {
        let same = |known: &&Shareable| known.format == texel && known.modifier == modifier;
        self.texels.iter().find(same).map(|known| known.largest)
    }
}

/// Whether planes of this format and modifier can only be read from the beginning of a dmabuf.
pub(crate) fn must_be_apart(format: PixelFormat, modifier: DrmModifier) -> bool {
    const NVIDIA: u64 = 3;
    format.info().planes > 1 && u64::from(modifier) >> 56 == NVIDIA
}

/// Whether every plane is at the beginning of a dmabuf of its own. `same` tells whether two planes lie in one.
pub(crate) fn are_apart(dmabuf: &BorrowedDmabuf<'_>, same: impl Fn(usize, usize) -> bool) -> bool {
    let count = dmabuf.planes().count();
    dmabuf.planes().all(|plane| plane.offset == 0) && (0..count).all(|i| (0..i).all(|j| !same(i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::File, os::fd::AsFd};
    use veil_frame::BorrowedPlane;

    #[test]
    fn every_texel_that_planes_are_made_of_is_asked_for() {
        for &format in PixelFormat::ALL {
            for plane in convert::planes(format, 8, 8).into_iter().flatten() {
                assert!(TEXELS.contains(&plane.format), "{format:?}");
            }
        }
    }

    #[test]
    fn only_nvidias_tiles_must_be_apart() {
        let block_linear = DrmModifier::from(3 << 56 | 0x10);
        assert!(must_be_apart(PixelFormat::Nv12, block_linear));
        assert!(!must_be_apart(PixelFormat::Yuy2, block_linear));
        assert!(!must_be_apart(PixelFormat::Nv12, DrmModifier::Linear));
        assert!(!must_be_apart(PixelFormat::Nv12, DrmModifier::from(1 << 56 | 2)));
    }

    #[test]
    fn planes_are_apart_with_their_own_dmabufs_from_the_beginning() {
        let file = File::open("/dev/null").unwrap();
        let plane = |offset| {
            Some(BorrowedPlane {
                fd: file.as_fd(),
                offset,
                stride: 64,
            })
        };
        let of = |offset| BorrowedDmabuf {
            size: Size::new(64, 64),
            format: DrmFormat {
                code: DrmFourcc::Nv12,
                modifier: DrmModifier::Linear,
            },
            planes: [plane(0), plane(offset), None, None],
        };
        assert!(are_apart(&of(0), |_, _| false));
        assert!(!are_apart(&of(0), |_, _| true));
        assert!(!are_apart(&of(4096), |_, _| false));
    }
}
