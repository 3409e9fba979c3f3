//! Sizes, rectangles, and where a picture goes on an output.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A size in whole pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "[u32; 2]", into = "[u32; 2]")]
pub struct Size {
    /// Columns.
    pub w: u32,
    /// Rows.
    pub h: u32,
}

impl Size {
    /// A size of `w` columns and `h` rows.
    pub const fn new(w: u32, h: u32) -> Self {
        Self { w, h }
    }

    /// Whether there is not a single pixel.
    pub const fn is_empty(self) -> bool {
        self.w == 0 || self.h == 0
    }

    /// The size with columns and rows exchanged.
    pub const fn swapped(self) -> Self {
        Self { w: self.h, h: self.w }
    }
}

impl From<[u32; 2]> for Size {
    fn from([w, h]: [u32; 2]) -> Self {
        Self { w, h }
    }
}

impl From<Size> for [u32; 2] {
    fn from(size: Size) -> Self {
        [size.w, size.h]
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.w, self.h)
    }
}

/// A rectangle of whole pixels, inside some picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rect {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub w: u32,
    /// Rows.
    pub h: u32,
}

impl Rect {
    /// The whole of a picture of this size.
    pub const fn whole(size: Size) -> Self {
        Self {
            x: 0,
            y: 0,
            w: size.w,
            h: size.h,
        }
    }

    /// Its columns and rows.
    pub const fn size(self) -> Size {
        Size { w: self.w, h: self.h }
    }

    /// The part of it that lies inside a picture of this size.
    pub fn clamped(self, size: Size) -> Self {
        let x = self.x.min(size.w);
        let y = self.y.min(size.h);
        Self {
            x,
            y,
            w: self.w.min(size.w - x),
            h: self.h.min(size.h - y),
        }
    }
}

/// A rectangle with fractions of pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RectF {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl RectF {
    /// The whole of a picture of this size.
    pub fn whole(size: Size) -> Self {
        Self {
            x: 0.0,
            y: 0.0,
            w: f64::from(size.w),
            h: f64::from(size.h),
        }
    }

    /// The smallest rectangle that holds both.
    pub fn union(self, other: Self) -> Self {
        let x = self.x.min(other.x);
        let y = self.y.min(other.y);
        let right = (self.x + self.w).max(other.x + other.w);
        let bottom = (self.y + self.h).max(other.y + other.h);
        Self {
            x,
            y,
            w: right - x,
            h: bottom - y,
        }
    }
}

/// How a picture is fitted to an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FitMode {
    /// Cover the whole output, keep the aspect ratio, cut off what stands over on both sides alike.
    #[default]
    Fill,
    /// Show the whole picture, keep the aspect ratio, leave bars in the background colour.
    Fit,
    /// Show the whole picture on the whole output, whatever becomes of the aspect ratio.
    Stretch,
    /// One pixel of the picture is one pixel of the output; centred, cut off or with bars around it.
    Center,
    /// One pixel of the picture is one pixel of the output; repeated from the top left corner.
    Tile,
}

impl FitMode {
    /// Every mode, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::Fill, Self::Fit, Self::Stretch, Self::Center, Self::Tile];

    /// The name that people use for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Fit => "fit",
            Self::Stretch => "stretch",
            Self::Center => "center",
            Self::Tile => "tile",
        }
    }
}

/// The text is not a mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is not a mode: use fill, fit, stretch, center or tile")]
pub struct ParseFitModeError(String);

impl FromStr for FitMode {
    type Err = ParseFitModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| ParseFitModeError(text.to_owned()))
    }
}

impl fmt::Display for FitMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which part of a picture is seen, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The part of the picture that is seen, in its own pixels (upright, square).
    pub source: RectF,
    /// Where that part lies on the output, in the output's pixels.
    pub dest: RectF,
}

/// Places a picture of `picture` pixels (width and height; upright, square pixels, so not always whole) on an output
/// of `output` pixels. In [`FitMode::Tile`] the placement is that of the first tile, which may be cut off.
///
/// Neither size may be empty; an empty one gives an empty placement.
pub fn place(mode: FitMode, picture: (f64, f64), output: Size) -> Placement {
    let (pw, ph) = picture;
    let (ow, oh) = (f64::from(output.w), f64::from(output.h));
    let whole = RectF {
        x: 0.0,
        y: 0.0,
        w: pw,
        h: ph,
    };
    let screen = RectF {
        x: 0.0,
        y: 0.0,
        w: ow,
        h: oh,
    };
    if !(pw > 0.0 && ph > 0.0 && ow > 0.0 && oh > 0.0) {
        return Placement {
            source: RectF::default(),
            dest: RectF::default(),
        };
    }
    match mode {
        FitMode::Stretch => Placement {
            source: whole,
            dest: screen,
        },
        FitMode::Fill => {
            let scale = (ow / pw).max(oh / ph);
            let (w, h) = ((ow / scale).min(pw), (oh / scale).min(ph));
            Placement {
                source: RectF {
                    x: (pw - w) / 2.0,
                    y: (ph - h) / 2.0,
                    w,
                    h,
                },
                dest: screen,
            }
        }
        FitMode::Fit => {
            let scale = (ow / pw).min(oh / ph);
            // Whole pixels: a bar's edge is sharp, and a picture that nearly fits fills the output.
            let w = (pw * scale).round().clamp(1.0, ow);
            let h = (ph * scale).round().clamp(1.0, oh);
            let dest = RectF {
                x: ((ow - w) / 2.0).floor(),
                y: ((oh - h) / 2.0).floor(),
                w,
                h,
            };
            Placement { source: whole, dest }
        }
        FitMode::Center => {
            let (w, h) = (pw.round().max(1.0), ph.round().max(1.0));
            let (seen_w, seen_h) = (w.min(ow), h.min(oh));
            Placement {
                source: RectF {
                    x: ((w - seen_w) / 2.0).floor() * pw / w,
                    y: ((h - seen_h) / 2.0).floor() * ph / h,
                    w: seen_w * pw / w,
                    h: seen_h * ph / h,
                },
                dest: RectF {
                    x: ((ow - seen_w) / 2.0).floor(),
                    y: ((oh - seen_h) / 2.0).floor(),
                    w: seen_w,
                    h: seen_h,
                },
            }
        }
        FitMode::Tile => {
            let (w, h) = (pw.round().max(1.0), ph.round().max(1.0));
            let (seen_w, seen_h) = (w.min(ow), h.min(oh));
            Placement {
                source: RectF {
                    x: 0.0,
                    y: 0.0,
                    w: seen_w * pw / w,
                    h: seen_h * ph / h,
                },
                dest: RectF {
                    x: 0.0,
                    y: 0.0,
                    w: seen_w,
                    h: seen_h,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HD: Size = Size::new(1920, 1080);

    #[test]
    fn fill_cuts_both_sides_alike() {
        let p = place(FitMode::Fill, (5120.0, 1440.0), HD);
        assert_eq!(
            p.source,
            RectF {
                x: 1280.0,
                y: 0.0,
                w: 2560.0,
                h: 1440.0
            }
        );
        assert_eq!(
            p.dest,
            RectF {
                x: 0.0,
                y: 0.0,
                w: 1920.0,
                h: 1080.0
            }
        );
    }

    #[test]
    fn fit_leaves_bars() {
        let p = place(FitMode::Fit, (1080.0, 1920.0), HD);
        assert_eq!(
            p.dest,
            RectF {
                x: 656.0,
                y: 0.0,
                w: 608.0,
                h: 1080.0
            }
        );
    }

    #[test]
    fn center_is_pixel_exact() {
        let p = place(FitMode::Center, (640.0, 360.0), HD);
        assert_eq!(
            p.dest,
            RectF {
                x: 640.0,
                y: 360.0,
                w: 640.0,
                h: 360.0
            }
        );
        let p = place(FitMode::Center, (3840.0, 2161.0), HD);
        assert_eq!(
            p.source,
            RectF {
                x: 960.0,
                y: 540.0,
                w: 1920.0,
                h: 1080.0
            }
        );
        assert_eq!(
            p.dest,
            RectF {
                x: 0.0,
                y: 0.0,
                w: 1920.0,
                h: 1080.0
            }
        );
    }

    proptest! {
        #[test]
        fn always_inside(mode in 0usize..5, pw in 1u32..20000, ph in 1u32..20000, ow in 1u32..9000, oh in 1u32..9000) {
            let output = Size::new(ow, oh);
            let p = place(FitMode::ALL[mode], (f64::from(pw), f64::from(ph)), output);
            let inside = |r: RectF, w: f64, h: f64| {
                r.x >= 0.0 && r.y >= 0.0 && r.w > 0.0 && r.h > 0.0 && r.x + r.w <= w + 1e-6 && r.y + r.h <= h + 1e-6
            };
            prop_assert!(inside(p.source, f64::from(pw), f64::from(ph)), "{p:?}");
            prop_assert!(inside(p.dest, f64::from(ow), f64::from(oh)), "{p:?}");
        }
    }
}
