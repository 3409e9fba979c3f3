//! The tables of the shader `light-mapped.wgsl`: the curves of `veil_frame::tone_map`, sampled evenly.

use veil_frame::{Colorimetry, Transfer, tone_map};

/// The last step of a table, between two of which the shader interpolates. Linear interpolation is off by less than
/// 3e-7 of the greatest light then; a quarter of that many steps would be seen where a colour is near the gamut's border.
const STEPS: usize = 16384;

/// The tables for a colorimetry, one after the other; `None` if colours are shown as they are.
pub(crate) fn curves(color: Colorimetry) -> Option<Vec<f32>> {
    if !color.needs_linear_light() {
        return None;
    }
    let mut tables = Vec::with_capacity(2 * (STEPS + 1));
    let mut add = |curve: &dyn Fn(f64) -> f64| {
        tables.extend((0..=STEPS).map(|i| curve(i as f64 / STEPS as f64) as f32));
    };
    match color.transfer {
        Transfer::Sdr => add(&|v| v.powf(tone_map::GAMMA)),
        Transfer::Pq => add(&|v| tone_map::hdr_to_sdr_light(tone_map::pq_to_light(v))),
        Transfer::Hlg => {
            add(&tone_map::hlg_to_scene);
            add(&|l| tone_map::hdr_to_sdr_light(l * tone_map::SOURCE_PEAK));
        }
    }
    Some(tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_frame::{Matrix, Primaries, Range};

    #[test]
    fn interpolation_is_close_between_the_steps() {
        for transfer in [Transfer::Sdr, Transfer::Pq, Transfer::Hlg] {
            let color = Colorimetry {
                matrix: Matrix::Bt2020,
                range: Range::Limited,
                primaries: Primaries::Bt2020,
                transfer,
            };
            let tables = curves(color).unwrap();
            let first: &dyn Fn(f64) -> f64 = match transfer {
                Transfer::Sdr => &|v| v.powf(tone_map::GAMMA),
                Transfer::Pq => &|v| tone_map::hdr_to_sdr_light(tone_map::pq_to_light(v)),
                Transfer::Hlg => &tone_map::hlg_to_scene,
            };
            let second: &dyn Fn(f64) -> f64 = &|l| tone_map::hdr_to_sdr_light(l * tone_map::SOURCE_PEAK);
            for (table, curve) in tables.chunks(STEPS + 1).zip([first, second]) {
                for (step, ends) in table.windows(2).enumerate() {
                    let middle = (f64::from(ends[0]) + f64::from(ends[1])) / 2.0;
                    let want = curve((step as f64 + 0.5) / STEPS as f64);
                    assert!(
                        (middle - want).abs() < 3e-7,
                        "{transfer:?} {step}: {middle}, not {want}"
                    );
                }
            }
            assert_eq!(tables.len() > STEPS + 1, transfer == Transfer::Hlg);
        }
        assert!(curves(Colorimetry::assumed(1080)).is_none());
    }
}
