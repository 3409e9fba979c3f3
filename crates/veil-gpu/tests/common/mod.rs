//! A device, and pictures converted by it and read back.

#![allow(unreachable_pub, clippy::unwrap_used, dead_code)]

pub mod memory;
mod readback;
pub mod sharing;

pub use readback::Readback;
pub use veil_testkit::planes::{Content, Picture, Random};

use ash::vk;
use std::sync::Arc;
use veil_frame::{Size, Spec};
use veil_gpu::{
    convert::{Conversion, Pipelines},
    device::{Device, DeviceChoice},
    instance,
    upload::Upload,
};

/// A device with all that conversions share, and one command buffer.
pub struct Gpu {
    pub pipelines: Arc<Pipelines>,
    pub device: Arc<Device>,
    commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    fence: vk::Fence,
}

/// The device to try on: the one that the environment names, or the CPU.
pub fn device() -> Arc<Device> {
    let name = std::env::var("VEIL_VULKAN_DEVICE").unwrap_or_else(|_| "lavapipe".to_owned());
    Device::open_without_dmabufs(&DeviceChoice::Named(name)).unwrap()
}

impl Gpu {
    pub fn new() -> Self {
        // What the validation layer says is logged; another test may have set this up.
        let _ = tracing_subscriber::fmt().with_test_writer().try_init();
        Self::on(device())
    }

    pub fn on(device: Arc<Device>) -> Self {
        let raw = device.raw();
        let pool_info =
            vk::CommandPoolCreateInfo::default().flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: all of one device, and destroyed by `drop`.
        let (pool, commands, fence) = unsafe {
            let pool = raw.create_command_pool(&pool_info, None).unwrap();
            let buffer_info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            (
                pool,
                raw.allocate_command_buffers(&buffer_info).unwrap()[0],
                raw.create_fence(&vk::FenceCreateInfo::default(), None).unwrap(),
            )
        };
        Self {
            pipelines: Pipelines::new(&device).unwrap(),
            device,
            commands,
            pool,
            fence,
        }
    }

    /// Runs what is recorded, to its end.
    pub fn run(&self, record: impl FnOnce(vk::CommandBuffer)) {
        let raw = self.device.raw();
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let commands = [self.commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: whatever ran before has ended, since this waits.
        unsafe {
            raw.begin_command_buffer(self.commands, &begin).unwrap();
            record(self.commands);
            raw.end_command_buffer(self.commands).unwrap();
            self.device.submit(&submit, self.fence).unwrap();
            raw.wait_for_fences(&[self.fence], true, u64::MAX).unwrap();
            raw.reset_fences(&[self.fence]).unwrap();
        }
    }

    /// The words of the canvas, row by row.
    pub fn convert(&self, spec: &Spec, canvas: Size, format: vk::Format, picture: &Picture) -> Vec<u32> {
        let conversion = Conversion::new(&self.pipelines, spec, canvas, format, 1).unwrap();
        let mut upload = Upload::new(&self.device, spec.format, spec.stored, 1).unwrap();
        upload.write(0, &picture.planes()).unwrap();
        let target = Readback::new(&self.device, canvas, format);
        // SAFETY: everything here is of one device and lives until this has ended.
        self.run(|commands| unsafe {
            upload.record(commands, 0);
            target.begin(commands);
            conversion.record(commands, 0, upload.views(), target.view);
            target.end(commands);
        });
        target.words()
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: nothing runs any more.
        unsafe {
            self.device.raw().destroy_fence(self.fence, None);
            self.device.raw().destroy_command_pool(self.pool, None);
        }
        assert_eq!(
            instance::validation_messages(),
            0,
            "the validation layer complained"
        );
    }
}
