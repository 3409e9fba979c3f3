//! Images that the conversion writes and a compositor shows.
//!
//! The driver chooses the modifier from those that both sides know. All memory planes are exported: those with
//! compression, too, or a compositor could not make sense of the picture.

use crate::{
    device::Device,
    formats::{TARGET_USAGE, TargetFormat},
    shared_memory::{SharedImage, SharedImageError, refused},
};
use ash::vk;
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use veil_frame::{Dmabuf, DmabufPlane, Size};

/// No target could be made.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Nothing fits.
    #[error("the device and the surfaces have no way in common to store {size} pixels in {fourcc}")]
    NothingInCommon {
        /// The format.
        fourcc: DrmFourcc,
        /// The size.
        size: Size,
    },
    /// The image cannot be made or exported.
    #[error("no image to draw in: {0}")]
    Image(#[from] SharedImageError),
    /// The driver says what cannot be.
    #[error("the driver exports an image with {planes} planes of memory and modifier {modifier:?}")]
    Exported {
        /// Planes.
        planes: u32,
        /// The modifier.
        modifier: DrmModifier,
    },
}

/// An image to draw in and to show. Its picture is overwritten as a whole each time.
pub struct TargetImage {
    image: SharedImage,
    format: vk::Format,
    dmabuf: Dmabuf,
    drawn: AtomicBool,
}

impl fmt::Debug for TargetImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TargetImage").field(&self.dmabuf).finish()
    }
}

const PLANES: [vk::ImageAspectFlags; 4] = [
    vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_1_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_2_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_3_EXT,
];

impl TargetImage {
    /// A target of this size and format with one of these modifiers: those with which the surfaces that are to show it
    /// take the format.
    ///
    /// # Errors
    /// [`TargetError`] says what is not possible.
    pub fn new(
        device: &Arc<Device>,
        size: Size,
        fourcc: DrmFourcc,
        candidates: &[DrmModifier],
    ) -> Result<Self, TargetError> {
        let fits = |target: &&TargetFormat| {
            target.pair.code == fourcc
                && candidates.contains(&target.pair.modifier)
                && (1..=target.largest.w).contains(&size.w)
                && (1..=target.largest.h).contains(&size.h)
        };
        let fitting: Vec<_> = device.formats().target_formats().iter().filter(fits).collect();
        let Some(format) = fitting.first().map(|target| target.format) else {
            return Err(TargetError::NothingInCommon { fourcc, size });
        };
        let modifiers: Vec<u64> = fitting.iter().map(|target| target.pair.modifier.into()).collect();
        let mut image = create(device, size, format, &modifiers)?;
        image.allocate_exportable()?;
        image.make_view(format)?;
        let fd = image.export()?;
        let (modifier, planes) = layout(device, &image, &fitting, fd)?;
        let dmabuf = Dmabuf {
            size,
            format: DrmFormat {
                code: fourcc,
                modifier,
            },
            planes,
        };
        Ok(Self {
            image,
            format,
            dmabuf,
            drawn: AtomicBool::new(false),
        })
    }

    /// The picture as others see it.
    pub fn dmabuf(&self) -> &Dmabuf {
        &self.dmabuf
    }

    /// The same with descriptors of their own, for whoever shows it.
    ///
    /// # Errors
    /// When descriptors have run out.
    pub fn export(&self) -> io::Result<Dmabuf> {
        self.dmabuf.borrow().to_owned()
    }

    /// What the shader stores to.
    pub fn view(&self) -> vk::ImageView {
        self.image.view()
    }

    /// The image's format.
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// Columns and rows.
    pub fn size(&self) -> Size {
        self.dmabuf.size
    }

    pub(crate) fn image(&self) -> vk::Image {
        self.image.raw()
    }

    /// The one dmabuf that all its planes are in.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.dmabuf.planes.first().map(|plane| plane.fd.as_fd())
    }

    /// Whether it was drawn to before, so that others have it now. The next time it was.
    pub(crate) fn was_drawn(&self) -> bool {
        self.drawn.load(Ordering::Relaxed)
    }

    pub(crate) fn set_drawn(&self) {
        self.drawn.store(true, Ordering::Relaxed);
    }
}

fn create(
    device: &Arc<Device>,
    size: Size,
    format: vk::Format,
    modifiers: &[u64],
) -> Result<SharedImage, SharedImageError> {
    let mut external = vk::ExternalMemoryImageCreateInfo::default()
        .handle_types(vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
    let mut list = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(modifiers);
    let mut info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D {
            width: size.w,
            height: size.h,
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(TARGET_USAGE)
        .push_next(&mut external);
    info = if device.modifiers().is_some() {
        info.tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
            .push_next(&mut list)
    } else {
        info.tiling(vk::ImageTiling::LINEAR)
    };
    // SAFETY: format, usage, size and modifiers are those that the device lists for images that are exported
    // (VUID-VkImageCreateInfo-tiling-02261, -pNext-00990, -extent-02252).
    unsafe { SharedImage::new(device, &info) }
}

/// The modifier that the driver chose, and where each plane of memory lies.
fn layout(
    device: &Device,
    image: &SharedImage,
    fitting: &[&TargetFormat],
    fd: OwnedFd,
) -> Result<(DrmModifier, Vec<DmabufPlane>), TargetError> {
    let (modifier, count) = match device.modifiers() {
        Some(functions) => {
            let mut chosen = vk::ImageDrmFormatModifierPropertiesEXT::default();
            device
                // SAFETY: the image was made with a list of modifiers
                // (VUID-vkGetImageDrmFormatModifierPropertiesEXT-image-02272).
                .call(|_| unsafe {
                    functions.get_image_drm_format_modifier_properties(image.raw(), &mut chosen)
                })
                .map_err(refused("the modifier of an image"))?;
            let modifier = DrmModifier::from(chosen.drm_format_modifier);
            let known = fitting.iter().find(|target| target.pair.modifier == modifier);
            (modifier, known.map_or(0, |target| target.memory_planes))
        }
        None => (DrmModifier::Linear, 1),
    };
    let aspects = match (count as usize, device.modifiers().is_some()) {
        (1.., false) => &[vk::ImageAspectFlags::COLOR],
        (1..=4, true) => &PLANES[..count as usize],
        _ => {
            return Err(TargetError::Exported {
                planes: count,
                modifier,
            });
        }
    };
    let mut planes = Vec::with_capacity(aspects.len());
    for &aspect_mask in aspects {
        let part = vk::ImageSubresource {
            aspect_mask,
            mip_level: 0,
            array_layer: 0,
        };
        // SAFETY: the image is not optimally tiled, and has this plane (VUID-vkGetImageSubresourceLayout-image-07790,
        // -tiling-09433).
        let layout = unsafe { device.raw().get_image_subresource_layout(image.raw(), part) };
        let number = |bytes| {
            u32::try_from(bytes).map_err(|_| TargetError::Exported {
                planes: count,
                modifier,
            })
        };
        planes.push(DmabufPlane {
            fd: fd.try_clone().map_err(SharedImageError::Descriptor)?,
            offset: number(layout.offset)?,
            stride: number(layout.row_pitch)?,
        });
    }
    Ok((modifier, planes))
}
