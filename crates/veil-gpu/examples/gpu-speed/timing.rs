//! How long work takes on the device, by its own clock, and on the CPU, by this thread's.

use anyhow::{Context, Result, ensure};
use ash::vk;
use rustix::time::{ClockId, clock_gettime};
use std::{sync::Arc, time::Duration};
use veil_gpu::Device;

/// Longer than any work here.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs work, and takes its time.
pub(crate) struct Timer {
    device: Arc<Device>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    queries: vk::QueryPool,
}

impl Timer {
    pub(crate) fn new(device: &Arc<Device>) -> Result<Self> {
        ensure!(
            device.limits().timestamp_compute_and_graphics != 0,
            "the device has no clock"
        );
        let mut timer = Self {
            device: Arc::clone(device),
            pool: vk::CommandPool::null(),
            commands: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            queries: vk::QueryPool::null(),
        };
        let raw = device.raw();
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family())
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        let queries = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2);
        // SAFETY: the family is the queue's; `drop` destroys what is made.
        unsafe {
            timer.pool = raw.create_command_pool(&pool, None)?;
            timer.fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
            timer.queries = raw.create_query_pool(&queries, None)?;
            let buffers = vk::CommandBufferAllocateInfo::default()
                .command_pool(timer.pool)
                .command_buffer_count(1);
            let made = raw.allocate_command_buffers(&buffers)?;
            timer.commands = *made.first().context("no command buffer")?;
        }
        Ok(timer)
    }

    /// Runs what `record` puts between the two looks at the clock, to its end.
    pub(crate) fn time(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<Duration> {
        let raw = self.device.raw();
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let commands = [self.commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        let mut ticks = [0u64; 2];
        // SAFETY: the work before has ended, since this waits for it; queries are reset before they are written.
        unsafe {
            raw.begin_command_buffer(self.commands, &begin)?;
            raw.cmd_reset_query_pool(self.commands, self.queries, 0, 2);
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            raw.cmd_write_timestamp(self.commands, stage, self.queries, 0);
            record(self.commands);
            raw.cmd_write_timestamp(self.commands, stage, self.queries, 1);
            raw.end_command_buffer(self.commands)?;
            self.device.submit(&submit, self.fence)?;
            raw.wait_for_fences(&[self.fence], true, LIMIT.as_nanos() as u64)?;
            raw.reset_fences(&[self.fence])?;
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            raw.get_query_pool_results(self.queries, 0, &mut ticks, flags)?;
        }
        let period = f64::from(self.device.limits().timestamp_period);
        let nanoseconds = ticks[1].saturating_sub(ticks[0]) as f64 * period;
        Ok(Duration::from_nanos(nanoseconds as u64))
    }

    /// The median of some runs, after one that wakes the device up.
    pub(crate) fn median(&self, mut record: impl FnMut(vk::CommandBuffer)) -> Result<Duration> {
        let start = std::time::Instant::now();
        let mut times = Vec::new();
        while times.len() < 3 || (times.len() < 100 && start.elapsed() < Duration::from_secs(2)) {
            times.push(self.time(&mut record)?);
        }
        times.remove(0);
        times.sort_unstable();
        Ok(times[times.len() / 2])
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let raw = self.device.raw();
        // SAFETY: all work has ended.
        unsafe {
            raw.destroy_query_pool(self.queries, None);
            raw.destroy_fence(self.fence, None);
            raw.destroy_command_pool(self.pool, None);
        }
    }
}

/// What this thread took of the CPU so far.
pub(crate) fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}
