//! Making the handle, and finding the functions of extensions.

use super::{DeviceError, extensions::Extensions};
use crate::{
    fault,
    instance::{Instance, refused},
};
use ash::vk;

/// Functions of extensions, where the device has them.
pub(super) struct Functions {
    pub(super) memory_fd: Option<ash::khr::external_memory_fd::Device>,
    pub(super) modifiers: Option<ash::ext::image_drm_format_modifier::Device>,
    pub(super) semaphore_fd: Option<ash::khr::external_semaphore_fd::Device>,
}

/// The handle.
pub(super) struct RawDevice(pub(super) ash::Device);

impl Drop for RawDevice {
    fn drop(&mut self) {
        // SAFETY: everything made on the device holds it, so all is gone (VUID-vkDestroyDevice-device-05137), and with
        // it whoever could use the queue (-device-00378).
        unsafe { self.0.destroy_device(None) };
    }
}

impl Functions {
    pub(super) fn new(instance: &Instance, device: &ash::Device, extensions: &Extensions) -> Self {
        let of = instance.raw();
        Self {
            memory_fd: extensions
                .missing_for_dmabufs()
                .is_none()
                .then(|| ash::khr::external_memory_fd::Device::new(of, device)),
            modifiers: extensions
                .has_modifiers()
                .then(|| ash::ext::image_drm_format_modifier::Device::new(of, device)),
            semaphore_fd: extensions
                .has_semaphore_fd()
                .then(|| ash::khr::external_semaphore_fd::Device::new(of, device)),
        }
    }
}

/// Makes a device with one queue of this family.
pub(super) fn create(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    extensions: &Extensions,
    extended_storage: bool,
) -> Result<RawDevice, DeviceError> {
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let names = extensions.names();
    let features =
        vk::PhysicalDeviceFeatures::default().shader_storage_image_extended_formats(extended_storage);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .enabled_features(&features);
    // SAFETY: extensions and features are those that the device lists (VUID-VkDeviceCreateInfo-ppEnabledExtensionNames,
    // VUID-vkCreateDevice-ppEnabledExtensionNames-01387), and the family is one of its.
    fault::call(|| unsafe { instance.raw().create_device(physical, &info, None) })
        .map(RawDevice)
        .map_err(|error| refused("a device", error))
}
