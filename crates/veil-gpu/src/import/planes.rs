//! The images of one buffer.

use super::ImportError;
use crate::{
    convert::{self, PlaneLayout},
    device::Device,
    formats::SOURCE_USAGE,
    shared_memory::{SharedImage, SharedImageError},
};
use ash::vk;
use drm_fourcc::DrmModifier;
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};
use veil_dmabuf::Identity;
use veil_frame::{BorrowedDmabuf, BorrowedPlane, PixelFormat, Size};

/// Images of the planes of one picture, in the memory of whoever made the picture.
pub struct PlaneImages {
    images: Vec<SharedImage>,
    views: [vk::ImageView; 4],
    dmabufs: Vec<OwnedFd>,
}

impl PlaneImages {
    /// Makes them.
    pub(super) fn new(
        device: &Arc<Device>,
        dmabuf: &BorrowedDmabuf<'_>,
        format: PixelFormat,
        identity: &Identity,
    ) -> Result<Self, ImportError> {
        let modifier = dmabuf.format.modifier;
        let layouts = convert::planes(format, dmabuf.size.w, dmabuf.size.h)
            .ok_or(ImportError::Unsupported { format, modifier })?;
        let mut planes = Self {
            images: Vec::with_capacity(4),
            views: [vk::ImageView::null(); 4],
            dmabufs: Vec::with_capacity(4),
        };
        for (index, (layout, plane)) in layouts.zip(dmabuf.planes()).enumerate() {
            let image = image(device, &layout, plane, modifier)
                .map_err(|error| ImportError::Image { plane: index, error })?;
            planes.views[index] = image.view();
            planes.images.push(image);
            if !(0..index).any(|before| identity.same_memory(before, index)) {
                planes.dmabufs.push(plane.fd.try_clone_to_owned()?);
            }
        }
        Ok(planes)
    }

    /// What the shader reads, in the order of the format's planes; null after the last.
    pub fn views(&self) -> &[vk::ImageView; 4] {
        &self.views
    }

    /// Number of planes.
    pub fn count(&self) -> usize {
        self.images.len()
    }

    pub(crate) fn images(&self) -> impl Iterator<Item = vk::Image> + '_ {
        self.images.iter().map(SharedImage::raw)
    }

    /// The dmabufs that the planes are in, each once.
    pub(crate) fn dmabufs(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.dmabufs.iter().map(AsFd::as_fd)
    }
}

fn image(
    device: &Arc<Device>,
    layout: &PlaneLayout,
    plane: &BorrowedPlane<'_>,
    modifier: DrmModifier,
) -> Result<SharedImage, SharedImageError> {
    // Only where it begins and its rows; the rest must be 0.
    let place = [vk::SubresourceLayout::default()
        .offset(plane.offset.into())
        .row_pitch(plane.stride.into())];
    let mut explicit = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default()
        .drm_format_modifier(modifier.into())
        .plane_layouts(&place);
    let mut external = vk::ExternalMemoryImageCreateInfo::default()
        .handle_types(vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(layout.format)
        .extent(super::extent(Size::new(layout.width, layout.height)))
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(SOURCE_USAGE)
        .push_next(&mut external)
        .push_next(&mut explicit);
    // SAFETY: format, modifier and size are those that the device lists for imported images
    // (VUID-VkImageCreateInfo-tiling-02261, -pNext-00990, -extent-02252), the modifier has one plane
    // (VUID-VkImageDrmFormatModifierExplicitCreateInfoEXT-drmFormatModifierPlaneCount-02265), and sizes and pitches that
    // the specification wants to be 0 are (-size-02267, -arrayPitch-02268, -depthPitch-02269).
    let mut image = unsafe { SharedImage::new(device, &info) }?;
    image.import(plane.fd)?;
    image.make_view(layout.format)?;
    Ok(image)
}
