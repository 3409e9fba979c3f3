//! Memory of its own for one image, shared as a dmabuf. gpu-allocator cannot do this: it knows nothing of such handles.

use crate::device::Device;
use ash::{prelude::VkResult, vk};
use std::{
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd},
    sync::Arc,
};

const DMA_BUF: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;

/// An image, its memory, and its view.
pub(crate) struct SharedImage {
    device: Arc<Device>,
    image: vk::Image,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
}

/// Why an image has no memory.
#[derive(Debug, thiserror::Error)]
pub enum SharedImageError {
    /// The device is one that shares no dmabufs.
    #[error("the device shares no dmabufs")]
    NotShared,
    /// Vulkan refused something.
    #[error("Vulkan refused {what}: {error}")]
    Vulkan {
        /// What.
        what: &'static str,
        /// Why.
        error: vk::Result,
    },
    /// The device has no kind of memory that image and dmabuf take.
    #[error("the device has no memory that fits both the image and the dmabuf")]
    Kind,
    /// Descriptors have run out.
    #[error("a descriptor cannot be copied: {0}")]
    Descriptor(std::io::Error),
}

pub(crate) fn refused(what: &'static str) -> impl Fn(vk::Result) -> SharedImageError {
    move |error| SharedImageError::Vulkan { what, error }
}

/// The only level and layer there is.
pub(crate) const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

impl SharedImage {
    /// Makes the image, without memory. `info` says that it is external, and how it lies in memory.
    ///
    /// # Safety
    /// `info` is valid for this device.
    pub(crate) unsafe fn new(
        device: &Arc<Device>,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<Self, SharedImageError> {
        let image = device
            // SAFETY: as the caller says.
            .call(|raw| unsafe { raw.create_image(info, None) })
            .map_err(refused("an image"))?;
        Ok(Self {
            device: Arc::clone(device),
            image,
            memory: vk::DeviceMemory::null(),
            view: vk::ImageView::null(),
        })
    }

    pub(crate) fn raw(&self) -> vk::Image {
        self.image
    }

    pub(crate) fn view(&self) -> vk::ImageView {
        self.view
    }

    fn requirements(&self) -> vk::MemoryRequirements {
        // SAFETY: the image is of this device, and not disjoint (VUID-vkGetImageMemoryRequirements-image-01588).
        unsafe { self.device.raw().get_image_memory_requirements(self.image) }
    }

    /// Takes the memory of a dmabuf, which stays open; this holds a reference of its own to the memory.
    pub(crate) fn import(&mut self, dmabuf: BorrowedFd<'_>) -> Result<(), SharedImageError> {
        let memory_fd = self.device.memory_fd().ok_or(SharedImageError::NotShared)?;
        let mut properties = vk::MemoryFdPropertiesKHR::default();
        self.device
            // SAFETY: the descriptor is open, and the handle type is not OPAQUE_FD
            // (VUID-vkGetMemoryFdPropertiesKHR-fd-00673, -handleType-00674).
            .call(|_| unsafe {
                memory_fd.get_memory_fd_properties(DMA_BUF, dmabuf.as_raw_fd(), &mut properties)
            })
            .map_err(refused("the dmabuf's memory"))?;
        let requirements = self.requirements();
        let kind = self
            .device
            .memory_type(requirements.memory_type_bits & properties.memory_type_bits)
            .ok_or(SharedImageError::Kind)?;
        let fd = dmabuf
            .try_clone_to_owned()
            .map_err(SharedImageError::Descriptor)?;
        let mut import = vk::ImportMemoryFdInfoKHR::default()
            .handle_type(DMA_BUF)
            .fd(fd.as_raw_fd());
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(self.image);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size)
            .memory_type_index(kind)
            .push_next(&mut import)
            .push_next(&mut dedicated);
        self.allocate(&info)?;
        // Vulkan owns it since the call succeeded; had it failed, it would be closed here.
        let _ = fd.into_raw_fd();
        self.bind()
    }

    /// Takes new memory that can be exported.
    pub(crate) fn allocate_exportable(&mut self) -> Result<(), SharedImageError> {
        let requirements = self.requirements();
        let kind = self
            .device
            .memory_type(requirements.memory_type_bits)
            .ok_or(SharedImageError::Kind)?;
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(DMA_BUF);
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(self.image);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size)
            .memory_type_index(kind)
            .push_next(&mut export)
            .push_next(&mut dedicated);
        self.allocate(&info)?;
        self.bind()
    }

    fn allocate(&mut self, info: &vk::MemoryAllocateInfo<'_>) -> Result<(), SharedImageError> {
        self.memory = self
            .device
            // SAFETY: the memory is dedicated to the image and of its size
            // (VUID-VkMemoryDedicatedAllocateInfo-image-02964, -01878), of a kind that both the image and, when imported, the
            // descriptor take (VUID-VkMemoryAllocateInfo-memoryTypeIndex-00648); it is given once.
            .call(|raw| unsafe { raw.allocate_memory(info, None) })
            .map_err(refused("memory for an image"))?;
        Ok(())
    }

    fn bind(&self) -> Result<(), SharedImageError> {
        self.device
            // SAFETY: the memory is dedicated to this image, begins with it, and was not bound before
            // (VUID-vkBindImageMemory-memory-02628, -image-07460).
            .call(|raw| unsafe { raw.bind_image_memory(self.image, self.memory, 0) })
            .map_err(refused("binding an image's memory"))
    }

    /// Makes the view, once memory is there.
    pub(crate) fn make_view(&mut self, format: vk::Format) -> Result<(), SharedImageError> {
        let info = vk::ImageViewCreateInfo::default()
            .image(self.image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(WHOLE);
        self.view = self
            .device
            // SAFETY: the image has memory (VUID-VkImageViewCreateInfo-image-01020) and this format (-image-01762).
            .call(|raw| unsafe { raw.create_image_view(&info, None) })
            .map_err(refused("an image's view"))?;
        Ok(())
    }

    /// A new descriptor of the exportable memory.
    pub(crate) fn export(&self) -> Result<OwnedFd, SharedImageError> {
        let memory_fd = self.device.memory_fd().ok_or(SharedImageError::NotShared)?;
        let info = vk::MemoryGetFdInfoKHR::default()
            .memory(self.memory)
            .handle_type(DMA_BUF);
        // SAFETY: the memory was allocated to be exported so (VUID-VkMemoryGetFdInfoKHR-handleType-00671).
        let fd: VkResult<i32> = self.device.call(|_| unsafe { memory_fd.get_memory_fd(&info) });
        let fd = fd.map_err(refused("a dmabuf of an image"))?;
        // SAFETY: the descriptor is new, and ours.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

impl Drop for SharedImage {
    fn drop(&mut self) {
        let raw = self.device.raw();
        // SAFETY: whoever submits work with it holds it until that has finished
        // (VUID-vkDestroyImage-image-01000, VUID-vkFreeMemory-memory-00677); null handles are allowed.
        unsafe {
            raw.destroy_image_view(self.view, None);
            raw.destroy_image(self.image, None);
            raw.free_memory(self.memory, None);
        }
    }
}
