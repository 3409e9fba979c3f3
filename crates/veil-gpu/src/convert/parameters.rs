//! What the shader knows of a conversion: `Parameters` of `shaders/parameters.wgsl`, computed in double precision.

use super::layout::{Place, together};
use bytemuck::{Pod, Zeroable};
use veil_frame::{Model, Siting, Size, Spec, Transfer, tone_map};

/// The shader's block, in the layout that WGSL gives it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Parameters {
    matrix: [[f32; 4]; 3],
    primaries: [[f32; 4]; 3],
    luma: [f32; 4],
    chroma: [f32; 4],
    last: [i32; 4],
    components: [[u32; 4]; 4],
    size: [u32; 2],
    flags: u32,
    alpha: f32,
}

const TOGETHER_1: u32 = 1;
const TOGETHER_2: u32 = 2;
const TOGETHER_3: u32 = 4;
const GRAY: u32 = 8;
const TWO_COLUMNS: u32 = 16;
const TWO_ROWS: u32 = 32;
const REPEATED: u32 = 64;
const HLG: u32 = 128;

impl Parameters {
    /// The parameters of a checked specification of a supported format, for a target of `canvas` pixels.
    pub(crate) fn new(spec: &Spec, canvas: Size) -> Self {
        let info = spec.format.info();
        let color = spec.effective_colorimetry();
        let colors = if info.model == Model::Gray { 1 } else { 3 };
        let mut components = [[0; 4]; 4];
        for (slot, to) in components.iter_mut().enumerate() {
            if let Some(place) = slot_component(spec, slot).map(|index| Place::new(info, index)) {
                *to = [place.offset, place.step, place.texel, place.bits];
            }
        }
        let alpha = info.components.get(colors).map_or(1.0, |c| {
            Place::new(info, colors).unit(c.bits) / f64::from((1u32 << c.bits) - 1)
        });
        let weights = tone_map::luminance_weights(color.primaries);
        let to_bt709 = tone_map::to_bt709(color.primaries);
        let (chroma_w, chroma_h) = info.component_size(1, spec.stored.w, spec.stored.h);
        let [luma_x, luma_y] = axes(spec, false);
        let [chroma_x, chroma_y] = axes(spec, true);
        let whole = |axis: (f64, f64)| axis.1.fract() == 0.0 && axis.0.fract() == 0.0;
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let all_together = colors == 3 && together(info, 1, 0) && together(info, 2, 0);
        Self {
            matrix: matrix(spec).map(|row| row.map(|v| v as f32)),
            primaries: [0, 1, 2].map(|row: usize| {
                let [r, g, b] = to_bt709[row];
                [r, g, b, weights[row]].map(|v| v as f32)
            }),
            luma: [luma_x.0, luma_y.0, luma_x.1, luma_y.1].map(|v| v as f32),
            chroma: [chroma_x.0, chroma_y.0, chroma_x.1, chroma_y.1].map(|v| v as f32),
            last: [spec.stored.w, spec.stored.h, chroma_w, chroma_h].map(|n| n as i32 - 1),
            components,
            size: [spec.size.w, spec.size.h],
            flags: flag(all_together, TOGETHER_1)
                | flag(colors == 3 && together(info, 2, 1), TOGETHER_2)
                | flag(together(info, colors, 0), TOGETHER_3)
                | flag(colors == 1, GRAY)
                | flag(!whole(chroma_x), TWO_COLUMNS)
                | flag(!whole(chroma_y), TWO_ROWS)
                | flag(canvas != spec.size, REPEATED)
                | flag(color.transfer == Transfer::Hlg, HLG),
            alpha: alpha as f32,
        }
    }
}

/// The component of the format whose plane and place the shader has in a slot; slot 3 is alpha's.
pub(crate) fn slot_component(spec: &Spec, slot: usize) -> Option<usize> {
    let info = spec.format.info();
    let index = match (info.model, slot) {
        (Model::Gray, 1 | 2) => return None,
        (Model::Gray, 3) => 1,
        _ => slot,
    };
    (index < info.components.len()).then_some(index)
}

/// R′G′B′ of what the shader reads: three factors and a constant.
fn matrix(spec: &Spec) -> [[f64; 4]; 3] {
    let info = spec.format.info();
    let color = spec.effective_colorimetry();
    let mut rows = [[0.0; 4]; 3];
    for column in 0..3 {
        // Grey is a picture whose three components are all luma.
        let source = if info.model == Model::Gray { 0 } else { column };
        let bits = info.components[source].bits;
        // Fewer than 8 bits count as the same fraction of full scale at 8 bits.
        let code = if bits < 8 {
            255.0 / f64::from((1u32 << bits) - 1)
        } else {
            1.0
        };
        let unit = code * Place::new(info, source).unit(bits);
        let map = color.codes_to_rgb(bits.max(8));
        for (to, row) in rows.iter_mut().zip(map.matrix) {
            to[source] += row[column] * unit;
            to[3] -= row[column] * map.offset[column];
        }
    }
    rows
}

/// For both axes: samples from an output pixel to the next, and the place of the first one's centre.
fn axes(spec: &Spec, chroma: bool) -> [(f64, f64); 2] {
    let info = spec.format.info();
    let (crop, size) = (spec.crop, spec.size);
    let axis = |start: f64, length: f64, count: u32, site: Siting, sub: u8| {
        let scale = length / f64::from(count);
        let (offset, sub) = if chroma { (site.offset(sub), sub) } else { (0.0, 0) };
        let shared = f64::from(1u32 << sub);
        (scale / shared, (start + 0.5 * scale - 0.5 - offset) / shared)
    };
    [
        axis(crop.x, crop.w, size.w, spec.site.horizontal, info.sub_w),
        axis(crop.y, crop.h, size.h, spec.site.vertical, info.sub_h),
    ]
}

/// Whether each pixel is a luma sample.
pub(crate) fn is_unscaled(spec: &Spec) -> bool {
    axes(spec, false)
        .iter()
        .all(|&(scale, start)| scale == 1.0 && start.fract() == 0.0)
}

/// The largest number of luma samples a pixel is made of, along an axis.
pub(crate) fn scale(spec: &Spec) -> f64 {
    axes(spec, false).iter().fold(1.0, |most, axis| axis.0.max(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_frame::{ChromaSite, Colorimetry, Matrix, PixelFormat, Primaries, Range, RectF};
    use veil_testkit::planes::Random;

    fn spec(format: PixelFormat, stored: Size, size: Size, colorimetry: Colorimetry) -> Spec {
        let crop = RectF::whole(stored);
        Spec {
            format,
            stored,
            colorimetry,
            site: ChromaSite::LEFT,
            crop,
            size,
        }
    }

    #[test]
    fn the_matrix_is_that_of_the_codes() {
        let size = Size::new(64, 32);
        let mut random = Random(17);
        for &format in PixelFormat::ALL.iter().filter(|f| crate::convert::supports(**f)) {
            let info = format.info();
            let colors = if info.model == Model::Gray { 1 } else { 3 };
            for matrix in [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020, Matrix::Rgb] {
                for range in [Range::Limited, Range::Full] {
                    let colorimetry = Colorimetry {
                        matrix,
                        range,
                        ..Colorimetry::SRGB
                    };
                    let spec = spec(format, size, size, colorimetry);
                    let block = Parameters::new(&spec, size);
                    let color = spec.effective_colorimetry();
                    let mut read = [0.0; 3];
                    let mut want = [0.0; 3];
                    for column in 0..3 {
                        let source = column.min(colors - 1);
                        let bits = info.components[source].bits;
                        let peak = (1u64 << bits) - 1;
                        if column == source {
                            let code = (random.next() >> 20) % (peak + 1);
                            read[source] = code as f64 / Place::new(info, source).unit(bits);
                        }
                        let code = read[source] * Place::new(info, source).unit(bits);
                        let code = if bits < 8 {
                            code * 255.0 / peak as f64
                        } else {
                            code
                        };
                        let map = color.codes_to_rgb(bits.max(8));
                        for (want, row) in want.iter_mut().zip(map.matrix) {
                            *want += row[column] * (code - map.offset[column]);
                        }
                    }
                    for (row, want) in block.matrix.iter().zip(want) {
                        let got: f64 = (0..3).map(|i| f64::from(row[i]) * read[i]).sum();
                        let got = got + f64::from(row[3]);
                        assert!((got - want).abs() < 1e-6, "{spec:?}: {got}, not {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn positions_are_those_of_the_definition() {
        let stored = Size::new(100, 60);
        let half = Parameters::new(
            &spec(
                PixelFormat::Nv12,
                stored,
                Size::new(50, 60),
                Colorimetry::assumed(60),
            ),
            stored,
        );
        // Two luma samples a column, whose middle is between them; chroma sits on the first.
        assert_eq!(half.luma, [2.0, 1.0, 0.5, 0.0]);
        assert_eq!(half.chroma, [1.0, 0.5, 0.25, -0.25]);
        assert_eq!(half.last, [99, 59, 49, 29]);
        assert_eq!(half.flags, TOGETHER_2 | TWO_COLUMNS | TWO_ROWS | REPEATED);
    }

    #[test]
    fn only_what_is_needed_is_read() {
        let size = Size::new(30, 20);
        let flags = |format, colorimetry| Parameters::new(&spec(format, size, size, colorimetry), size).flags;
        let video = Colorimetry::assumed(20);
        assert_eq!(
            flags(PixelFormat::Nv12, video),
            TOGETHER_2 | TWO_COLUMNS | TWO_ROWS
        );
        assert_eq!(flags(PixelFormat::Nv16, video), TOGETHER_2 | TWO_COLUMNS);
        assert_eq!(flags(PixelFormat::Y444, video), 0);
        assert_eq!(flags(PixelFormat::Gray8, video), GRAY);
        assert_eq!(
            flags(PixelFormat::Bgra, Colorimetry::SRGB),
            TOGETHER_1 | TOGETHER_2 | TOGETHER_3
        );
        let hlg = Colorimetry {
            primaries: Primaries::Bt2020,
            transfer: Transfer::Hlg,
            ..video
        };
        assert_eq!(flags(PixelFormat::Y444, hlg), HLG);
    }

    #[test]
    fn a_pixel_is_a_sample_only_where_nothing_is_scaled() {
        let size = Size::new(30, 20);
        let mut spec = spec(PixelFormat::Nv12, size, size, Colorimetry::assumed(20));
        assert!(is_unscaled(&spec) && scale(&spec) == 1.0);
        spec.crop.x = 0.5;
        assert!(!is_unscaled(&spec));
        spec.crop.x = 0.0;
        spec.size.h = 5;
        assert!(!is_unscaled(&spec) && scale(&spec) == 4.0);
    }
}
