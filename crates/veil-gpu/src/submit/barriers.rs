//! Taking images over from others, and handing them back.

use crate::{device::Device, import::PlaneImages, shared_memory::WHOLE, target::TargetImage};
use ash::vk;
use std::sync::Arc;

/// Planes, and the target.
const MOST: usize = 4 + 1;

/// The barriers of one frame.
pub(super) struct Barriers {
    acquire: [vk::ImageMemoryBarrier<'static>; MOST],
    release: [vk::ImageMemoryBarrier<'static>; MOST],
    count: usize,
}

impl Barriers {
    pub(super) fn new(device: &Device, source: Option<&Arc<PlaneImages>>, target: &TargetImage) -> Self {
        let mut barriers = Self {
            acquire: [vk::ImageMemoryBarrier::default(); MOST],
            release: [vk::ImageMemoryBarrier::default(); MOST],
            count: 0,
        };
        let (ours, theirs) = (device.family(), device.foreign_family());
        let mut add = |image, access, old_layout, from| {
            let barrier = vk::ImageMemoryBarrier::default()
                .image(image)
                .subresource_range(WHOLE)
                .new_layout(vk::ImageLayout::GENERAL);
            barriers.acquire[barriers.count] = barrier
                .src_queue_family_index(from)
                .dst_queue_family_index(ours)
                .dst_access_mask(access)
                .old_layout(old_layout);
            barriers.release[barriers.count] = barrier
                .src_queue_family_index(ours)
                .dst_queue_family_index(theirs)
                .src_access_mask(access)
                .old_layout(vk::ImageLayout::GENERAL);
            barriers.count += 1;
        };
        for image in source.iter().flat_map(|planes| planes.images()) {
            add(
                image,
                vk::AccessFlags::SHADER_READ,
                vk::ImageLayout::GENERAL,
                theirs,
            );
        }
        // Only a new image has no layout yet, and no owner.
        let (layout, owner) = if target.was_drawn() {
            (vk::ImageLayout::GENERAL, theirs)
        } else {
            (vk::ImageLayout::UNDEFINED, ours)
        };
        add(target.image(), vk::AccessFlags::SHADER_WRITE, layout, owner);
        barriers
    }

    /// Records the beginning of a frame.
    pub(super) fn acquire(&self, device: &Device, commands: vk::CommandBuffer) {
        // The frame's waits are for the compute stage, too: so this comes after them.
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
        record(device, commands, compute, compute, &self.acquire[..self.count]);
    }

    /// Records the end of a frame.
    pub(super) fn release(&self, device: &Device, commands: vk::CommandBuffer) {
        let (compute, end) = (
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::BOTTOM_OF_PIPE,
        );
        record(device, commands, compute, end, &self.release[..self.count]);
    }
}

fn record(
    device: &Device,
    commands: vk::CommandBuffer,
    before: vk::PipelineStageFlags,
    after: vk::PipelineStageFlags,
    barriers: &[vk::ImageMemoryBarrier<'_>],
) {
    // SAFETY: the command buffer is being recorded, for a queue that computes (VUID-vkCmdPipelineBarrier-srcStageMask-06461,
    // -dstStageMask-06462); images have memory (VUID-VkImageMemoryBarrier-image-01932), and one family of each pair is the
    // queue's, the other the foreign one (-srcQueueFamilyIndex-04070).
    unsafe {
        device.raw().cmd_pipeline_barrier(
            commands,
            before,
            after,
            vk::DependencyFlags::empty(),
            &[],
            &[],
            barriers,
        );
    }
}
