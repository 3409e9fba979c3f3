//! Linear light by tables: what `veil_frame::tone_map` defines, close enough and quick.

use veil_frame::{Colorimetry, Transfer, tone_map};

/// Pixels that are converted together: enough for vectors, and little enough to stay in the nearest cache.
pub(crate) const CHUNK: usize = 64;
/// A channel of as many pixels.
pub(crate) type Channel = [f32; CHUNK];

/// Steps of a table over signals of 0 to 1, between which it is interpolated; a power of 2. The error is below 1e-6 of
/// the greatest light, which the last step turns into less than 1/255 where a colour nearly cancels.
const STEPS: usize = 8192;
/// Powers of two below 1 that a table over light covers; less light than that is below half a code, even for light that
/// was mapped from 1000 cd/m² to 203.
const OCTAVES: u32 = 30;
/// Bits of the mantissa that choose an entry of a table over light.
const MANTISSA: u32 = 8;
/// Entries of a table over light: a power of 2 that holds all octaves.
const LIGHTS: usize = ((OCTAVES << MANTISSA) as usize).next_power_of_two();

/// A function of 0 to 1, sampled evenly.
#[derive(Clone, Debug)]
struct Even(Box<[f32; STEPS + 1]>);

impl Even {
    fn new(f: impl Fn(f64) -> f64) -> Self {
        let mut table = Box::new([0.0; STEPS + 1]);
        for (i, entry) in table.iter_mut().enumerate() {
            *entry = f(i as f64 / STEPS as f64) as f32;
        }
        Self(table)
    }

    #[inline(always)]
    fn apply(&self, channel: &mut Channel) {
        // Just below the last entry, so that there is always one after.
        const LAST: f32 = STEPS as f32 - 0.01;
        // At this size a number has no fraction, and its lowest bits are its whole part.
        const WHOLE: f32 = (1 << 23) as f32;
        let mut places = [0u32; CHUNK];
        for (v, place) in channel.iter_mut().zip(&mut places) {
            let position = (*v * STEPS as f32).max(0.0).min(LAST);
            let floor = (position - 0.5).max(0.0) + WHOLE;
            *place = floor.to_bits();
            *v = position - (floor - WHOLE);
        }
        for (v, place) in channel.iter_mut().zip(places) {
            let i = place as usize % STEPS;
            let (a, b) = (self.0[i], self.0[i + 1]);
            *v = a + (b - a) * *v;
        }
    }
}

/// The bits of 2^−[`OCTAVES`], the least light that tables over light tell from none.
const LEAST: u32 = (127 - OCTAVES) << 23;
/// Bits of a light below those that choose an entry.
const REST: u32 = 23 - MANTISSA;

/// The bits of a light of 0 to 1, from those of the least light on.
#[inline(always)]
fn light_bits(x: f32) -> u32 {
    x.max(f32::from_bits(LEAST)).min(1.0).to_bits() - LEAST
}

/// The light that an entry begins at. Entries after that of 1 are never read, or only with no weight.
fn light_of_index(i: usize) -> f64 {
    f64::from(f32::from_bits(LEAST + ((i as u32) << REST))).min(1.0)
}

/// A function of light, sampled in steps of equal ratio.
#[derive(Clone, Debug)]
struct Ratio(Box<[f32; LIGHTS + 1]>);

impl Ratio {
    fn new(f: impl Fn(f64) -> f64) -> Self {
        let mut table = Box::new([0.0; LIGHTS + 1]);
        for (i, entry) in table.iter_mut().enumerate() {
            *entry = f(light_of_index(i)) as f32;
        }
        Self(table)
    }

    #[inline(always)]
    fn apply(&self, channel: &mut Channel) {
        for v in channel {
            let bits = light_bits(*v);
            let part = (bits % (1 << REST)) as i32 as f32 / (1 << REST) as f32;
            let i = (bits >> REST) as usize % LIGHTS;
            let (a, b) = (self.0[i], self.0[i + 1]);
            *v = a + (b - a) * part;
        }
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
    to_byte: Box<[u8; LIGHTS]>,
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
        let mut to_byte = Box::new([0; LIGHTS]);
        for (i, byte) in to_byte.iter_mut().enumerate() {
            let middle = (light_of_index(i) + light_of_index(i + 1)) / 2.0;
            *byte = (255.0 * middle.powf(1.0 / tone_map::GAMMA)).round() as u8;
        }
        Some(Self {
            to_light,
            hlg,
            primaries: tone_map::to_bt709(color.primaries).map(|row| row.map(|v| v as f32)),
            to_byte,
        })
    }

    /// The pixels of R′G′B′, which is overwritten. At most [`CHUNK`] pixels.
    #[inline(always)]
    pub(crate) fn pixels(&self, rgb: &mut [Channel; 3], out: &mut [[u8; 4]]) {
        for channel in rgb.iter_mut() {
            self.to_light.apply(channel);
        }
        if let Some(hlg) = &self.hlg {
            let mut gain = [0.0; CHUNK];
            for (i, gain) in gain.iter_mut().enumerate() {
                *gain = (0..3).map(|c| hlg.weights[c] * rgb[c][i]).sum();
            }
            hlg.gain.apply(&mut gain);
            for channel in rgb.iter_mut() {
                for (v, gain) in channel.iter_mut().zip(&gain) {
                    *v *= gain;
                }
                hlg.to_target.apply(channel);
            }
        }
        let mut places = [[0u32; CHUNK]; 3];
        for (row, places) in self.primaries.iter().zip(&mut places) {
            for (i, place) in places.iter_mut().enumerate() {
                *place = light_bits(row[0] * rgb[0][i] + row[1] * rgb[1][i] + row[2] * rgb[2][i]) >> REST;
            }
        }
        for (i, pixel) in out.iter_mut().enumerate().take(CHUNK) {
            let [r, g, b] = [0, 1, 2].map(|c: usize| self.to_byte[places[c][i] as usize % LIGHTS]);
            *pixel = [b, g, r, 0xff];
        }
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
                    let mut pixel = [[0; 4]];
                    light.pixels(&mut rgb.map(|v| [v; CHUNK]), &mut pixel);
                    let expected = tone_map::to_sdr(color, rgb.map(f64::from)).map(|v| v * 255.0);
                    for (got, expected) in pixel[0].into_iter().zip([expected[2], expected[1], expected[0]]) {
                        let error = (f64::from(got) - expected).abs();
                        assert!(error < 1.0, "{color:?} {rgb:?}: {got} {expected}");
                    }
                }
            }
        }
    }
}
