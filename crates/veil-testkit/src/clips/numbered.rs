//! Clips whose frames carry their number, so that a screenshot tells which frame it shows.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;

use super::{H264, lavfi};
use crate::screenshot::{Rect, Shot};

/// How many bits a number has: enough for 34 minutes at 30 frames a second.
const BITS: u32 = 16;
/// The strip of blocks is the middle half of the picture's height, so that `fill` does not cut it off.
const TOP: f64 = 0.25;

/// A clip whose frames carry their number, from 0, as black and white blocks.
///
/// There are two rows of 16 blocks, the highest bit at the left; the lower row is the upper row's negative, so a
/// picture that mixes two frames is found out. Above and below them something moves.
pub fn numbered(width: u32, height: u32, fps: u32, seconds: f64) -> Result<PathBuf> {
    let mut source = format!("testsrc2=s={width}x{height}:r={fps}:d={seconds}");
    let (block, row, top) = (
        f64::from(width) / f64::from(BITS),
        f64::from(height) / 4.0,
        TOP * f64::from(height),
    );
    write!(
        source,
        ",drawbox=x=0:y={top:.0}:w={width}:h={:.0}:c=black:t=fill",
        2.0 * row
    )?;
    for bit in 0..BITS {
        let left = block * f64::from(BITS - 1 - bit);
        let (all, half) = (1u32 << (bit + 1), 1u32 << bit);
        for (y, test) in [(top, "gte"), (top + row, "lt")] {
            write!(
                source,
                ",drawbox=x={left:.0}:y={y:.0}:w={block:.0}:h={row:.0}:c=white:t=fill:enable='{test}(mod(n,{all}),{half})'"
            )?;
        }
    }
    lavfi(
        &format!("numbered-{width}x{height}-{fps}-{seconds}.mp4"),
        &source,
        H264,
    )
}

/// The number of the frame of a [`numbered`] clip that lies in this part of a screenshot; `None` if there is no whole
/// frame there.
pub fn read_number(shot: &Shot, part: Rect) -> Option<u32> {
    let block = f64::from(part.width) / f64::from(BITS);
    let row = f64::from(part.height) / 4.0;
    let (width, height) = ((block / 3.0).max(1.0) as u32, (row / 3.0).max(1.0) as u32);
    let is_white = |column: u32, line: f64| {
        let x = part.x + (block * (f64::from(column) + 1.0 / 3.0)) as u32;
        let y = part.y + (TOP * f64::from(part.height) + row * (line + 1.0 / 3.0)) as u32;
        let [red, green, blue] = shot.mean(Rect::new(x, y, width, height));
        match (red + green + blue) / 3.0 {
            grey if grey > 200.0 => Some(true),
            grey if grey < 55.0 => Some(false),
            _ => None,
        }
    };
    let mut number = 0;
    for column in 0..BITS {
        let bit = is_white(column, 0.0)?;
        if is_white(column, 1.0)? == bit {
            return None;
        }
        number = number << 1 | u32::from(bit);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Rgb, RgbImage};

    fn drawn(number: u32, size: (u32, u32)) -> Shot {
        Shot::from_image(RgbImage::from_fn(size.0, size.1, |x, y| {
            let bit = number >> (BITS - 1 - x * BITS / size.0) & 1;
            let line = (4 * y / size.1).saturating_sub(1);
            Rgb([if bit ^ line == 1 { 255 } else { 0 }; 3])
        }))
    }

    #[test]
    fn numbers_are_read_at_any_size() {
        for number in [0, 1, 12345, 65535] {
            for size in [(160, 90), (333, 187), (1920, 1080)] {
                let shot = drawn(number, size);
                assert_eq!(
                    read_number(&shot, shot.all()),
                    Some(number),
                    "{number} at {size:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        let grey = Shot::from_image(RgbImage::from_pixel(160, 90, Rgb([128; 3])));
        assert_eq!(read_number(&grey, grey.all()), None);
        let black = Shot::from_image(RgbImage::new(160, 90));
        assert_eq!(read_number(&black, black.all()), None);
    }
}
