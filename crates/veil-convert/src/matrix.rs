//! From samples to R′G′B′: the affine map, for samples of full scale.

use crate::Spec;
use veil_frame::Model;

/// `rgb = matrix · sample + constant`, where samples are 0 to 65 535 (coded bits on top) and `rgb` is 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    /// One row a colour, one column a component.
    pub(crate) matrix: [[f64; 3]; 3],
    /// R′G′B′ of samples of 0.
    pub(crate) constant: [f64; 3],
}

impl Affine {
    /// The map of a specification. Grey is a picture whose three components are all luma.
    pub(crate) fn new(spec: &Spec) -> Self {
        let info = spec.format.info();
        let color = spec.effective_colorimetry();
        let mut affine = Self {
            matrix: [[0.0; 3]; 3],
            constant: [0.0; 3],
        };
        for column in 0..3 {
            let component = &info.components[if info.model == Model::Gray { 0 } else { column }];
            // Fewer than 8 bits count as the same fraction of full scale at 8 bits.
            let bits = component.bits.max(8);
            let peak = |bits: u8| f64::from((1u32 << bits) - 1);
            let code = peak(bits) / peak(component.bits) / f64::from(1u32 << (16 - component.bits));
            let map = color.codes_to_rgb(bits);
            for row in 0..3 {
                affine.matrix[row][column] = map.matrix[row][column] * code;
                affine.constant[row] -= map.matrix[row][column] * map.offset[column];
            }
        }
        affine
    }
}

/// What turns an alpha sample of full scale into 0 to 1; `None` where the format has no alpha.
pub(crate) fn alpha_scale(spec: &Spec) -> Option<f64> {
    let alpha = spec
        .format
        .info()
        .components
        .last()
        .filter(|_| spec.format.has_alpha())?;
    Some(1.0 / f64::from(((1u32 << alpha.bits) - 1) << (16 - alpha.bits)))
}
