//! Semaphores that carry fences between Vulkan and everybody else.
//!
//! A fence from outside is put into a semaphore for one wait, which takes it out again, so the same semaphores serve for
//! ever. Another one is made to be exported: its export takes the fence out, too, and leaves it as new. The specification
//! lets an export answer -1: then the work is done. Where the device has no sync files (`VK_KHR_external_semaphore_fd`
//! is not enough, the handle type has its own properties), the CPU waits, on the streaming thread.

use crate::device::Device;
use ash::{prelude::VkResult, vk};
use std::{
    os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd},
    sync::Arc,
};

const SYNC_FD: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;

/// What the device does with sync files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncSupport {
    /// Waits for them.
    pub(crate) import: bool,
    /// Makes them.
    pub(crate) export: bool,
}

impl SyncSupport {
    pub(crate) fn of(device: &Device) -> Self {
        if device.semaphore_fd().is_none() {
            return Self {
                import: false,
                export: false,
            };
        }
        let info = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(SYNC_FD);
        let mut properties = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the physical device is of the instance.
        unsafe {
            device
                .instance()
                .raw()
                .get_physical_device_external_semaphore_properties(device.physical(), &info, &mut properties);
        }
        let has = |feature| properties.external_semaphore_features.contains(feature);
        Self {
            import: has(vk::ExternalSemaphoreFeatureFlags::IMPORTABLE),
            // The CPU's driver lists it, and waits without end until the work is done.
            export: has(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE) && !device.info().software,
        }
    }
}

/// A binary semaphore.
pub(crate) struct Semaphore {
    device: Arc<Device>,
    raw: vk::Semaphore,
}

impl Semaphore {
    /// One to wait for fences with.
    pub(crate) fn new(device: &Arc<Device>) -> VkResult<Self> {
        Self::with(device, &vk::SemaphoreCreateInfo::default())
    }

    /// One whose signals can be exported.
    pub(crate) fn exportable(device: &Arc<Device>) -> VkResult<Self> {
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SYNC_FD);
        Self::with(device, &vk::SemaphoreCreateInfo::default().push_next(&mut export))
    }

    fn with(device: &Arc<Device>, info: &vk::SemaphoreCreateInfo<'_>) -> VkResult<Self> {
        // SAFETY: handle types, where given, are those that the device exports
        // (VUID-VkExportSemaphoreCreateInfo-handleTypes-01124).
        let raw = device.call(|raw| unsafe { raw.create_semaphore(info, None) })?;
        Ok(Self {
            device: Arc::clone(device),
            raw,
        })
    }

    pub(crate) fn raw(&self) -> vk::Semaphore {
        self.raw
    }

    /// Makes the next wait one for this sync file. What was put in before and not waited for is forgotten.
    ///
    /// # Safety
    /// No work that waits for it is pending.
    pub(crate) unsafe fn import(&self, fence: OwnedFd) -> VkResult<()> {
        let functions = self
            .device
            .semaphore_fd()
            .ok_or(vk::Result::ERROR_EXTENSION_NOT_PRESENT)?;
        let info = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(self.raw)
            .flags(vk::SemaphoreImportFlags::TEMPORARY)
            .handle_type(SYNC_FD)
            .fd(fence.as_raw_fd());
        self.device
            // SAFETY: a sync file, put in temporarily as its kind must be (VUID-VkImportSemaphoreFdInfoKHR-handleType-07307),
            // into a semaphore that nothing waits for, as the caller says (VUID-vkImportSemaphoreFdKHR-semaphore-01142).
            .call(|_| unsafe { functions.import_semaphore_fd(&info) })?;
        // Vulkan owns it now.
        let _ = fence.into_raw_fd();
        Ok(())
    }

    /// Takes the signal of submitted work out as a sync file; `None` if it is done.
    ///
    /// # Safety
    /// The semaphore is exportable, and its signal is pending or done and not waited for.
    pub(crate) unsafe fn export(&self) -> VkResult<Option<OwnedFd>> {
        let functions = self
            .device
            .semaphore_fd()
            .ok_or(vk::Result::ERROR_EXTENSION_NOT_PRESENT)?;
        let info = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(self.raw)
            .handle_type(SYNC_FD);
        let fd = self
            .device
            // SAFETY: as the caller says (VUID-VkSemaphoreGetFdInfoKHR-handleType-01132, -01135, -03254).
            .call(|_| unsafe { functions.get_semaphore_fd(&info) })?;
        // SAFETY: what is not -1 is new, and ours.
        Ok((fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: whoever has it waited for the work that uses it (VUID-vkDestroySemaphore-semaphore-05149).
        unsafe { self.device.raw().destroy_semaphore(self.raw, None) };
    }
}
