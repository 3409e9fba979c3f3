//! Pictures in plain memory, brought to the device.
//!
//! The CPU writes each byte once, into a staging buffer that stays mapped; the device copies it into an image a plane,
//! which the conversion reads like any other. Reading the staging buffer in the shader would save that copy, but chroma
//! samples are read up to four times, and on a device with memory of its own each read would cross the bus, which the
//! copy crosses once, in long runs. It also keeps one shader for all sources. The images are shared by all slots, since
//! one queue does one frame after the other.

use crate::{
    convert::{PlaneLayout, PlaneViews, planes},
    device::Device,
    mapped::{MappedBuffer, MappedBufferError},
    shared_memory::WHOLE,
};
use ash::vk;
use gpu_allocator::{
    MemoryLocation,
    vulkan::{Allocation, AllocationCreateDesc, AllocationScheme},
};
use std::sync::Arc;
use veil_frame::{PixelFormat, Planes, Size};

/// A picture cannot be brought to the device.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The format is one of those that a GPU cannot read as images.
    #[error("pictures in {} cannot be read by a GPU; convert them on the CPU", .0.info().name)]
    Format(PixelFormat),
    /// The device has no images as large as a plane.
    #[error(
        "a plane of {width}x{height} texels is too large for this device: {most} along each axis are possible"
    )]
    Size {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
        /// The device's limit.
        most: u32,
    },
    /// A plane's memory ends before its last row.
    #[error("plane {plane} has {bytes} bytes, {needed} are needed")]
    Short {
        /// Index of the plane.
        plane: usize,
        /// Bytes that are there.
        bytes: usize,
        /// Bytes that rows at this stride need.
        needed: usize,
    },
    /// No staging buffer.
    #[error(transparent)]
    Buffer(#[from] MappedBufferError),
    /// No memory for a plane's image.
    #[error("no memory for a plane's image: {0}")]
    Memory(#[from] gpu_allocator::AllocationError),
    /// Vulkan refused.
    #[error("the device refused an image for a plane: {0}")]
    Vulkan(#[from] vk::Result),
}

/// Staging buffers for pictures of one format and size, and the images that they are copied into.
pub struct Upload {
    planes: Vec<Plane>,
    staging: Vec<MappedBuffer>,
    views: PlaneViews,
    device: Arc<Device>,
}

/// A plane: where it lies in a staging buffer, and its image.
struct Plane {
    layout: PlaneLayout,
    /// Bytes of a row.
    row: usize,
    /// Bytes from a row to the next in the staging buffer.
    pitch: usize,
    /// The first byte in the staging buffer.
    offset: usize,
    image: DeviceImage,
}

impl Upload {
    /// Room for `slots` pictures in flight.
    ///
    /// # Errors
    /// When the format, the size or memory does not allow it.
    pub fn new(
        device: &Arc<Device>,
        format: PixelFormat,
        size: Size,
        slots: usize,
    ) -> Result<Self, UploadError> {
        let layouts = planes(format, size.w, size.h).ok_or(UploadError::Format(format))?;
        let limits = device.limits();
        // Powers of two, all of them; those of the device are wishes.
        let align = |value: usize, wish: u64, texel: u32| {
            value.next_multiple_of((wish.clamp(4, 4096) as usize).max(texel as usize))
        };
        let mut uploaded = Vec::new();
        let mut end = 0;
        for (index, layout) in layouts.enumerate() {
            let most = device.largest_image();
            if layout.width > most || layout.height > most {
                return Err(UploadError::Size {
                    width: layout.width,
                    height: layout.height,
                    most,
                });
            }
            let row = format.info().plane_row_bytes(index, size.w);
            let pitch = align(row, limits.optimal_buffer_copy_row_pitch_alignment, layout.texel);
            let offset = align(end, limits.optimal_buffer_copy_offset_alignment, layout.texel);
            end = offset + pitch * layout.height as usize;
            uploaded.push(Plane {
                layout,
                row,
                pitch,
                offset,
                image: DeviceImage::new(device, &layout)?,
            });
        }
        let staging = (0..slots)
            .map(|_| MappedBuffer::new(device, "staging", end, vk::BufferUsageFlags::TRANSFER_SRC))
            .collect::<Result<_, _>>()?;
        let mut views = PlaneViews::default();
        for (view, plane) in views.iter_mut().zip(&uploaded) {
            *view = plane.image.view;
        }
        Ok(Self {
            planes: uploaded,
            staging,
            views,
            device: Arc::clone(device),
        })
    }

    /// The images, for [`Conversion::record`](crate::convert::Conversion::record).
    pub fn views(&self) -> &PlaneViews {
        &self.views
    }

    /// Writes a picture into a slot's staging buffer, and says how many bytes that were. What was recorded with this slot
    /// before must have finished, or the device sees a mixture.
    ///
    /// # Errors
    /// [`UploadError::Short`] if a plane's memory is too short; then nothing of it was read.
    pub fn write(&mut self, slot: usize, picture: &Planes<'_>) -> Result<u64, UploadError> {
        let bytes = self.staging[slot].bytes();
        let mut written = 0;
        for (index, plane) in self.planes.iter().enumerate() {
            let (data, stride) = (picture.data[index], picture.stride[index]);
            let rows = plane.layout.height as usize;
            let needed = stride * (rows - 1) + plane.row;
            if data.len() < needed || stride < plane.row {
                return Err(UploadError::Short {
                    plane: index,
                    bytes: data.len(),
                    needed,
                });
            }
            let to = &mut bytes[plane.offset..][..plane.pitch * rows];
            if stride == plane.pitch {
                to[..needed].copy_from_slice(&data[..needed]);
                written += needed;
            } else {
                for (to, from) in to.chunks_exact_mut(plane.pitch).zip(data.chunks(stride)) {
                    to[..plane.row].copy_from_slice(&from[..plane.row]);
                }
                written += plane.row * rows;
            }
        }
        Ok(written as u64)
    }

    /// Records the copy of a slot's picture into the images, which compute shaders can read afterwards, in the layout
    /// `GENERAL`.
    ///
    /// # Safety
    /// `commands` is being recorded, for a queue of this device; all that was recorded with this object before went to
    /// the same queue.
    pub unsafe fn record(&self, commands: vk::CommandBuffer, slot: usize) {
        let raw = self.device.raw();
        let mut before = [vk::ImageMemoryBarrier::default(); 4];
        let mut after = before;
        let count = self.planes.len();
        for (i, plane) in self.planes.iter().enumerate() {
            let barrier = plane.image.barrier();
            // What was in the image is of no use; reads of it must have ended.
            before[i] = barrier
                .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            after[i] = barrier
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::SHADER_READ)
                .old_layout(vk::ImageLayout::TRANSFER_DST_OPTIMAL)
                .new_layout(vk::ImageLayout::GENERAL);
        }
        let (compute, transfer) = (
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::TRANSFER,
        );
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded, as the caller says. Regions lie inside of buffer and image, at
        // offsets that are multiples of the texel and of 4 (VUID-vkCmdCopyBufferToImage-pRegions-00171,
        // VUID-vkCmdCopyBufferToImage-dstImage-07975, -07978), and row lengths are whole texels.
        unsafe {
            raw.cmd_pipeline_barrier(
                commands,
                compute | transfer,
                transfer,
                none,
                &[],
                &[],
                &before[..count],
            );
            for plane in &self.planes {
                raw.cmd_copy_buffer_to_image(
                    commands,
                    self.staging[slot].raw(),
                    plane.image.raw,
                    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                    &[plane.region()],
                );
            }
            raw.cmd_pipeline_barrier(commands, transfer, compute, none, &[], &[], &after[..count]);
        }
    }
}

impl Plane {
    fn region(&self) -> vk::BufferImageCopy {
        vk::BufferImageCopy::default()
            .buffer_offset(self.offset as u64)
            .buffer_row_length(self.pitch as u32 / self.layout.texel)
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(vk::Extent3D {
                width: self.layout.width,
                height: self.layout.height,
                depth: 1,
            })
    }
}

/// An image in the device's memory, with its view.
struct DeviceImage {
    device: Arc<Device>,
    raw: vk::Image,
    view: vk::ImageView,
    allocation: Option<Allocation>,
}

impl DeviceImage {
    fn new(device: &Arc<Device>, layout: &PlaneLayout) -> Result<Self, UploadError> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(layout.format)
            .extent(vk::Extent3D {
                width: layout.width,
                height: layout.height,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        let mut image = Self {
            device: Arc::clone(device),
            raw: vk::Image::null(),
            view: vk::ImageView::null(),
            allocation: None,
        };
        // SAFETY: extents are within the limits (VUID-VkImageCreateInfo-extent-02252, -02253); `image` destroys what is
        // made.
        image.raw = device.call(|raw| unsafe { raw.create_image(&info, None) })?;
        // SAFETY: the image is of this device.
        let requirements = unsafe { device.raw().get_image_memory_requirements(image.raw) };
        let desc = AllocationCreateDesc {
            name: "plane",
            requirements,
            location: MemoryLocation::GpuOnly,
            linear: false,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let allocation = image.allocation.insert(device.allocate(&desc)?);
        // SAFETY: memory of a kind that the image takes, at an offset that it is aligned to, as the allocator was asked
        // (VUID-vkBindImageMemory-memory-01047, -memoryOffset-01048); bound once (-image-07460), freed after the image.
        device.call(|raw| unsafe {
            raw.bind_image_memory(image.raw, allocation.memory(), allocation.offset())
        })?;
        let view_info = vk::ImageViewCreateInfo::default()
            .image(image.raw)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(layout.format)
            .subresource_range(WHOLE);
        // SAFETY: the image has memory (VUID-VkImageViewCreateInfo-image-01020) and this format.
        image.view = device.call(|raw| unsafe { raw.create_image_view(&view_info, None) })?;
        Ok(image)
    }

    fn barrier(&self) -> vk::ImageMemoryBarrier<'static> {
        vk::ImageMemoryBarrier::default()
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.raw)
            .subresource_range(WHOLE)
    }
}

impl Drop for DeviceImage {
    fn drop(&mut self) {
        // SAFETY: whoever drops it has waited for the device (VUID-vkDestroyImage-image-01000).
        unsafe {
            self.device.raw().destroy_image_view(self.view, None);
            self.device.raw().destroy_image(self.raw, None);
        }
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
    }
}
