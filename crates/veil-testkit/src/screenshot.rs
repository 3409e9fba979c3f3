//! Pictures of an output, and questions to them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use image::RgbImage;

/// A part of a picture, in its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// The leftmost column.
    pub x: u32,
    /// The topmost row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Rect {
    /// A rectangle from its corner and size.
    pub fn new(x: u32, y: u32, width: u32, height: u32) -> Self {
        Self { x, y, width, height }
    }
}

/// What an output shows at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shot {
    image: RgbImage,
}

impl Shot {
    /// A picture that did not come from a compositor, to compare with.
    pub fn from_image(image: RgbImage) -> Self {
        Self { image }
    }

    /// Runs a prepared `grim` command, which must write a PPM to its stdout.
    pub(crate) fn take(mut grim: Command) -> Result<Self> {
        let output = grim.output().context("cannot start grim")?;
        if !output.status.success() {
            bail!("grim: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let image = image::load_from_memory_with_format(&output.stdout, image::ImageFormat::Pnm)
            .context("grim gave no picture")?;
        Ok(Self {
            image: image.into_rgb8(),
        })
    }

    /// The picture itself.
    pub fn image(&self) -> &RgbImage {
        &self.image
    }

    /// Width and height.
    pub fn size(&self) -> (u32, u32) {
        self.image.dimensions()
    }

    /// All of it.
    pub fn all(&self) -> Rect {
        Rect::new(0, 0, self.image.width(), self.image.height())
    }

    /// One pixel; black outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        self.image.get_pixel_checked(x, y).map_or([0; 3], |pixel| pixel.0)
    }

    /// Whether a pixel is within `tolerance` of `colour` in every channel.
    pub fn is_near(&self, x: u32, y: u32, colour: [u8; 3], tolerance: u8) -> bool {
        self.pixel(x, y)
            .iter()
            .zip(colour)
            .all(|(have, want)| have.abs_diff(want) <= tolerance)
    }

    /// Whether every pixel is within `tolerance` of `colour` in every channel.
    pub fn is_plain(&self, colour: [u8; 3], tolerance: u8) -> bool {
        let near = |((low, high), want): (&(u8, u8), u8)| {
            low.abs_diff(want) <= tolerance && high.abs_diff(want) <= tolerance
        };
        self.range(self.all()).iter().zip(colour).all(near)
    }

    /// The mean colour of a part. What lies outside the picture does not count.
    pub fn mean(&self, part: Rect) -> [f64; 3] {
        let (mut sums, mut count) = ([0u64; 3], 0u64);
        for pixel in self.pixels(part) {
            for (sum, channel) in sums.iter_mut().zip(pixel) {
                *sum += u64::from(channel);
            }
            count += 1;
        }
        sums.map(|sum| sum as f64 / count.max(1) as f64)
    }

    /// The smallest and the largest value that each channel has in a part.
    pub fn range(&self, part: Rect) -> [(u8, u8); 3] {
        let mut ranges = [(u8::MAX, u8::MIN); 3];
        for pixel in self.pixels(part) {
            for (range, channel) in ranges.iter_mut().zip(pixel) {
                *range = (range.0.min(channel), range.1.max(channel));
            }
        }
        ranges
    }

    /// The largest difference of any channel of any pixel to another picture of the same size; 255 if the sizes differ.
    pub fn max_difference(&self, other: &Self) -> u8 {
        if self.size() != other.size() {
            return u8::MAX;
        }
        let bytes = self.image.as_raw().iter().zip(other.image.as_raw());
        bytes.map(|(one, two)| one.abs_diff(*two)).max().unwrap_or(0)
    }

    /// The mean difference of all channels to another picture of the same size; 255 if the sizes differ.
    pub fn mean_difference(&self, other: &Self) -> f64 {
        if self.size() != other.size() {
            return 255.0;
        }
        let bytes = self.image.as_raw().iter().zip(other.image.as_raw());
        let sum: u64 = bytes.map(|(one, two)| u64::from(one.abs_diff(*two))).sum();
        sum as f64 / self.image.as_raw().len().max(1) as f64
    }

    /// Keeps the picture as `target/screenshots/NAME.png` for a person to look at.
    pub fn keep(&self, name: &str) -> Result<PathBuf> {
        let folder = crate::target().join("screenshots");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.png"));
        self.image
            .save(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn pixels(&self, part: Rect) -> impl Iterator<Item = [u8; 3]> {
        let (width, height) = self.size();
        let columns = part.x.min(width)..part.x.saturating_add(part.width).min(width);
        let rows = part.y.min(height)..part.y.saturating_add(part.height).min(height);
        rows.flat_map(move |y| columns.clone().map(move |x| self.image.get_pixel(x, y).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_can_be_asked_about() {
        let mut image = RgbImage::from_pixel(4, 2, image::Rgb([10, 20, 30]));
        image.put_pixel(3, 1, image::Rgb([14, 20, 30]));
        let shot = Shot::from_image(image);
        assert_eq!(shot.mean(Rect::new(2, 0, 2, 2)), [11.0, 20.0, 30.0]);
        assert_eq!(shot.range(shot.all())[0], (10, 14));
        assert!(shot.is_near(3, 1, [12, 20, 30], 2));
        assert_eq!(shot.pixel(9, 9), [0; 3]);
        assert_eq!(shot.mean(Rect::new(9, 9, 5, 5)), [0.0; 3]);
    }

    #[test]
    fn pictures_of_different_sizes_differ() {
        let (one, two) = (
            Shot::from_image(RgbImage::new(2, 2)),
            Shot::from_image(RgbImage::new(2, 3)),
        );
        assert_eq!(one.max_difference(&one), 0);
        assert_eq!(one.max_difference(&two), 255);
    }
}
