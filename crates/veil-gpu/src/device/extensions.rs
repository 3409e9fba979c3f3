//! The extensions of a device: those that sharing dmabufs needs, and those that make it better.

use crate::{
    fault,
    instance::{Instance, refused},
};
use ash::{ext, khr, vk};
use std::{
    ffi::{CStr, c_char},
    fmt,
};

use super::DeviceError;

/// Without these no dmabuf can be read or written.
const DMABUFS: [&CStr; 2] = [khr::external_memory_fd::NAME, ext::external_memory_dma_buf::NAME];
/// Named by numbers below, so that the device can be asked for all of them at once.
const BETTER: [&CStr; 3] = [
    // Dmabufs that are not just rows; also, rows of a stride that the driver did not choose.
    ext::image_drm_format_modifier::NAME,
    // Sync files.
    khr::external_semaphore_fd::NAME,
    // Handing memory to what is no Vulkan device.
    ext::queue_family_foreign::NAME,
];

/// Which of them a device has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extensions {
    dmabufs: [bool; DMABUFS.len()],
    better: [bool; BETTER.len()],
}

impl Extensions {
    pub(super) fn of(instance: &Instance, device: vk::PhysicalDevice) -> Result<Self, DeviceError> {
        let listed = list(instance, device)?;
        let has = |name: &CStr| contains(&listed, name) && !fault::is_hidden(name);
        Ok(Self {
            dmabufs: DMABUFS.map(has),
            better: BETTER.map(has),
        })
    }

    /// The first extension without which dmabufs cannot be shared.
    pub(super) fn missing_for_dmabufs(&self) -> Option<&'static str> {
        let missing = self.dmabufs.iter().position(|has| !has)?;
        DMABUFS[missing].to_str().ok()
    }

    fn has_dmabufs(&self) -> bool {
        self.missing_for_dmabufs().is_none()
    }

    pub(super) fn has_modifiers(&self) -> bool {
        self.has_dmabufs() && self.better[0]
    }

    pub(super) fn has_semaphore_fd(&self) -> bool {
        self.better[1]
    }

    pub(super) fn foreign_family(&self) -> u32 {
        if self.better[2] {
            vk::QUEUE_FAMILY_FOREIGN_EXT
        } else {
            vk::QUEUE_FAMILY_EXTERNAL
        }
    }

    /// The names of those that it has.
    pub(super) fn names(&self) -> Vec<*const c_char> {
        let dmabufs = DMABUFS.iter().filter(|_| self.has_dmabufs());
        let better = BETTER
            .iter()
            .zip([self.has_modifiers(), self.better[1], self.better[2]])
            .filter_map(|(name, has)| has.then_some(name));
        dmabufs.chain(better).map(|name| name.as_ptr()).collect()
    }
}

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.has_dmabufs(), self.has_modifiers()) {
            (true, true) => "dmabufs with modifiers",
            (true, false) => "dmabufs without modifiers",
            (false, _) => "no dmabufs",
        };
        let fences = if self.has_semaphore_fd() {
            ""
        } else {
            ", no sync files"
        };
        write!(f, "{kind}{fences}")
    }
}

/// All extensions of a device.
pub(super) fn list(
    instance: &Instance,
    device: vk::PhysicalDevice,
) -> Result<Vec<vk::ExtensionProperties>, DeviceError> {
    // SAFETY: the physical device is of the instance.
    fault::call(|| unsafe { instance.raw().enumerate_device_extension_properties(device) })
        .map_err(|error| refused("the list of extensions", error))
}

pub(super) fn contains(listed: &[vk::ExtensionProperties], name: &CStr) -> bool {
    listed
        .iter()
        .any(|extension| extension.extension_name_as_c_str() == Ok(name))
}
