//! Colorimetry: what the numbers of a decoded picture mean.
//!
//! Codes and their meanings are those of ITU-T H.273 (coding-independent code points); the luma coefficients are those
//! of the recommendations that each variant names.

/// Luma coefficients of a YCbCr coding (H.273, MatrixCoefficients).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// Not YCbCr: the planes are R, G, B.
    Rgb,
    /// ITU-R BT.601 (Kr 0.299, Kb 0.114).
    Bt601,
    /// ITU-R BT.709 (Kr 0.2126, Kb 0.0722).
    Bt709,
    /// ITU-R BT.2020 non-constant luminance (Kr 0.2627, Kb 0.0593).
    Bt2020,
    /// SMPTE ST 240 (Kr 0.212, Kb 0.087).
    Smpte240m,
    /// FCC Title 47, 73.682 (Kr 0.30, Kb 0.11).
    Fcc,
}

impl Matrix {
    /// (Kr, Kb), the weights of red and blue in luma; `None` for RGB.
    pub const fn luma_weights(self) -> Option<(f64, f64)> {
        match self {
            Self::Rgb => None,
            Self::Bt601 => Some((0.299, 0.114)),
            Self::Bt709 => Some((0.2126, 0.0722)),
            Self::Bt2020 => Some((0.2627, 0.0593)),
            Self::Smpte240m => Some((0.212, 0.087)),
            Self::Fcc => Some((0.30, 0.11)),
        }
    }
}

/// Which codes stand for black and white (H.273, VideoFullRangeFlag).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// At 8 bits luma is 16 to 235 and chroma 16 to 240 around 128; more bits scale these by powers of two.
    Limited,
    /// All codes are used; chroma is centred on half of them.
    Full,
}

/// Colour primaries (H.273, ColourPrimaries).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primaries {
    /// BT.709 and sRGB; BT.601's (SMPTE 170M, BT.470BG) count as the same.
    Bt709,
    /// BT.2020.
    Bt2020,
    /// Display P3 and DCI-P3 with a D65 white (SMPTE EG 432-1).
    DisplayP3,
}

/// Transfer characteristics (H.273, TransferCharacteristics).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// Any standard-dynamic-range curve (BT.709, BT.601, sRGB, BT.2020): they pass unchanged.
    Sdr,
    /// SMPTE ST 2084, absolute up to 10 000 cd/m².
    Pq,
    /// ARIB STD-B67 hybrid log-gamma.
    Hlg,
}

/// All that is needed to show a picture's numbers as colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colorimetry {
    /// Luma coefficients.
    pub matrix: Matrix,
    /// Black and white.
    pub range: Range,
    /// Primaries.
    pub primaries: Primaries,
    /// Transfer curve.
    pub transfer: Transfer,
}

impl Colorimetry {
    /// sRGB in full range: what still pictures and RGB video are unless they say otherwise.
    pub const SRGB: Self = Self {
        matrix: Matrix::Rgb,
        range: Range::Full,
        primaries: Primaries::Bt709,
        transfer: Transfer::Sdr,
    };

    /// What a YCbCr video of this height is when it does not say: above 576 lines BT.709, else BT.601; limited range.
    pub const fn assumed(height: u32) -> Self {
        Self {
            matrix: if height > 576 {
                Matrix::Bt709
            } else {
                Matrix::Bt601
            },
            range: Range::Limited,
            primaries: Primaries::Bt709,
            transfer: Transfer::Sdr,
        }
    }

    /// Whether colours in linear light must be touched, beyond the matrix.
    pub const fn needs_linear_light(self) -> bool {
        !matches!((self.primaries, self.transfer), (Primaries::Bt709, Transfer::Sdr))
    }
}

/// Where chroma samples sit along one axis of a subsampled picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Siting {
    /// On the first of the luma samples that share them.
    Cosited,
    /// Half way between them.
    Centered,
}

impl Siting {
    /// Where chroma sample 0 lies, in luma samples from the centre of luma sample 0, when `1 << shift` luma samples
    /// share a chroma sample.
    pub const fn offset(self, shift: u8) -> f64 {
        match self {
            Self::Cosited => 0.0,
            Self::Centered => ((1u32 << shift) - 1) as f64 / 2.0,
        }
    }
}

/// Where chroma samples sit (H.273, Chroma420SampleLocType).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChromaSite {
    /// Along a row.
    pub horizontal: Siting,
    /// Along a column.
    pub vertical: Siting,
}

impl ChromaSite {
    /// Type 0, “left”: MPEG-2, H.264 and HEVC unless they say otherwise.
    pub const LEFT: Self = Self {
        horizontal: Siting::Cosited,
        vertical: Siting::Centered,
    };
    /// Type 1, “centre”: JPEG, MPEG-1.
    pub const CENTER: Self = Self {
        horizontal: Siting::Centered,
        vertical: Siting::Centered,
    };
    /// Type 2, “top left”: BT.2020 and Blu-ray UHD.
    pub const TOP_LEFT: Self = Self {
        horizontal: Siting::Cosited,
        vertical: Siting::Cosited,
    };
}

/// The affine map from sample codes to R′G′B′: `rgb = matrix · (code − offset)`, where the result is 0 to 1 and codes are
/// whole numbers as they are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodesToRgb {
    /// Code of black, and of no chroma.
    pub offset: [f64; 3],
    /// One row a colour (R, G, B), one column a component (Y, Cb, Cr).
    pub matrix: [[f64; 3]; 3],
}

impl Colorimetry {
    /// The map for samples of `bits` bits (8 to 16). For [`Matrix::Rgb`] the components are R, G, B.
    ///
    /// Quantisation is H.273's (equations 20 to 34): with limited range, luma spans 219 and chroma 224 steps at 8 bits,
    /// both times 2^(bits − 8); with full range luma spans 2^bits − 1 and chroma the same around 2^(bits − 1).
    pub fn codes_to_rgb(self, bits: u8) -> CodesToRgb {
        let one = f64::from(1u32 << (bits - 8));
        let peak = f64::from((1u32 << bits) - 1);
        let (black, luma, chroma) = match self.range {
            Range::Limited => (16.0 * one, 219.0 * one, 224.0 * one),
            Range::Full => (0.0, peak, peak),
        };
        let middle = 128.0 * one;
        let Some((kr, kb)) = self.matrix.luma_weights() else {
            let s = 1.0 / luma;
            return CodesToRgb {
                offset: [black; 3],
                matrix: [[s, 0.0, 0.0], [0.0, s, 0.0], [0.0, 0.0, s]],
            };
        };
        let kg = 1.0 - kr - kb;
        let (y, cb, cr) = (1.0 / luma, 2.0 * (1.0 - kb) / chroma, 2.0 * (1.0 - kr) / chroma);
        CodesToRgb {
            offset: [black, middle, middle],
            matrix: [[y, 0.0, cr], [y, -cb * kb / kg, -cr * kr / kg], [y, cb, 0.0]],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rgb(color: Colorimetry, bits: u8, code: [f64; 3]) -> [f64; 3] {
        let m = color.codes_to_rgb(bits);
        m.matrix
            .map(|row| (0..3).map(|i| row[i] * (code[i] - m.offset[i])).sum())
    }

    #[test]
    fn grey_axis_and_primaries() {
        for height in [480, 1080] {
            let c = Colorimetry::assumed(height);
            for bits in [8u8, 10, 12] {
                let one = f64::from(1u32 << (bits - 8));
                for v in rgb(c, bits, [235.0 * one, 128.0 * one, 128.0 * one]) {
                    assert!((v - 1.0).abs() < 1e-12);
                }
            }
        }
        // BT.709's blue is (32, 240, 118) in limited range, rounded to whole codes.
        let blue = rgb(Colorimetry::assumed(1080), 8, [32.0, 240.0, 118.0]);
        assert!(
            blue[0].abs() < 0.01 && blue[1].abs() < 0.01 && (blue[2] - 1.0).abs() < 0.01,
            "{blue:?}"
        );
    }
}
