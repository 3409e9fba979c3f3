//! How a format's planes are looked at as images: one texel format a plane, and where each component is in the texels.
//!
//! A texel is a pixel of its plane, as `drm_fourcc.h` counts them, so that a tiled plane is tiled the same for the image.
//! Only three-byte pixels are no texels that devices read: there it is a byte.

use ash::vk;
use veil_frame::{Component, FormatInfo, PixelFormat};

/// A plane as an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneLayout {
    /// Texels.
    pub format: vk::Format,
    /// Bytes of a texel.
    pub texel: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Whether a texel is a pixel. Where not, only rows one after the other (`DRM_FORMAT_MOD_LINEAR`) can be read.
    pub whole_pixels: bool,
}

/// Whether pictures of this format can be converted.
///
/// All can but two kinds: words of four bytes with the most significant one first, and words of which no texel is made.
pub fn supports(format: PixelFormat) -> bool {
    let info = format.info();
    (0..usize::from(info.planes)).all(|plane| texel(info, plane).is_some())
        && info
            .components
            .iter()
            .all(|c| c.word < 4 || (!c.big_endian && c.bits == [10, 10, 10, 2][usize::from(c.shift / 10)]))
}

/// The planes of a picture of `width` by `height` pixels; `None` if the format is not supported.
pub fn planes(format: PixelFormat, width: u32, height: u32) -> Option<impl Iterator<Item = PlaneLayout>> {
    let info = format.info();
    let planes = usize::from(info.planes);
    supports(format).then(|| (0..planes).filter_map(move |plane| plane_layout(info, plane, width, height)))
}

fn plane_layout(info: &FormatInfo, plane: usize, width: u32, height: u32) -> Option<PlaneLayout> {
    let (format, bytes) = texel(info, plane)?;
    Some(PlaneLayout {
        format,
        texel: bytes,
        width: (info.plane_row_bytes(plane, width) as u32).div_ceil(bytes),
        height: info.plane_rows(plane, height),
        whole_pixels: u32::from(pixel(info, plane)) == bytes,
    })
}

fn in_plane(info: &FormatInfo, plane: usize) -> impl Iterator<Item = &Component> {
    info.components
        .iter()
        .filter(move |c| usize::from(c.plane) == plane)
}

/// Bytes of a plane's pixel: from a sample of its densest component to the next.
fn pixel(info: &FormatInfo, plane: usize) -> u8 {
    in_plane(info, plane).map(|c| c.step).min().unwrap_or(0)
}

/// A plane's texel and its bytes.
fn texel(info: &FormatInfo, plane: usize) -> Option<(vk::Format, u32)> {
    let word = in_plane(info, plane).next()?.word;
    let pixel = pixel(info, plane);
    Some(match (word, pixel) {
        (1, 1 | 3) => (vk::Format::R8_UNORM, 1),
        (1, 2) => (vk::Format::R8G8_UNORM, 2),
        (1, 4) => (vk::Format::R8G8B8A8_UNORM, 4),
        (2, 2) => (vk::Format::R16_UNORM, 2),
        (2, 4) => (vk::Format::R16G16_UNORM, 4),
        (2, 8) => (vk::Format::R16G16B16A16_UNORM, 8),
        // Whatever its colours are called, red is in the lowest bits, and storage or not, it can be read everywhere.
        (4, 4) => (vk::Format::A2B10G10R10_UNORM_PACK32, 4),
        _ => return None,
    })
}

/// Where a component is in the texels of its plane, and in its word: `Parameters.components` of the shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The word of sample 0 in a row, where a texel is `1 << texel` words.
    pub(crate) offset: u32,
    /// Words from a sample to the next.
    pub(crate) step: u32,
    /// Words of a texel, as a power of two.
    pub(crate) texel: u32,
    /// 0 where the word is the sample; else its lowest bit, from bit 8 on the number of its bits, and bit 16 if bytes are
    /// to be swapped.
    pub(crate) bits: u32,
}

impl Place {
    /// The place of component `index` of a supported format.
    pub(crate) fn new(info: &FormatInfo, index: usize) -> Self {
        let c = &info.components[index];
        let bytes = texel(info, usize::from(c.plane)).map_or(1, |(_, bytes)| bytes);
        if c.word == 4 {
            // A word is a texel of four numbers.
            return Self {
                offset: u32::from(c.shift / 10),
                step: 4,
                texel: 2,
                bits: 0,
            };
        }
        let word = u32::from(c.word);
        let whole = c.bits == 8 * c.word && !c.big_endian;
        Self {
            offset: u32::from(c.offset) / word,
            step: u32::from(c.step) / word,
            texel: (bytes / word).trailing_zeros(),
            bits: if whole {
                0
            } else {
                u32::from(c.shift) | u32::from(c.bits) << 8 | u32::from(c.big_endian) << 16
            },
        }
    }

    /// Codes for each 1 that the shader reads.
    pub(crate) fn unit(self, bits: u8) -> f64 {
        if self.bits == 0 {
            f64::from((1u32 << bits) - 1)
        } else {
            1.0
        }
    }
}

/// Whether every sample of component `a` has its texel in common with the sample of `b` at the same place.
pub(crate) fn together(info: &FormatInfo, a: usize, b: usize) -> bool {
    let (Some(x), Some(y)) = (info.components.get(a), info.components.get(b)) else {
        return false;
    };
    let (p, q) = (Place::new(info, a), Place::new(info, b));
    let words = 1 << p.texel;
    x.plane == y.plane && p.step == q.step && p.step % words == 0 && p.offset / words == q.offset / words
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_testkit::planes::Random;

    /// A texel's numbers, as a device reads them: 0 to 1.
    fn texel_of(format: vk::Format, bytes: &[u8]) -> Vec<f64> {
        let words = |size: usize| {
            bytes
                .chunks(size)
                .map(|b| b.iter().rev().fold(0u32, |w, b| w << 8 | u32::from(*b)))
        };
        match format {
            vk::Format::R8_UNORM | vk::Format::R8G8_UNORM | vk::Format::R8G8B8A8_UNORM => {
                words(1).map(|w| f64::from(w) / 255.0).collect()
            }
            vk::Format::A2B10G10R10_UNORM_PACK32 => {
                let word = words(4).next().unwrap();
                let number = |(shift, bits): (u32, u32)| {
                    let peak = (1 << bits) - 1;
                    f64::from(word >> shift & peak) / f64::from(peak)
                };
                [(0, 10), (10, 10), (20, 10), (30, 2)].map(number).to_vec()
            }
            _ => words(2).map(|w| f64::from(w) / 65535.0).collect(),
        }
    }

    /// What `code` of `shaders/samples.wgsl` makes of it.
    fn sample(place: Place, value: f64) -> f64 {
        if place.bits == 0 {
            return value;
        }
        let mut word = (value * 65535.0 + 0.5) as u32;
        if place.bits & 0x1_0000 != 0 {
            word = u32::from((word as u16).swap_bytes());
        }
        f64::from(word >> (place.bits & 0xff) & ((1 << (place.bits >> 8 & 0xff)) - 1))
    }

    /// What `veil_frame::Component` says of it.
    fn described(c: &Component, row: &[u8], sample: usize) -> f64 {
        let at = usize::from(c.offset) + sample * usize::from(c.step);
        let mut bytes = row[at..][..usize::from(c.word)].to_vec();
        if !c.big_endian {
            bytes.reverse();
        }
        let word = bytes.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        f64::from(word >> c.shift & ((1 << c.bits) - 1))
    }

    #[test]
    fn texels_hold_what_the_formats_description_says() {
        let mut random = Random(0x7e8e1);
        for &format in PixelFormat::ALL {
            let info = format.info();
            let Some(planes) = planes(format, 13, 3) else {
                assert_eq!(format, PixelFormat::R210);
                continue;
            };
            for (plane, layout) in planes.enumerate() {
                assert!(layout.whole_pixels || layout.texel == 1, "{format:?}");
                let bytes = layout.width * layout.texel;
                assert!(bytes as usize >= info.plane_row_bytes(plane, 13), "{format:?}");
                let row: Vec<u8> = (0..bytes).map(|_| (random.next() >> 32) as u8).collect();
                let texels: Vec<_> = row
                    .chunks(layout.texel as usize)
                    .map(|bytes| texel_of(layout.format, bytes))
                    .collect();
                for (index, c) in info.components.iter().enumerate() {
                    if usize::from(c.plane) != plane {
                        continue;
                    }
                    let place = Place::new(info, index);
                    for k in 0..info.component_size(index, 13, 3).0 {
                        let word = place.offset + k * place.step;
                        let value =
                            texels[(word >> place.texel) as usize][word as usize % (1 << place.texel)];
                        let code = sample(place, value) * place.unit(c.bits);
                        let want = described(c, &row, k as usize);
                        assert!(
                            (code - want).abs() < 1e-6,
                            "{format:?} {index} {k}: {code}, not {want}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn components_in_one_texel_are_read_once() {
        let kind = |format: PixelFormat| {
            let info = format.info();
            [(1, 0), (2, 1), (3, 0)].map(|(a, b)| together(info, a, b))
        };
        assert_eq!(kind(PixelFormat::Nv12), [false, true, false]);
        assert_eq!(kind(PixelFormat::I420), [false, false, false]);
        assert_eq!(kind(PixelFormat::Yuy2), [false, false, false]);
        assert_eq!(kind(PixelFormat::Bgra), [true, true, true]);
        assert_eq!(kind(PixelFormat::Bgrx), [true, true, false]);
        assert_eq!(kind(PixelFormat::Y410), [true, true, true]);
        assert_eq!(kind(PixelFormat::Rgb), [false, false, false]);
        assert_eq!(kind(PixelFormat::Av12), [false, true, false]);
    }
}
