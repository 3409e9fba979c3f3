//! Linear light by tables: what `veil_frame::tone_map` defines, close enough and quick.

use veil_frame::{Colorimetry, Transfer, tone_map};

/// Entries of a table over signals of 0 to 1, between which it is interpolated. Its error is below 1e-6 of the
/// greatest light, which the last step turns into less than 1/255 where a colour nearly cancels.
const STEPS: usize = 8192;
/// Powers of two below 1 that a table over light covers; less light than that is below half a code, even for R′ of
/// light that was mapped from 1000 cd/m² to 203.
const OCTAVES: u32 = 30;
/// Bits of the mantissa that choose an entry of a table over light.
const MANTISSA: u32 = 8;

/// A function of 0 to 1, sampled evenly.
#[derive(Clone, Debug)]
struct Even(Vec<f32>);

impl Even {
    fn new(f: impl Fn(f64) -> f64) -> Self {
        // One more than the last, so that 1 itself has a neighbour.
        Self(
            (0..=STEPS + 1)
                .map(|i| f((i as f64 / STEPS as f64).min(1.0)) as f32)
                .collect(),
        )
    }

    #[inline(always)]
    fn at(&self, x: f32) -> f32 {
        let position = x.clamp(0.0, 1.0) * STEPS as f32;
        let i = position as usize;
        let (a, b) = (self.0[i], self.0[i + 1]);
        a + (b - a) * (position - i as f32)
    }
}

/// The bits of 2^−[`OCTAVES`], the least light that tables over light tell from none.
const LEAST: u32 = (127 - OCTAVES) << 23;

/// The entry for a light of 0 to 1, and how far it is on the way to the next one.
#[inline(always)]
fn light_index(x: f32) -> (usize, f32) {
    let bits = x.max(f32::from_bits(LEAST)).min(1.0).to_bits() - LEAST;
    let rest = 23 - MANTISSA;
    (
        (bits >> rest) as usize,
        (bits & ((1 << rest) - 1)) as f32 / (1u32 << rest) as f32,
    )
}

/// The light that an entry begins at.
fn light_of_index(i: usize) -> f64 {
    f64::from(f32::from_bits(LEAST + ((i as u32) << (23 - MANTISSA))))
}

const LIGHTS: usize = (OCTAVES << MANTISSA) as usize;

/// A function of light, sampled in steps of equal ratio.
#[derive(Clone, Debug)]
struct Ratio(Vec<f32>);

impl Ratio {
    fn new(f: impl Fn(f64) -> f64) -> Self {
        Self(
            (0..=LIGHTS + 1)
                .map(|i| f(light_of_index(i).min(1.0)) as f32)
                .collect(),
        )
    }

    #[inline(always)]
    fn at(&self, x: f32) -> f32 {
        let (i, part) = light_index(x);
        let (a, b) = (self.0[i], self.0[i + 1]);
        a + (b - a) * part
    }
}

/// The way from R′G′B′ of a colorimetry to bytes for an SDR display.
#[derive(Clone, Debug)]
pub(crate) struct Light {
    /// Signal to light: of the target, or of the scene for HLG.
    to_light: Even,
    hlg: Option<Hlg>,
    primaries: [[f32; 3]; 3],
    /// Light to the byte that is nearest in the middle of the entry.
    to_byte: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Hlg {
    weights: [f32; 3],
    /// Luminance of the scene to the OOTF's factor, of which the source's peak is 1.
    gain: Ratio,
    /// Displayed light, of which the source's peak is 1, to light of the target.
    to_target: Ratio,
}

impl Light {
    /// The tables for a colorimetry; `None` if it needs none.
    pub(crate) fn new(color: Colorimetry) -> Option<Self> {
        if !color.needs_linear_light() {
            return None;
        }
        let to_light = match color.transfer {
            Transfer::Sdr => Even::new(|v| v.powf(tone_map::GAMMA)),
            Transfer::Pq => Even::new(|v| tone_map::hdr_to_sdr_light(tone_map::pq_to_light(v))),
            Transfer::Hlg => Even::new(tone_map::hlg_to_scene),
        };
        let hlg = (color.transfer == Transfer::Hlg).then(|| Hlg {
            weights: tone_map::luminance_weights(color.primaries).map(|v| v as f32),
            gain: Ratio::new(|y| tone_map::hlg_gain(y) / tone_map::SOURCE_PEAK),
            to_target: Ratio::new(|l| tone_map::hdr_to_sdr_light(l * tone_map::SOURCE_PEAK)),
        });
        let to_byte = (0..=LIGHTS).map(|i| {
            let middle = (light_of_index(i) + light_of_index(i + 1)) / 2.0;
            (255.0 * middle.min(1.0).powf(1.0 / tone_map::GAMMA)).round() as u8
        });
        Some(Self {
            to_light,
            hlg,
            primaries: tone_map::to_bt709(color.primaries).map(|row| row.map(|v| v as f32)),
            to_byte: to_byte.collect(),
        })
    }

    /// The bytes of R′G′B′.
    #[inline(always)]
    pub(crate) fn bytes(&self, rgb: [f32; 3]) -> [u8; 3] {
        let mut light = rgb.map(|v| self.to_light.at(v));
        if let Some(hlg) = &self.hlg {
            let w = hlg.weights;
            let gain = hlg.gain.at(w[0] * light[0] + w[1] * light[1] + w[2] * light[2]);
            light = light.map(|v| hlg.to_target.at(gain * v));
        }
        self.primaries.map(|row| {
            let v = row[0] * light[0] + row[1] * light[1] + row[2] * light[2];
            self.to_byte[light_index(v).0]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_frame::{Matrix, Primaries, Range};

    #[test]
    fn tables_follow_the_definition() {
        for primaries in [Primaries::Bt709, Primaries::Bt2020, Primaries::DisplayP3] {
            for transfer in [Transfer::Sdr, Transfer::Pq, Transfer::Hlg] {
                let color = Colorimetry {
                    matrix: Matrix::Bt2020,
                    range: Range::Full,
                    primaries,
                    transfer,
                };
                let Some(light) = Light::new(color) else { continue };
                for i in 0..40 * 40 * 40 {
                    let rgb = [i % 40, i / 40 % 40, i / 1600].map(|v| v as f32 / 39.0);
                    let expected = tone_map::to_sdr(color, rgb.map(f64::from)).map(|v| v * 255.0);
                    for (got, expected) in light.bytes(rgb).into_iter().zip(expected) {
                        assert!(
                            (f64::from(got) - expected).abs() < 1.0,
                            "{color:?} {rgb:?}: {got} {expected}"
                        );
                    }
                }
            }
        }
    }
}
