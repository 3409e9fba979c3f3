//! Pipelines: one for each variant of the shader, made when it is first needed and kept for all conversions.

use super::{
    ConvertError,
    variant::{COUNT, Variant},
};
use crate::device::Device;
use ash::{util::read_spv, vk};
use std::{
    io::Cursor,
    sync::{Arc, Mutex, PoisonError},
};

/// What all conversions on a device share.
pub struct Pipelines {
    device: Arc<Device>,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    cache: vk::PipelineCache,
    made: Mutex<[vk::Pipeline; COUNT]>,
}

/// The bindings of `shaders/`: planes, then the target, the parameters and the curves.
pub(super) const PLANES: u32 = 4;
pub(super) const TARGET: u32 = 4;
pub(super) const PARAMETERS: u32 = 5;
pub(super) const CURVES: u32 = 6;

impl Pipelines {
    /// Layouts and an empty cache; pipelines come later.
    ///
    /// # Errors
    /// Where Vulkan is out of memory.
    pub fn new(device: &Arc<Device>) -> Result<Arc<Self>, ConvertError> {
        let mut pipelines = Self {
            device: Arc::clone(device),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            cache: vk::PipelineCache::null(),
            made: Mutex::new([vk::Pipeline::null(); COUNT]),
        };
        let binding = |(binding, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings = [
            (0, vk::DescriptorType::SAMPLED_IMAGE),
            (1, vk::DescriptorType::SAMPLED_IMAGE),
            (2, vk::DescriptorType::SAMPLED_IMAGE),
            (3, vk::DescriptorType::SAMPLED_IMAGE),
            (TARGET, vk::DescriptorType::STORAGE_IMAGE),
            (PARAMETERS, vk::DescriptorType::UNIFORM_BUFFER),
            (CURVES, vk::DescriptorType::STORAGE_BUFFER),
        ]
        .map(binding);
        let set_info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let cache_info = vk::PipelineCacheCreateInfo::default();
        // SAFETY: binding numbers differ (VUID-VkDescriptorSetLayoutCreateInfo-binding-00279).
        pipelines.set_layout =
            device.call(|raw| unsafe { raw.create_descriptor_set_layout(&set_info, None) })?;
        let set_layouts = [pipelines.set_layout];
        let layout_info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        // SAFETY: fewer descriptors than any device's limits (VUID-VkPipelineLayoutCreateInfo-descriptorType-03016 and
        // the like).
        pipelines.layout = device.call(|raw| unsafe { raw.create_pipeline_layout(&layout_info, None) })?;
        // SAFETY: no conditions for an empty one.
        pipelines.cache = device.call(|raw| unsafe { raw.create_pipeline_cache(&cache_info, None) })?;
        Ok(Arc::new(pipelines))
    }

    /// The device that they are for.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub(super) fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.set_layout
    }

    pub(super) fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// The pipeline of a variant. The first time, the driver compiles it.
    pub(super) fn get(&self, variant: Variant) -> Result<vk::Pipeline, ConvertError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let pipeline = &mut made[variant.index()];
        if *pipeline == vk::Pipeline::null() {
            *pipeline = self.make(variant)?;
        }
        Ok(*pipeline)
    }

    fn make(&self, variant: Variant) -> Result<vk::Pipeline, ConvertError> {
        let words = read_spv(&mut Cursor::new(variant.module())).map_err(ConvertError::Shader)?;
        let module_info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are SPIR-V that `naga` validated and wrote (VUID-VkShaderModuleCreateInfo-pCode-08737).
        let module = self
            .device
            .call(|raw| unsafe { raw.create_shader_module(&module_info, None) })?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"convert");
        let info = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout)];
        // SAFETY: the layout has every binding of the shader (VUID-VkComputePipelineCreateInfo-layout-07988); the module
        // may go once the pipeline is there.
        let made = self.device.call(|raw| unsafe {
            // There is one; where it cannot be made, what is in the list is null.
            let made = raw.create_compute_pipelines(self.cache, &info, None);
            made.map_err(|(_, error)| error)
        });
        // SAFETY: nothing is being made of the module any more.
        unsafe { self.device.raw().destroy_shader_module(module, None) };
        made?
            .first()
            .copied()
            .ok_or(ConvertError::Vulkan(vk::Result::ERROR_UNKNOWN))
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: conversions hold an `Arc` of this and wait for the device before they go
        // (VUID-vkDestroyPipeline-pipeline-00765); nothing happens to handles that are null.
        unsafe {
            for pipeline in made {
                self.device.raw().destroy_pipeline(*pipeline, None);
            }
            self.device.raw().destroy_pipeline_cache(self.cache, None);
            self.device.raw().destroy_pipeline_layout(self.layout, None);
            self.device
                .raw()
                .destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
