//! Room for one frame in flight: a command buffer, its fence and its semaphores, and what the frame needs.

use super::{SubmitError, refused, wait_for};
use crate::{device::Device, import::PlaneImages, sync::Semaphore, target::TargetImage};
use ash::{prelude::VkResult, vk};
use std::{os::fd::OwnedFd, sync::Arc, time::Duration};
use veil_dmabuf::fence::Use;

/// Semaphores that a frame may wait for: a source's dmabufs, and the target's.
pub(super) const WAITS: usize = 5;

/// The memory of command buffers.
pub(super) struct CommandPool {
    device: Arc<Device>,
    raw: vk::CommandPool,
}

impl CommandPool {
    pub(super) fn new(device: &Arc<Device>) -> VkResult<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family())
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the family is one of the device's (VUID-vkCreateCommandPool-queueFamilyIndex-01937).
        let raw = device.call(|raw| unsafe { raw.create_command_pool(&info, None) })?;
        Ok(Self {
            device: Arc::clone(device),
            raw,
        })
    }

    fn buffer(&self) -> VkResult<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.raw)
            .command_buffer_count(1);
        let buffers = self
            .device
            // SAFETY: the recorder has the pool, and is used by one thread at a time; the buffer goes with the pool.
            .call(|raw| unsafe { raw.allocate_command_buffers(&info) })?;
        buffers.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)
    }
}

impl Drop for CommandPool {
    fn drop(&mut self) {
        // SAFETY: the recorder waited for its frames (VUID-vkDestroyCommandPool-commandPool-00041).
        unsafe { self.device.raw().destroy_command_pool(self.raw, None) };
    }
}

pub(super) struct Slot {
    device: Arc<Device>,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    /// Whether the fence's work was submitted and is not known to have finished.
    pending: bool,
    /// The frame that had it last; 0 before the first.
    serial: u64,
    waits: [Semaphore; WAITS],
    signal: Option<Semaphore>,
    /// One whose signal nobody took, so it is of no use.
    spent: Option<Semaphore>,
    source: Option<Arc<PlaneImages>>,
    target: Option<Arc<TargetImage>>,
}

impl Slot {
    pub(super) fn new(device: &Arc<Device>, pool: &CommandPool, exports: bool) -> VkResult<Self> {
        let wait = || Semaphore::new(device);
        let waits = [wait()?, wait()?, wait()?, wait()?, wait()?];
        let signal = exports.then(|| Semaphore::exportable(device)).transpose()?;
        let commands = pool.buffer()?;
        // SAFETY: no conditions.
        let fence = device.call(|raw| unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) })?;
        Ok(Self {
            device: Arc::clone(device),
            commands,
            fence,
            pending: false,
            serial: 0,
            waits,
            signal,
            spent: None,
            source: None,
            target: None,
        })
    }

    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// Waits for the frame that has it, and lets go of what that needed.
    pub(super) fn finish(&mut self, limit: Duration, exports: bool) -> Result<(), SubmitError> {
        if self.pending {
            let done = self.device.wait(self.fence, limit).map_err(refused("waiting"))?;
            if !done {
                return Err(SubmitError::Late("the device"));
            }
            self.pending = false;
        }
        self.source = None;
        self.target = None;
        self.spent = None;
        if exports && self.signal.is_none() {
            self.signal = Some(Semaphore::exportable(&self.device).map_err(refused("a semaphore"))?);
        }
        Ok(())
    }

    /// Takes the fences that the frame has to wait for; says how many semaphores have one.
    pub(super) fn gather(
        &mut self,
        source: Option<&Arc<PlaneImages>>,
        target: &TargetImage,
        imports: bool,
    ) -> Result<usize, SubmitError> {
        let mut count = 0;
        let mut take = |file: OwnedFd| {
            let Some(semaphore) = self.waits.get(count).filter(|_| imports) else {
                return Ok(Some(file));
            };
            // SAFETY: the slot's last frame has finished.
            unsafe { semaphore.import(file) }?;
            count += 1;
            Ok(None)
        };
        for dmabuf in source.iter().flat_map(|planes| planes.dmabufs()) {
            wait_for("a source", dmabuf, Use::Read, &mut take)?;
        }
        if let Some(dmabuf) = target.fd() {
            wait_for("a target", dmabuf, Use::Write, &mut take)?;
        }
        Ok(count)
    }

    /// Records anew.
    pub(super) fn record(&mut self, record: impl FnOnce(vk::CommandBuffer)) -> VkResult<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        self.device
            // SAFETY: the buffer is not pending, and its pool allows it to be reset, which this does
            // (VUID-vkBeginCommandBuffer-commandBuffer-00049, -00050).
            .call(|raw| unsafe { raw.begin_command_buffer(self.commands, &info) })?;
        record(self.commands);
        self.device
            // SAFETY: it is being recorded (VUID-vkEndCommandBuffer-commandBuffer-00059).
            .call(|raw| unsafe { raw.end_command_buffer(self.commands) })
    }

    /// Submits what was recorded, after the first `waits` semaphores.
    pub(super) fn submit(
        &mut self,
        waits: usize,
        serial: u64,
        source: Option<&Arc<PlaneImages>>,
        target: &Arc<TargetImage>,
    ) -> VkResult<()> {
        self.device
            // SAFETY: no work of the fence is pending (VUID-vkResetFences-pFences-01123).
            .call(|raw| unsafe { raw.reset_fences(&[self.fence]) })?;
        let mut semaphores = [vk::Semaphore::null(); WAITS];
        for (to, semaphore) in semaphores.iter_mut().zip(&self.waits[..waits]) {
            *to = semaphore.raw();
        }
        let stages = [vk::PipelineStageFlags::COMPUTE_SHADER; WAITS];
        let commands = [self.commands];
        let signal = self.signal.as_ref().map(|semaphore| [semaphore.raw()]);
        let mut work = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .wait_semaphores(&semaphores[..waits])
            .wait_dst_stage_mask(&stages[..waits]);
        if let Some(signal) = &signal {
            work = work.signal_semaphores(signal);
        }
        // SAFETY: the buffer was recorded and is not pending; those semaphores have a fence each, so their waits end
        // (VUID-vkQueueSubmit-pWaitSemaphores-03238); the signal was taken out of the last one
        // (-pCommandBuffers-00067); the fence is new (-fence-00063, -00064).
        unsafe { self.device.submit(&[work], self.fence) }?;
        self.pending = true;
        self.serial = serial;
        self.source = source.cloned();
        self.target = Some(Arc::clone(target));
        Ok(())
    }

    /// The frame's end as a sync file; the inner `None` if it has ended, the outer one if the device cannot say.
    pub(super) fn export_signal(&mut self) -> Option<VkResult<Option<OwnedFd>>> {
        let signal = self.signal.as_ref()?;
        // SAFETY: the work that signals it was submitted, and nothing waits for it.
        let file = unsafe { signal.export() };
        if file.is_err() {
            self.spent = self.signal.take();
        }
        Some(file)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: the recorder waited for the frame (VUID-vkDestroyFence-fence-01120).
        unsafe { self.device.raw().destroy_fence(self.fence, None) };
    }
}
