//! The Vulkan loader and an instance, with validation where it is asked for.
//!
//! The loader is looked for when it is needed, not linked, so that veil starts on machines without Vulkan. With
//! `VEIL_VULKAN_VALIDATION=1` the Khronos validation layer watches every call; what it says is logged as an error and
//! counted, and tests fail when the count is not 0.

use crate::{device::DeviceError, fault};
use ash::{ext, vk};
use std::{
    ffi::{CStr, c_void},
    sync::atomic::{AtomicU64, Ordering},
};

const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
/// The version that is used: 1.2, which has image format lists, external memory and driver properties in its core.
pub(crate) const API: u32 = vk::API_VERSION_1_2;

static MESSAGES: AtomicU64 = AtomicU64::new(0);

/// How many warnings and errors the validation layer gave in this process.
pub fn validation_messages() -> u64 {
    MESSAGES.load(Ordering::Relaxed)
}

/// An instance, which outlives everything that is made from it.
pub(crate) struct Instance {
    raw: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// The library; unloaded last.
    _entry: ash::Entry,
}

impl Instance {
    pub(crate) fn new() -> Result<Self, DeviceError> {
        let validation = std::env::var_os("VEIL_VULKAN_VALIDATION").is_some_and(|value| value == "1");
        // SAFETY: the loader is what the name says; its initialisers are those of a system library.
        let entry = unsafe { ash::Entry::load() }.map_err(DeviceError::Loader)?;
        // SAFETY: no conditions; a loader of Vulkan 1.0 does not have it.
        let version = unsafe { entry.try_enumerate_instance_version() };
        let version = version
            .map_err(|error| refused("the loader's version", error))?
            .unwrap_or(vk::API_VERSION_1_0);
        if version < API {
            return Err(DeviceError::Version {
                what: "the Vulkan loader".into(),
                major: vk::api_version_major(version),
                minor: vk::api_version_minor(version),
            });
        }
        let app = vk::ApplicationInfo::default()
            .application_name(c"veil")
            .api_version(API);
        let layers = [LAYER.as_ptr()];
        let extensions = [ext::debug_utils::NAME.as_ptr()];
        let features = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&features);
        // Also tells what goes wrong while the instance is made and destroyed.
        let mut messages = messenger_info();
        let mut info = vk::InstanceCreateInfo::default().application_info(&app);
        if validation {
            info = info
                .enabled_layer_names(&layers)
                .enabled_extension_names(&extensions)
                .push_next(&mut features)
                .push_next(&mut messages);
        }
        // SAFETY: names and structures live until the call returns.
        let raw =
            fault::call(|| unsafe { entry.create_instance(&info, None) }).map_err(|error| match error {
                vk::Result::ERROR_LAYER_NOT_PRESENT => DeviceError::Validation,
                error => refused("an instance", error),
            })?;
        let mut instance = Self {
            raw,
            messenger: None,
            _entry: entry,
        };
        if validation {
            let messages = ext::debug_utils::Instance::new(&instance._entry, &instance.raw);
            // SAFETY: the extension is enabled; the callback never unwinds.
            let messenger =
                fault::call(|| unsafe { messages.create_debug_utils_messenger(&messenger_info(), None) })
                    .map_err(|error| refused("a debug messenger", error))?;
            instance.messenger = Some((messages, messenger));
        }
        Ok(instance)
    }

    pub(crate) fn raw(&self) -> &ash::Instance {
        &self.raw
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: devices hold the instance, so all are gone (VUID-vkDestroyInstance-instance-00629).
        unsafe {
            if let Some((messages, messenger)) = &self.messenger {
                messages.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

pub(crate) fn refused(what: &'static str, error: vk::Result) -> DeviceError {
    DeviceError::Vulkan { what, error }
}

fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        )
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::GENERAL
                | vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION
                | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
        )
        .pfn_user_callback(Some(message))
}

/// Counts and logs a message.
///
/// # Safety
/// As the specification says of `PFN_vkDebugUtilsMessengerCallbackEXT`: `data` is valid for this call.
unsafe extern "system" fn message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: valid for this call, as Vulkan says; the text is then a string, where there is one.
    let text = unsafe { data.as_ref().and_then(|data| data.message_as_c_str()) };
    let text = text.map_or_else(Default::default, CStr::to_string_lossy);
    // The loader's own words about other people's drivers and layers are not about veil.
    if kind.contains(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        || kind.contains(vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE)
    {
        MESSAGES.fetch_add(1, Ordering::Relaxed);
        tracing::error!("Vulkan's validation layer: {text}");
    } else {
        tracing::debug!("the Vulkan loader: {text}");
    }
    vk::FALSE
}
