//! One stream's conversion: its pipeline, its numbers, and a descriptor set for each frame in flight.

use super::{
    ConvertError, Pipelines, curves,
    layout::supports,
    parameters::{Parameters, scale, slot_component},
    pipelines::{CURVES, PARAMETERS, PLANES, TARGET},
    variant::Variant,
};
use crate::mapped::MappedBuffer;
use ash::vk;
use std::sync::Arc;
use veil_frame::{PixelFormat, Size, Spec};

/// How much smaller a picture may become along an axis. Each pixel is one invocation's work, which grows by the square of
/// this; devices stop what takes too long.
const LARGEST_SCALE: f64 = 64.0;

/// Turns planes into pixels, on a device. Nothing is allocated or made for a frame.
pub struct Conversion {
    pipelines: Arc<Pipelines>,
    pipeline: vk::Pipeline,
    canvas: Size,
    /// For each of the shader's slots, the plane to read.
    planes: [usize; PLANES as usize],
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
    _parameters: MappedBuffer,
    _curves: Option<MappedBuffer>,
}

/// The planes of a frame, each as an image view; entries beyond the format's planes are ignored.
pub type PlaneViews = [vk::ImageView; 4];

impl Conversion {
    /// Whether pictures of this format can be converted.
    pub fn supports(format: PixelFormat) -> bool {
        supports(format)
    }

    /// A conversion to targets of `canvas` pixels, the specification's size or several times that: then the picture is
    /// repeated. At most `slots` frames, at least 1, are in flight.
    ///
    /// # Errors
    /// [`ConvertError`] says what cannot be converted; nothing is wrong with the device then unless it says so.
    pub fn new(
        pipelines: &Arc<Pipelines>,
        spec: &Spec,
        canvas: Size,
        target: vk::Format,
        slots: usize,
    ) -> Result<Self, ConvertError> {
        spec.check()?;
        if !supports(spec.format) {
            return Err(ConvertError::Format(spec.format));
        }
        if scale(spec) > LARGEST_SCALE {
            return Err(ConvertError::Scale(spec.size));
        }
        let device = pipelines.device();
        let most = device.largest_image();
        if canvas.is_empty() || canvas.w > most || canvas.h > most {
            return Err(ConvertError::Canvas { canvas, most });
        }
        let pipeline = pipelines.get(Variant::new(spec, target)?)?;
        let block = Parameters::new(spec, canvas);
        let bytes: &[u8] = bytemuck::bytes_of(&block);
        let parameters = filled(
            pipelines,
            "parameters",
            bytes,
            vk::BufferUsageFlags::UNIFORM_BUFFER,
        )?;
        let curves = curves::curves(spec.effective_colorimetry())
            .map(|tables| {
                let bytes = bytemuck::cast_slice(&tables);
                filled(pipelines, "curves", bytes, vk::BufferUsageFlags::STORAGE_BUFFER)
            })
            .transpose()?;
        let plane = |slot| {
            let component = slot_component(spec, slot).unwrap_or(0);
            usize::from(spec.format.info().components[component].plane)
        };
        let mut conversion = Self {
            pipelines: Arc::clone(pipelines),
            pipeline,
            canvas,
            planes: [0, 1, 2, 3].map(plane),
            pool: vk::DescriptorPool::null(),
            sets: Vec::new(),
            _parameters: parameters,
            _curves: curves,
        };
        conversion.make_sets(slots.max(1))?;
        Ok(conversion)
    }

    /// A set for each slot, with what stays the same in it.
    fn make_sets(&mut self, slots: usize) -> Result<(), ConvertError> {
        let device = Arc::clone(self.pipelines.device());
        let count = u32::try_from(slots).unwrap_or(u32::MAX);
        let size = |(kind, each)| {
            vk::DescriptorPoolSize::default()
                .ty(kind)
                .descriptor_count(each * count)
        };
        let sizes = [
            (vk::DescriptorType::SAMPLED_IMAGE, PLANES),
            (vk::DescriptorType::STORAGE_IMAGE, 1),
            (vk::DescriptorType::UNIFORM_BUFFER, 1),
            (vk::DescriptorType::STORAGE_BUFFER, 1),
        ]
        .map(size);
        let pool_info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(count)
            .pool_sizes(&sizes);
        let layouts = vec![self.pipelines.set_layout(); slots];
        // SAFETY: there is a slot at least (VUID-VkDescriptorPoolCreateInfo-descriptorPoolOverallocation-09227).
        self.pool = device.call(|raw| unsafe { raw.create_descriptor_pool(&pool_info, None) })?;
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.pool)
            .set_layouts(&layouts);
        // SAFETY: the pool has room for them (VUID-VkDescriptorSetAllocateInfo-apiVersion-07895), and goes with them.
        self.sets = device.call(|raw| unsafe { raw.allocate_descriptor_sets(&info) })?;
        let whole = |buffer: &MappedBuffer| {
            [vk::DescriptorBufferInfo::default()
                .buffer(buffer.raw())
                .range(vk::WHOLE_SIZE)]
        };
        let parameters = whole(&self._parameters);
        let curves = self._curves.as_ref().map(whole);
        for &set in &self.sets {
            let write = vk::WriteDescriptorSet::default().dst_set(set);
            let first = write
                .dst_binding(PARAMETERS)
                .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
                .buffer_info(&parameters);
            // SAFETY: no set is in use yet; buffers are of the usage that their descriptors ask for
            // (VUID-VkWriteDescriptorSet-descriptorType-00330, -00331).
            unsafe { device.raw().update_descriptor_sets(&[first], &[]) };
            if let Some(curves) = &curves {
                let second = write
                    .dst_binding(CURVES)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(curves);
                // SAFETY: as above.
                unsafe { device.raw().update_descriptor_sets(&[second], &[]) };
            }
        }
        Ok(())
    }

    /// Records the conversion of a frame: `planes` are read, `target` is overwritten, both in the layout `GENERAL`. The
    /// caller's barriers make planes visible to reads of the compute stage, and what that stage writes to who comes next.
    ///
    /// # Safety
    /// - `commands` is being recorded, for a queue that computes.
    /// - What was recorded with the same `slot` before has finished.
    /// - The views are of this device, live until this has finished, and are of images with the usages `SAMPLED` and
    ///   `STORAGE`; planes have the formats and at least the sizes of [`planes`](super::planes), and the target has the
    ///   format and size that this was made for.
    pub unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        slot: usize,
        planes: &PlaneViews,
        target: vk::ImageView,
    ) {
        let device = self.pipelines.device().raw();
        let set = self.sets[slot];
        let image = |view| {
            [vk::DescriptorImageInfo::default()
                .image_view(view)
                .image_layout(vk::ImageLayout::GENERAL)]
        };
        let views = self.planes.map(|plane| image(planes[plane]));
        let target = image(target);
        let write = |binding: u32, kind| {
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(kind)
        };
        let plane =
            |slot: usize| write(slot as u32, vk::DescriptorType::SAMPLED_IMAGE).image_info(&views[slot]);
        let writes = [
            plane(0),
            plane(1),
            plane(2),
            plane(3),
            write(TARGET, vk::DescriptorType::STORAGE_IMAGE).image_info(&target),
        ];
        let groups = |pixels: u32| pixels.div_ceil(8);
        // SAFETY: the slot's set is not in use, and views and command buffer are valid, as the caller says
        // (VUID-vkUpdateDescriptorSets-None-03047, VUID-VkWriteDescriptorSet-descriptorType-04149, -04152); every
        // binding of the pipeline is written (VUID-vkCmdDispatch-None-08114); a canvas that an image can have needs
        // fewer groups than the 65 535 that every device does (VUID-vkCmdDispatch-groupCountX-00386).
        unsafe {
            device.update_descriptor_sets(&writes, &[]);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            device.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::COMPUTE,
                self.pipelines.layout(),
                0,
                &[set],
                &[],
            );
            if !null_converter() {
                device.cmd_dispatch(commands, groups(self.canvas.w), groups(self.canvas.h), 1);
            }
        }
    }
}

/// Whether a bench wants to know what all but the shader costs.
fn null_converter() -> bool {
    #[cfg(feature = "null-converter")]
    {
        static ASKED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *ASKED.get_or_init(|| std::env::var_os("VEIL_NULL_CONVERTER").is_some())
    }
    #[cfg(not(feature = "null-converter"))]
    false
}

fn filled(
    pipelines: &Pipelines,
    name: &str,
    bytes: &[u8],
    usage: vk::BufferUsageFlags,
) -> Result<MappedBuffer, ConvertError> {
    let mut buffer = MappedBuffer::new(pipelines.device(), name, bytes.len(), usage)?;
    buffer.bytes().copy_from_slice(bytes);
    Ok(buffer)
}

impl Drop for Conversion {
    fn drop(&mut self) {
        // SAFETY: whoever drops it has waited for its last frame (VUID-vkDestroyDescriptorPool-descriptorPool-00303).
        unsafe {
            self.pipelines
                .device()
                .raw()
                .destroy_descriptor_pool(self.pool, None);
        }
    }
}
