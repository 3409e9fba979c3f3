//! Which of the compiled shaders a conversion needs.

use super::{ConvertError, parameters::is_unscaled};
use ash::vk;
use veil_frame::Spec;

/// Number of variants.
pub(super) const COUNT: usize = 16;

/// SPIR-V of every variant.
static MODULES: [&[u8]; COUNT] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The index of a variant: one bit a choice, in the order of the build script's `CHOICES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant(usize);

impl Variant {
    /// What the specification needs, for a target of this format.
    pub(super) fn new(spec: &Spec, target: vk::Format) -> Result<Self, ConvertError> {
        let ten_bits = match target {
            vk::Format::R8G8B8A8_UNORM => 0,
            vk::Format::A2B10G10R10_UNORM_PACK32 => 1,
            other => return Err(ConvertError::Target(other)),
        };
        let scaled = usize::from(!is_unscaled(spec));
        let mapped = usize::from(spec.effective_colorimetry().needs_linear_light());
        let alpha = usize::from(spec.format.has_alpha());
        Ok(Self(scaled | mapped << 1 | alpha << 2 | ten_bits << 3))
    }

    pub(super) fn index(self) -> usize {
        self.0
    }

    pub(super) fn module(self) -> &'static [u8] {
        MODULES[self.0]
    }
}
