//! Buffers that the CPU writes and the device reads.
//!
//! The memory is coherent, so what is written before a submission is there for it (the host's writes are made available
//! by `vkQueueSubmit` itself), and it stays mapped. Where the CPU reaches device memory, that is what it is taken from.

use crate::device::Device;
use ash::vk;
use gpu_allocator::{
    MemoryLocation,
    vulkan::{Allocation, AllocationCreateDesc, AllocationScheme},
};
use std::sync::Arc;

/// A buffer that is always mapped.
pub(crate) struct MappedBuffer {
    device: Arc<Device>,
    raw: vk::Buffer,
    allocation: Option<Allocation>,
    size: usize,
}

/// No buffer could be made.
#[derive(Debug, thiserror::Error)]
pub enum MappedBufferError {
    /// Vulkan refused.
    #[error("cannot make a buffer of {size} bytes: {error}")]
    Vulkan {
        /// Bytes asked for.
        size: usize,
        /// Why.
        error: vk::Result,
    },
    /// No memory was there, or none that both can reach.
    #[error("no memory for a buffer of {size} bytes: {error}")]
    Memory {
        /// Bytes asked for.
        size: usize,
        /// Why.
        error: gpu_allocator::AllocationError,
    },
}

impl MappedBuffer {
    /// A buffer of `size` bytes, for this usage.
    pub(crate) fn new(
        device: &Arc<Device>,
        name: &str,
        size: usize,
        usage: vk::BufferUsageFlags,
    ) -> Result<Self, MappedBufferError> {
        let vulkan = |error| MappedBufferError::Vulkan { size, error };
        let info = vk::BufferCreateInfo::default().size(size as u64).usage(usage);
        let raw = device
            // SAFETY: the size is not 0 (VUID-VkBufferCreateInfo-size-00912), and `buffer` destroys what is made.
            .call(|raw| unsafe { raw.create_buffer(&info, None) })
            .map_err(vulkan)?;
        let mut buffer = Self {
            device: Arc::clone(device),
            raw,
            allocation: None,
            size,
        };
        // SAFETY: the buffer is of this device.
        let requirements = unsafe { device.raw().get_buffer_memory_requirements(raw) };
        let desc = AllocationCreateDesc {
            name,
            requirements,
            location: MemoryLocation::CpuToGpu,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let allocation = device
            .allocate(&desc)
            .map_err(|error| MappedBufferError::Memory { size, error })?;
        let allocation = buffer.allocation.insert(allocation);
        device
            // SAFETY: memory of a kind that the buffer takes, at an offset that it is aligned to, as the allocator was
            // asked (VUID-vkBindBufferMemory-memory-01035, -memoryOffset-01036); bound once (-buffer-07459), freed after the
            // buffer.
            .call(|of| unsafe { of.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) })
            .map_err(vulkan)?;
        Ok(buffer)
    }

    /// The buffer.
    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Its bytes. Nothing that the device still reads may be written.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        let bytes = self.allocation.as_mut().and_then(Allocation::mapped_slice_mut);
        bytes.map_or(&mut [], |bytes| &mut bytes[..self.size])
    }
}

impl Drop for MappedBuffer {
    fn drop(&mut self) {
        // SAFETY: whoever drops it has waited for the device (VUID-vkDestroyBuffer-buffer-00922).
        unsafe { self.device.raw().destroy_buffer(self.raw, None) };
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
    }
}
