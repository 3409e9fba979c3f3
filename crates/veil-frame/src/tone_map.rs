//! High dynamic range and wide gamuts, shown in standard dynamic range: the definition, in double precision.
//!
//! Everything that converts colours (the CPU by tables, a GPU by its shader) approximates [`to_sdr`]:
//!
//! 1. R′G′B′ are clipped to 0…1 and become light as the reference display of their system shows it:
//!    - SDR: ITU-R BT.1886 with a black of 0, so a power of [`GAMMA`]; white is 1.
//!    - PQ: the EOTF of ITU-R BT.2100 (table 4), in cd/m².
//!    - HLG: the inverse OETF and then the OOTF of BT.2100 (table 5), for a display of [`SOURCE_PEAK`], whose system
//!      gamma is [`HLG_GAMMA`]; in cd/m².
//! 2. PQ and HLG: the luminance range is mapped to that of the target by the EETF of Report ITU-R BT.2390 (section 5.4,
//!    “Display mapping”; repeated in Report BT.2408, annex 5), on each of R, G and B by itself, from a source of
//!    [`SOURCE_PEAK`] to a target of [`TARGET_PEAK`], both with a black of 0. The target's peak is 1 from here on.
//! 3. Primaries other than BT.709's are converted by the 3×3 matrix that follows from their chromaticities, and what
//!    falls outside is clipped to 0…1.
//! 4. Back by the inverse of BT.1886.
//!
//! Why these: mapping each channel by itself keeps bright colours inside the gamut (they pale, as on film), and it
//! needs one table instead of three. The target is HDR reference white (BT.2408: 203 cd/m²) as SDR white, which is also
//! how compositors that manage colour relate the two, so passing a picture through and mapping it here look alike.
//! Streams are taken as mastered at 1000 cd/m², the reference display of BT.2100; what is brighter becomes white.

use crate::color::{Colorimetry, Primaries, Transfer};

/// The exponent of ITU-R BT.1886.
pub const GAMMA: f64 = 2.4;
/// Peak luminance of the display that PQ and HLG pictures are taken to be made for, in cd/m².
pub const SOURCE_PEAK: f64 = 1000.0;
/// Luminance of SDR white, in cd/m²: HDR reference white of Report ITU-R BT.2408.
pub const TARGET_PEAK: f64 = 203.0;
/// System gamma of HLG on a display of [`SOURCE_PEAK`] (BT.2100, table 5, note 5e).
pub const HLG_GAMMA: f64 = 1.2;

/// A 3×3 matrix, by rows.
pub type Matrix3 = [[f64; 3]; 3];

/// The EOTF of PQ (BT.2100, table 4): a signal of 0 to 1 as luminance, 0 to 10 000 cd/m².
pub fn pq_to_light(signal: f64) -> f64 {
    let e = signal.max(0.0).powf(1.0 / PQ_M2);
    10_000.0 * ((e - PQ_C1).max(0.0) / (PQ_C2 - PQ_C3 * e)).powf(1.0 / PQ_M1)
}

/// The inverse EOTF of PQ: luminance in cd/m², 0 to 10 000, as a signal of 0 to 1.
pub fn light_to_pq(luminance: f64) -> f64 {
    let y = (luminance.max(0.0) / 10_000.0).powf(PQ_M1);
    ((PQ_C1 + PQ_C2 * y) / (1.0 + PQ_C3 * y)).powf(PQ_M2)
}

const PQ_M1: f64 = 2610.0 / 16384.0;
const PQ_M2: f64 = 2523.0 / 4096.0 * 128.0;
const PQ_C1: f64 = 3424.0 / 4096.0;
const PQ_C2: f64 = 2413.0 / 4096.0 * 32.0;
const PQ_C3: f64 = 2392.0 / 4096.0 * 32.0;

/// The inverse OETF of HLG (BT.2100, table 5): a signal of 0 to 1 as scene light, 0 to 1.
pub fn hlg_to_scene(signal: f64) -> f64 {
    const A: f64 = 0.178_832_77;
    const B: f64 = 1.0 - 4.0 * A;
    // c = 0.5 − a·ln(4a), to the digits that the table gives.
    const C: f64 = 0.559_910_73;
    if signal <= 0.5 {
        signal.max(0.0).powi(2) / 3.0
    } else {
        (((signal - C) / A).exp() + B) / 12.0
    }
}

/// The factor of HLG's OOTF (BT.2100, table 5): scene light times this is displayed light in cd/m². `luminance` is the
/// scene's, 0 to 1.
pub fn hlg_gain(luminance: f64) -> f64 {
    SOURCE_PEAK * luminance.max(0.0).powf(HLG_GAMMA - 1.0)
}

/// The EETF (BT.2390, section 5.4): displayed light of the source in cd/m² as light of the target, 0 to 1.
pub fn hdr_to_sdr_light(luminance: f64) -> f64 {
    let source = light_to_pq(SOURCE_PEAK);
    let peak = light_to_pq(TARGET_PEAK) / source;
    let knee = 1.5 * peak - 0.5;
    let e = (light_to_pq(luminance) / source).min(1.0);
    let mapped = if e < knee {
        e
    } else {
        let t = (e - knee) / (1.0 - knee);
        let (t2, t3) = (t * t, t * t * t);
        (2.0 * t3 - 3.0 * t2 + 1.0) * knee + (t3 - 2.0 * t2 + t) * (1.0 - knee) + (3.0 * t2 - 2.0 * t3) * peak
    };
    pq_to_light(mapped * source) / TARGET_PEAK
}

/// The map from light in these primaries to CIE XYZ (SMPTE RP 177), where white has Y = 1.
fn to_xyz(primaries: Primaries) -> Matrix3 {
    // (x, y) of red, green, blue: H.273, table 2. White is D65.
    let xy = match primaries {
        Primaries::Bt709 => [(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)],
        Primaries::Bt2020 => [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)],
        Primaries::DisplayP3 => [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)],
    };
    let column = |(x, y): (f64, f64)| [x / y, 1.0, (1.0 - x - y) / y];
    let columns = xy.map(column);
    let unscaled = [0, 1, 2].map(|row| [0, 1, 2].map(|c: usize| columns[c][row]));
    let scale = apply(&inverse(&unscaled), column((0.3127, 0.3290)));
    unscaled.map(|row| [row[0] * scale[0], row[1] * scale[1], row[2] * scale[2]])
}

/// The weights of red, green and blue light in luminance.
pub fn luminance_weights(primaries: Primaries) -> [f64; 3] {
    to_xyz(primaries)[1]
}

/// The map from light in these primaries to light in BT.709's.
pub fn to_bt709(primaries: Primaries) -> Matrix3 {
    if primaries == Primaries::Bt709 {
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    }
    let (a, b) = (inverse(&to_xyz(Primaries::Bt709)), to_xyz(primaries));
    [0, 1, 2].map(|r: usize| [0, 1, 2].map(|c: usize| (0..3).map(|k| a[r][k] * b[k][c]).sum()))
}

/// A matrix times a column.
pub fn apply(m: &Matrix3, v: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|r: usize| m[r][0] * v[0] + m[r][1] * v[1] + m[r][2] * v[2])
}

/// By cofactors. The matrices here are far from singular.
fn inverse(m: &Matrix3) -> Matrix3 {
    let minor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let det: f64 = (0..3).map(|c| m[0][c] * minor(0, c)).sum();
    [0, 1, 2].map(|r: usize| [0, 1, 2].map(|c: usize| minor(c, r) / det))
}

/// R′G′B′ as a stream of this colorimetry codes them (0 to 1; from its matrix and range) as R′G′B′ for an SDR display
/// with BT.709 primaries, clipped to 0…1. SDR with BT.709 primaries passes unchanged, only clipped.
pub fn to_sdr(color: Colorimetry, rgb: [f64; 3]) -> [f64; 3] {
    let rgb = rgb.map(|v| v.clamp(0.0, 1.0));
    if !color.needs_linear_light() {
        return rgb;
    }
    let light = match color.transfer {
        Transfer::Sdr => rgb.map(|v| v.powf(GAMMA)),
        Transfer::Pq => rgb.map(|v| hdr_to_sdr_light(pq_to_light(v))),
        Transfer::Hlg => {
            let scene = rgb.map(hlg_to_scene);
            let weights = luminance_weights(color.primaries);
            let gain = hlg_gain((0..3).map(|i| weights[i] * scene[i]).sum());
            scene.map(|v| hdr_to_sdr_light(gain * v))
        }
    };
    apply(&to_bt709(color.primaries), light).map(|v| v.clamp(0.0, 1.0).powf(1.0 / GAMMA))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::{Matrix, Range};

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance
    }

    fn color(primaries: Primaries, transfer: Transfer) -> Colorimetry {
        Colorimetry {
            matrix: Matrix::Bt2020,
            range: Range::Limited,
            primaries,
            transfer,
        }
    }

    #[test]
    fn published_values() {
        // BT.2408, table 1: 203 cd/m² is 58 % of PQ, 1000 cd/m² is 75 %; 75 % of HLG is 203 cd/m² on 1000 cd/m².
        assert!(near(light_to_pq(203.0), 0.58, 0.005) && near(light_to_pq(1000.0), 0.75, 0.005));
        assert!(near(hlg_to_scene(0.5), 1.0 / 12.0, 1e-9) && near(hlg_to_scene(1.0), 1.0, 1e-6));
        let scene = hlg_to_scene(0.75);
        assert!(near(scene * hlg_gain(scene), 203.0, 1.0));
        for l in [0.0, 0.005, 1.0, 100.0, 4000.0, 10_000.0] {
            assert!(near(pq_to_light(light_to_pq(l)), l, 1e-6 * (1.0 + l)), "{l}");
        }
        // BT.2087, section 2.
        let bt2087 = [
            [1.6605, -0.5876, -0.0728],
            [-0.1246, 1.1329, -0.0083],
            [-0.0182, -0.1006, 1.1187],
        ];
        let ours = to_bt709(Primaries::Bt2020);
        assert!(
            (0..9).all(|i| near(ours[i / 3][i % 3], bt2087[i / 3][i % 3], 1e-4)),
            "{ours:?}"
        );
        assert!(near(luminance_weights(Primaries::Bt2020)[1], 0.6780, 1e-4));
    }

    #[test]
    fn the_curve_keeps_darkness_and_rises_to_white() {
        assert!(near(hdr_to_sdr_light(20.0) * TARGET_PEAK, 20.0, 1e-6));
        assert!(near(hdr_to_sdr_light(SOURCE_PEAK), 1.0, 1e-9) && near(hdr_to_sdr_light(5000.0), 1.0, 1e-9));
        let curve: Vec<f64> = (0..=1000).map(|i| hdr_to_sdr_light(f64::from(i))).collect();
        assert!(curve.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn grey_stays_grey_and_sdr_passes() {
        for primaries in [Primaries::Bt709, Primaries::Bt2020, Primaries::DisplayP3] {
            for transfer in [Transfer::Sdr, Transfer::Pq, Transfer::Hlg] {
                for v in [0.0, 0.1, 0.5, 0.9, 1.0] {
                    let [r, g, b] = to_sdr(color(primaries, transfer), [v; 3]);
                    assert!(
                        near(r, g, 1e-6) && near(g, b, 1e-6),
                        "{primaries:?} {transfer:?} {v}: {r} {g} {b}"
                    );
                    assert!(transfer != Transfer::Sdr || near(r, v, 1e-6));
                }
            }
        }
        let plain = color(Primaries::Bt709, Transfer::Sdr);
        assert_eq!(to_sdr(plain, [0.2, 1.5, -0.5]), [0.2, 1.0, 0.0]);
        // BT.2020's green is outside BT.709.
        assert_eq!(
            to_sdr(color(Primaries::Bt2020, Transfer::Sdr), [0.0, 1.0, 0.0])[0],
            0.0
        );
    }
}
