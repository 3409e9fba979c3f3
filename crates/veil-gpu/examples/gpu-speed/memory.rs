//! Memory of the device: to be drawn in, and to be copied.

use anyhow::Result;
use ash::vk;
use gpu_allocator::{
    MemoryLocation,
    vulkan::{Allocation, AllocationCreateDesc, AllocationScheme},
};
use std::sync::Arc;
use veil_frame::Size;
use veil_gpu::Device;

const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// An image to draw in, as the device likes it.
pub(crate) struct Canvas {
    device: Arc<Device>,
    image: vk::Image,
    pub(crate) view: vk::ImageView,
    memory: Option<Allocation>,
}

impl Canvas {
    pub(crate) fn new(device: &Arc<Device>, size: Size, format: vk::Format) -> Result<Self> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D {
                width: size.w,
                height: size.h,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::STORAGE);
        let raw = device.raw();
        let mut canvas = Self {
            device: Arc::clone(device),
            image: vk::Image::null(),
            view: vk::ImageView::null(),
            memory: None,
        };
        // SAFETY: every device stores to images of these formats and sizes; `drop` destroys what is made.
        let requirements = unsafe {
            canvas.image = raw.create_image(&info, None)?;
            raw.get_image_memory_requirements(canvas.image)
        };
        let memory = canvas
            .memory
            .insert(device.allocate(&desc("canvas", requirements, false))?);
        let view = vk::ImageViewCreateInfo::default()
            .image(canvas.image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(WHOLE);
        // SAFETY: memory as the image asked for.
        unsafe {
            raw.bind_image_memory(canvas.image, memory.memory(), memory.offset())?;
            canvas.view = raw.create_image_view(&view, None)?;
        }
        Ok(canvas)
    }

    /// What is drawn next overwrites what was drawn before, after that has ended.
    pub(crate) fn begin(&self, commands: vk::CommandBuffer) {
        let barrier = vk::ImageMemoryBarrier::default()
            .image(self.image)
            .subresource_range(WHOLE)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_WRITE)
            .new_layout(vk::ImageLayout::GENERAL);
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded.
        unsafe {
            self.device
                .raw()
                .cmd_pipeline_barrier(commands, compute, compute, none, &[], &[], &[barrier]);
        }
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        // SAFETY: all work has ended.
        unsafe {
            self.device.raw().destroy_image_view(self.view, None);
            self.device.raw().destroy_image(self.image, None);
        }
        if let Some(memory) = self.memory.take() {
            self.device.free(memory);
        }
    }
}

/// Bytes to copy.
pub(crate) struct Bytes {
    device: Arc<Device>,
    pub(crate) buffer: vk::Buffer,
    memory: Option<Allocation>,
}

impl Bytes {
    pub(crate) fn new(device: &Arc<Device>, len: u64) -> Result<Self> {
        let raw = device.raw();
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(len).usage(usage);
        let mut bytes = Self {
            device: Arc::clone(device),
            buffer: vk::Buffer::null(),
            memory: None,
        };
        // SAFETY: `drop` destroys what is made; memory as the buffer asked for.
        unsafe {
            bytes.buffer = raw.create_buffer(&info, None)?;
            let requirements = raw.get_buffer_memory_requirements(bytes.buffer);
            let memory = bytes
                .memory
                .insert(device.allocate(&desc("bytes", requirements, true))?);
            raw.bind_buffer_memory(bytes.buffer, memory.memory(), memory.offset())?;
        }
        Ok(bytes)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: all work has ended.
        unsafe { self.device.raw().destroy_buffer(self.buffer, None) };
        if let Some(memory) = self.memory.take() {
            self.device.free(memory);
        }
    }
}

fn desc(name: &str, requirements: vk::MemoryRequirements, linear: bool) -> AllocationCreateDesc<'_> {
    AllocationCreateDesc {
        name,
        requirements,
        location: MemoryLocation::GpuOnly,
        linear,
        allocation_scheme: AllocationScheme::GpuAllocatorManaged,
    }
}
