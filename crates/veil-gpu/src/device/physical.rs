//! The devices of a machine.

use super::{DeviceError, extensions};
use crate::{
    fault,
    instance::{API, Instance, refused},
};
use ash::{ext, vk};
use rustix::fs::makedev;
use std::ffi::CStr;

/// Who a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The device's name.
    pub name: String,
    /// The driver's name and what it says of itself.
    pub driver: String,
    /// Major and minor version of Vulkan.
    pub api_version: (u32, u32),
    /// Its render node, as a `dev_t`, where the driver says.
    pub render_node: Option<u64>,
    /// Its primary node (`/dev/dri/card0`), as a `dev_t`, where the driver says.
    pub primary_node: Option<u64>,
    /// The same for the same device in every API and process.
    pub uuid: [u8; 16],
    /// Whether the CPU does the work. Such a device is only taken by name.
    pub software: bool,
}

/// All devices, in the loader's order.
pub(super) fn enumerate(instance: &Instance) -> Result<Vec<(vk::PhysicalDevice, DeviceInfo)>, DeviceError> {
    // SAFETY: no conditions.
    fault::call(|| unsafe { instance.raw().enumerate_physical_devices() })
        .map_err(|error| refused("the list of devices", error))?
        .into_iter()
        .map(|device| Ok((device, info(instance, device)?)))
        .collect()
}

fn info(instance: &Instance, device: vk::PhysicalDevice) -> Result<DeviceInfo, DeviceError> {
    // SAFETY: the physical device is of the instance.
    let basic = unsafe { instance.raw().get_physical_device_properties(device) };
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut drm = vk::PhysicalDeviceDrmPropertiesEXT::default();
    // What older ones do not know must not be asked.
    let listed = if basic.api_version >= API {
        extensions::list(instance, device)?
    } else {
        Vec::new()
    };
    if basic.api_version >= API {
        let mut all = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut driver)
            .push_next(&mut id);
        if extensions::contains(&listed, ext::physical_device_drm::NAME) {
            all = all.push_next(&mut drm);
        }
        // SAFETY: the structures are of the device's version and extensions.
        unsafe { instance.raw().get_physical_device_properties2(device, &mut all) };
    }
    let text = |name: Result<&CStr, _>| name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let node = |has: vk::Bool32, major: i64, minor: i64| {
        let number = |n| u32::try_from(n).ok();
        (has != 0).then_some(makedev(number(major)?, number(minor)?))
    };
    // Who knows lavapipe does not look for llvmpipe, which is what it calls itself.
    let alias = if driver.driver_id == vk::DriverId::MESA_LLVMPIPE {
        "lavapipe, "
    } else {
        ""
    };
    let (name, about) = (
        text(driver.driver_name_as_c_str()),
        text(driver.driver_info_as_c_str()),
    );
    Ok(DeviceInfo {
        name: text(basic.device_name_as_c_str()),
        driver: format!("{alias}{name} {about}").trim().to_owned(),
        api_version: (
            vk::api_version_major(basic.api_version),
            vk::api_version_minor(basic.api_version),
        ),
        render_node: node(drm.has_render, drm.render_major, drm.render_minor),
        primary_node: node(drm.has_primary, drm.primary_major, drm.primary_minor),
        uuid: id.device_uuid,
        software: basic.device_type == vk::PhysicalDeviceType::CPU,
    })
}

/// A family whose queues compute: one that does not draw, where there is one.
pub(super) fn family(instance: &Instance, device: vk::PhysicalDevice) -> Option<u32> {
    // SAFETY: the physical device is of the instance.
    let families = unsafe { instance.raw().get_physical_device_queue_family_properties(device) };
    let compute = |draws: bool| {
        let fits = |family: &vk::QueueFamilyProperties| {
            let flags = family.queue_flags;
            family.queue_count > 0
                && flags.contains(vk::QueueFlags::COMPUTE)
                && flags.contains(vk::QueueFlags::GRAPHICS) == draws
        };
        families.iter().position(fits)
    };
    let index = compute(false).or_else(|| compute(true))?;
    u32::try_from(index).ok()
}
