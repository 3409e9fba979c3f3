//! Asking a device which images it shares.

use super::{SOURCE_USAGE, TARGET_USAGE};
use crate::{device::Device, fault};
use ash::vk;
use drm_fourcc::DrmModifier;
use veil_frame::Size;

/// What is asked.
struct Question {
    format: vk::Format,
    /// `None` where the device knows no modifiers: rows, as the driver wants them.
    modifier: Option<u64>,
    usage: vk::ImageUsageFlags,
    shared: vk::ExternalMemoryFeatureFlags,
}

pub(super) struct Probe<'a> {
    device: &'a Device,
}

impl<'a> Probe<'a> {
    pub(super) fn new(device: &'a Device) -> Self {
        Self { device }
    }

    /// Modifiers with which images of this format are read, and the largest image of each.
    pub(super) fn importable(
        &self,
        format: vk::Format,
    ) -> impl Iterator<Item = (DrmModifier, Size)> + use<'_> {
        self.modifiers(format)
            .into_iter()
            .filter(|known| {
                known
                    .drm_format_modifier_tiling_features
                    .contains(vk::FormatFeatureFlags::SAMPLED_IMAGE)
                    && known.drm_format_modifier_plane_count == 1
            })
            .filter_map(move |known| {
                let largest = self.answer(&Question {
                    format,
                    modifier: Some(known.drm_format_modifier),
                    usage: SOURCE_USAGE,
                    shared: vk::ExternalMemoryFeatureFlags::IMPORTABLE,
                })?;
                Some((DrmModifier::from(known.drm_format_modifier), largest))
            })
    }

    /// Modifiers with which images of this format are written, the planes of memory and the largest image of each.
    pub(super) fn exportable(&self, format: vk::Format) -> Vec<(DrmModifier, u32, Size)> {
        let question = move |modifier| Question {
            format,
            modifier,
            usage: TARGET_USAGE,
            shared: vk::ExternalMemoryFeatureFlags::EXPORTABLE,
        };
        let mut listed = Vec::new();
        let needed = vk::FormatFeatureFlags::STORAGE_IMAGE | vk::FormatFeatureFlags::TRANSFER_SRC;
        if self.device.memory_fd().is_none() || (is_extended(format) && !self.device.extended_storage()) {
            return listed;
        }
        if self.device.modifiers().is_none() {
            // Without modifiers, rows are all that anybody else can make sense of.
            let has = self.linear_features(format).contains(needed);
            let largest = has.then(|| self.answer(&question(None))).flatten();
            listed.extend(largest.map(|largest| (DrmModifier::Linear, 1, largest)));
        }
        for known in self.modifiers(format) {
            if known.drm_format_modifier_tiling_features.contains(needed) {
                let modifier = known.drm_format_modifier;
                let largest = self.answer(&question(Some(modifier)));
                let planes = known.drm_format_modifier_plane_count;
                listed.extend(largest.map(|largest| (DrmModifier::from(modifier), planes, largest)));
            }
        }
        listed
    }

    fn modifiers(&self, format: vk::Format) -> Vec<vk::DrmFormatModifierPropertiesEXT> {
        if self.device.modifiers().is_none() {
            return Vec::new();
        }
        let mut list = vk::DrmFormatModifierPropertiesListEXT::default();
        self.properties(format, &mut list);
        let mut found =
            vec![vk::DrmFormatModifierPropertiesEXT::default(); list.drm_format_modifier_count as usize];
        let mut list =
            vk::DrmFormatModifierPropertiesListEXT::default().drm_format_modifier_properties(&mut found);
        self.properties(format, &mut list);
        let count = list.drm_format_modifier_count as usize;
        found.truncate(count);
        found
    }

    fn properties(&self, format: vk::Format, list: &mut vk::DrmFormatModifierPropertiesListEXT<'_>) {
        let mut all = vk::FormatProperties2::default().push_next(list);
        // SAFETY: the device has the extension that the structure is of; the list has room for as many as it says.
        unsafe {
            self.device
                .instance()
                .raw()
                .get_physical_device_format_properties2(self.device.physical(), format, &mut all);
        }
    }

    fn linear_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: the physical device is of the instance.
        unsafe {
            self.device
                .instance()
                .raw()
                .get_physical_device_format_properties(self.device.physical(), format)
        }
        .linear_tiling_features
    }

    /// The largest image that fits the question.
    fn answer(&self, question: &Question) -> Option<Size> {
        let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default()
            .handle_type(vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
        let mut modifier = vk::PhysicalDeviceImageDrmFormatModifierInfoEXT::default()
            .drm_format_modifier(question.modifier.unwrap_or(0))
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        let mut info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(question.format)
            .ty(vk::ImageType::TYPE_2D)
            .usage(question.usage)
            .push_next(&mut external);
        info = if question.modifier.is_some() {
            info.tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
                .push_next(&mut modifier)
        } else {
            info.tiling(vk::ImageTiling::LINEAR)
        };
        let mut shared = vk::ExternalImageFormatProperties::default();
        let mut properties = vk::ImageFormatProperties2::default().push_next(&mut shared);
        // SAFETY: the device has the extensions that the structures are of
        // (VUID-VkPhysicalDeviceImageFormatInfo2-tiling-02249).
        fault::call(|| unsafe {
            self.device
                .instance()
                .raw()
                .get_physical_device_image_format_properties2(self.device.physical(), &info, &mut properties)
        })
        .ok()?;
        let extent = properties.image_format_properties.max_extent;
        let has = shared.external_memory_properties.external_memory_features;
        has.contains(question.shared)
            .then_some(Size::new(extent.width, extent.height))
    }
}

/// Whether storing in this format is a feature that a device may lack.
fn is_extended(format: vk::Format) -> bool {
    format == vk::Format::A2B10G10R10_UNORM_PACK32
}
