//! An image to draw into, whose pixels come back.

use ash::vk;
use gpu_allocator::{
    MemoryLocation,
    vulkan::{Allocation, AllocationCreateDesc, AllocationScheme},
};
use std::sync::Arc;
use veil_frame::Size;
use veil_gpu::device::Device;

const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

pub struct Readback {
    device: Arc<Device>,
    size: Size,
    image: vk::Image,
    pub view: vk::ImageView,
    image_memory: Option<Allocation>,
    buffer: vk::Buffer,
    buffer_memory: Option<Allocation>,
}

impl Readback {
    pub fn new(device: &Arc<Device>, size: Size, format: vk::Format) -> Self {
        let raw = device.raw();
        let image_info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent(size))
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC);
        let buffer_info = vk::BufferCreateInfo::default()
            .size(u64::from(size.w * size.h * 4))
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        let allocate = |requirements, location, linear| {
            let desc = AllocationCreateDesc {
                name: "readback",
                requirements,
                location,
                linear,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            };
            device.allocate(&desc).unwrap()
        };
        // SAFETY: all of one device; memory as the allocator was asked; destroyed by `drop`.
        unsafe {
            let image = raw.create_image(&image_info, None).unwrap();
            let buffer = raw.create_buffer(&buffer_info, None).unwrap();
            let of_image = raw.get_image_memory_requirements(image);
            let of_buffer = raw.get_buffer_memory_requirements(buffer);
            let image_memory = allocate(of_image, MemoryLocation::GpuOnly, false);
            let buffer_memory = allocate(of_buffer, MemoryLocation::GpuToCpu, true);
            raw.bind_image_memory(image, image_memory.memory(), image_memory.offset())
                .unwrap();
            raw.bind_buffer_memory(buffer, buffer_memory.memory(), buffer_memory.offset())
                .unwrap();
            let view_info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(WHOLE);
            let view = raw.create_image_view(&view_info, None).unwrap();
            Self {
                device: Arc::clone(device),
                size,
                image,
                view,
                image_memory: Some(image_memory),
                buffer,
                buffer_memory: Some(buffer_memory),
            }
        }
    }

    /// Records what makes the image ready to be drawn into.
    pub fn begin(&self, commands: vk::CommandBuffer) {
        let barrier = vk::ImageMemoryBarrier::default()
            .image(self.image)
            .subresource_range(WHOLE)
            .dst_access_mask(vk::AccessFlags::SHADER_WRITE)
            .new_layout(vk::ImageLayout::GENERAL);
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded.
        unsafe {
            let raw = self.device.raw();
            raw.cmd_pipeline_barrier(commands, compute, compute, none, &[], &[], &[barrier]);
        }
    }

    /// Records the copy into the buffer.
    pub fn end(&self, commands: vk::CommandBuffer) {
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let drawn = vk::ImageMemoryBarrier::default()
            .image(self.image)
            .subresource_range(WHOLE)
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
            .old_layout(vk::ImageLayout::GENERAL)
            .new_layout(layout);
        let copied = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(extent(self.size));
        let (compute, transfer, host) = (
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::HOST,
        );
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded; the region is the whole image and buffer.
        unsafe {
            let raw = self.device.raw();
            raw.cmd_pipeline_barrier(commands, compute, transfer, none, &[], &[], &[drawn]);
            raw.cmd_copy_image_to_buffer(commands, self.image, layout, self.buffer, &[region]);
            raw.cmd_pipeline_barrier(commands, transfer, host, none, &[copied], &[], &[]);
        }
    }

    /// The pixels, row by row, once the commands have ended.
    pub fn words(&self) -> Vec<u32> {
        let bytes = self
            .buffer_memory
            .as_ref()
            .and_then(Allocation::mapped_slice)
            .unwrap();
        let (words, _) = bytes[..(self.size.w * self.size.h * 4) as usize].as_chunks();
        words.iter().copied().map(u32::from_le_bytes).collect()
    }
}

fn extent(size: Size) -> vk::Extent3D {
    vk::Extent3D {
        width: size.w,
        height: size.h,
        depth: 1,
    }
}

impl Drop for Readback {
    fn drop(&mut self) {
        // SAFETY: nothing runs any more.
        unsafe {
            let raw = self.device.raw();
            raw.destroy_image_view(self.view, None);
            raw.destroy_image(self.image, None);
            raw.destroy_buffer(self.buffer, None);
        }
        for memory in [self.image_memory.take(), self.buffer_memory.take()] {
            self.device.free(memory.unwrap());
        }
    }
}
