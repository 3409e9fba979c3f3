//! The device that converts: which one it is, and what is shared by everything that is made on it.
//!
//! One queue of one family is used. A family that computes but does not draw is preferred: on devices that have one its
//! work runs beside what compositor and games draw, instead of in line with it. Commands that draw are never needed.

mod choice;
mod extensions;
mod handle;
mod physical;

pub use choice::DeviceChoice;
pub use physical::DeviceInfo;

use crate::{fault, formats::Formats, instance::Instance};
use ash::{prelude::VkResult, vk};
use extensions::Extensions;
use gpu_allocator::{
    AllocationError, AllocationSizes, AllocatorDebugSettings,
    vulkan::{Allocation, AllocationCreateDesc, Allocator, AllocatorCreateDesc},
};
use handle::{Functions, RawDevice, create};
use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// No device could be opened.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no Vulkan.
    #[error(
        "the Vulkan loader cannot be loaded ({0}): install it (libvulkan1 in Debian) and the driver of your GPU"
    )]
    Loader(ash::LoadingError),
    /// Loader or driver are too old.
    #[error("{what} has Vulkan {major}.{minor}, 1.2 is needed: update it")]
    Version {
        /// What is too old.
        what: String,
        /// Its version.
        major: u32,
        /// Its version.
        minor: u32,
    },
    /// Validation is asked for, and not installed.
    #[error("VEIL_VULKAN_VALIDATION is set, and VK_LAYER_KHRONOS_validation is not installed")]
    Validation,
    /// The driver lacks something.
    #[error("{device} has no {missing}, without which dmabufs cannot be shared: update its driver")]
    Missing {
        /// The device's name.
        device: String,
        /// What it lacks.
        missing: &'static str,
    },
    /// No device is the one that is asked for.
    #[error("no Vulkan device is {choice}; there are: {devices}")]
    NotFound {
        /// What was asked for.
        choice: String,
        /// All devices.
        devices: String,
    },
    /// More than one device is what is asked for.
    #[error(
        "more than one Vulkan device is {choice}: {devices}; choose by render node (/dev/dri/renderD128)"
    )]
    Ambiguous {
        /// What was asked for.
        choice: String,
        /// The devices that are.
        devices: String,
    },
    /// Vulkan refused something.
    #[error("Vulkan refused {what}: {error}")]
    Vulkan {
        /// What.
        what: &'static str,
        /// Why.
        error: vk::Result,
    },
    /// The allocator could not be made.
    #[error("no memory of the device can be managed: {0}")]
    Allocator(AllocationError),
}

/// An open device. Whatever is made on it holds an `Arc` of it, and is destroyed before it.
pub struct Device {
    // Dropped in this order.
    allocator: Mutex<Allocator>,
    functions: Functions,
    raw: RawDevice,
    info: DeviceInfo,
    limits: vk::PhysicalDeviceLimits,
    memory: vk::PhysicalDeviceMemoryProperties,
    physical: vk::PhysicalDevice,
    family: u32,
    queue: Mutex<vk::Queue>,
    extensions: Extensions,
    extended_storage: bool,
    formats: OnceLock<Formats>,
    lost: AtomicBool,
    instance: Instance,
}

impl Device {
    /// All devices of this machine, whether or not they can be used, in the loader's order.
    ///
    /// # Errors
    /// [`DeviceError`] where there is no Vulkan.
    pub fn all() -> Result<Vec<DeviceInfo>, DeviceError> {
        let all = physical::enumerate(&Instance::new()?)?;
        Ok(all.into_iter().map(|(_, info)| info).collect())
    }

    /// Opens the chosen device, which must share dmabufs.
    ///
    /// # Errors
    /// [`DeviceError`] says what is missing.
    pub fn open(choice: &DeviceChoice) -> Result<Arc<Self>, DeviceError> {
        Self::new(choice, true)
    }

    /// Opens the chosen device even if it shares no dmabufs: for whoever reads pictures back, as tests do.
    ///
    /// # Errors
    /// [`DeviceError`] says what is missing.
    pub fn open_without_dmabufs(choice: &DeviceChoice) -> Result<Arc<Self>, DeviceError> {
        Self::new(choice, false)
    }

    fn new(choice: &DeviceChoice, dmabufs: bool) -> Result<Arc<Self>, DeviceError> {
        let instance = Instance::new()?;
        let all = physical::enumerate(&instance)?;
        let infos: Vec<_> = all.iter().map(|(_, info)| info.clone()).collect();
        let index = choice.among(&infos)?;
        let (physical, info) = (all[index].0, infos[index].clone());
        let (major, minor) = info.api_version;
        if (major, minor) < (1, 2) {
            return Err(DeviceError::Version {
                what: format!("the driver of {}", info.name),
                major,
                minor,
            });
        }
        let extensions = Extensions::of(&instance, physical)?;
        if let Some(missing) = extensions.missing_for_dmabufs().filter(|_| dmabufs) {
            let device = info.name;
            return Err(DeviceError::Missing { device, missing });
        }
        let family = physical::family(&instance, physical).ok_or_else(|| DeviceError::Missing {
            device: info.name.clone(),
            missing: "queue that computes",
        })?;
        // SAFETY: the physical device is of the instance.
        let features = unsafe { instance.raw().get_physical_device_features(physical) };
        let extended_storage = features.shader_storage_image_extended_formats != 0;
        let raw = create(&instance, physical, family, &extensions, extended_storage)?;
        tracing::info!(
            "Vulkan device {}, driver {}, {}",
            info.name,
            info.driver,
            extensions
        );
        // SAFETY: the physical device is of the instance; the queue was asked for when the device was made
        // (VUID-vkGetDeviceQueue-queueFamilyIndex-00384).
        let (properties, memory, queue) = unsafe {
            let of = instance.raw();
            (
                of.get_physical_device_properties(physical),
                of.get_physical_device_memory_properties(physical),
                raw.0.get_device_queue(family, 0),
            )
        };
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw().clone(),
            device: raw.0.clone(),
            physical_device: physical,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: false,
            allocation_sizes: AllocationSizes::default(),
        })
        .map_err(DeviceError::Allocator)?;
        let functions = Functions::new(&instance, &raw.0, &extensions);
        Ok(Arc::new(Self {
            allocator: Mutex::new(allocator),
            functions,
            raw,
            info,
            limits: properties.limits,
            memory,
            physical,
            family,
            queue: Mutex::new(queue),
            extensions,
            extended_storage,
            formats: OnceLock::new(),
            lost: AtomicBool::new(false),
            instance,
        }))
    }

    /// Who it is.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Whether it was lost: nothing on it works any more, and it has to be opened anew.
    pub fn lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// What it reads and writes; asked for once.
    pub fn formats(&self) -> &Formats {
        self.formats.get_or_init(|| Formats::of(self))
    }

    /// Whether shaders write images of 10 bits a colour.
    pub fn extended_storage(&self) -> bool {
        self.extended_storage
    }

    /// The largest width and height of an image.
    pub fn largest_image(&self) -> u32 {
        self.limits.max_image_dimension2_d
    }

    /// Waits until it has nothing to do.
    ///
    /// # Errors
    /// Where the device was lost.
    pub fn wait_idle(&self) -> VkResult<()> {
        // SAFETY: the lock keeps others from the queue meanwhile (VUID-vkQueueWaitIdle-queue-parameter).
        self.call(|raw| unsafe {
            raw.queue_wait_idle(*self.queue.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    /// The functions of the device and its handle, for whoever records commands of their own.
    pub fn raw(&self) -> &ash::Device {
        &self.raw.0
    }

    pub(crate) fn instance(&self) -> &Instance {
        &self.instance
    }

    pub(crate) fn physical(&self) -> vk::PhysicalDevice {
        self.physical
    }

    /// Its limits.
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.limits
    }

    /// The family of its queue.
    pub fn family(&self) -> u32 {
        self.family
    }

    /// The family that owns what is handed to others: decoders, compositors.
    pub(crate) fn foreign_family(&self) -> u32 {
        self.extensions.foreign_family()
    }

    pub(crate) fn memory_fd(&self) -> Option<&ash::khr::external_memory_fd::Device> {
        self.functions.memory_fd.as_ref()
    }

    pub(crate) fn modifiers(&self) -> Option<&ash::ext::image_drm_format_modifier::Device> {
        self.functions.modifiers.as_ref()
    }

    pub(crate) fn semaphore_fd(&self) -> Option<&ash::khr::external_semaphore_fd::Device> {
        self.functions.semaphore_fd.as_ref()
    }

    /// Runs a call that the device may refuse, and takes note when it is lost.
    pub(crate) fn call<T>(&self, call: impl FnOnce(&ash::Device) -> VkResult<T>) -> VkResult<T> {
        let result = fault::call(|| call(self.raw()));
        if let Err(vk::Result::ERROR_DEVICE_LOST) = result {
            self.lost.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Hands work to the queue.
    ///
    /// # Safety
    /// As for `vkQueueSubmit`, but for the queue, which is locked.
    ///
    /// # Errors
    /// Where memory has run out, or the device was lost.
    pub unsafe fn submit(&self, work: &[vk::SubmitInfo<'_>], fence: vk::Fence) -> VkResult<()> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as the caller says.
        self.call(|raw| unsafe { raw.queue_submit(*queue, work, fence) })
    }

    /// Waits for a fence of this device; false if `limit` is over before.
    ///
    /// # Errors
    /// Where the device was lost.
    pub(crate) fn wait(&self, fence: vk::Fence, limit: Duration) -> VkResult<bool> {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence is of this device, as all callers' are (VUID-vkWaitForFences-pFences-parent).
        match self.call(|raw| unsafe { raw.wait_for_fences(&[fence], true, limit) }) {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes memory that is not shared.
    ///
    /// # Errors
    /// Where there is none, or none of that kind.
    pub fn allocate(&self, desc: &AllocationCreateDesc<'_>) -> Result<Allocation, AllocationError> {
        fault::call(|| Ok(())).map_err(|_| AllocationError::OutOfMemory)?;
        self.allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .allocate(desc)
    }

    /// Gives memory back, which nothing uses any more.
    pub fn free(&self, allocation: Allocation) {
        let freed = self
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .free(allocation);
        if let Err(error) = freed {
            tracing::error!("memory of the device cannot be given back: {error}");
        }
    }

    /// The first of these kinds of memory (a bit each), on the device where one is.
    pub(crate) fn memory_type(&self, kinds: u32) -> Option<u32> {
        let types = &self.memory.memory_types[..self.memory.memory_type_count as usize];
        let local = |kind: &u32| {
            types[*kind as usize]
                .property_flags
                .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
        };
        let mut allowed = (0..self.memory.memory_type_count).filter(|kind| kinds & (1 << kind) != 0);
        allowed.clone().find(local).or_else(|| allowed.next())
    }
}
