//! How a stored picture must be turned to stand upright: the eight symmetries of a rectangle.
//!
//! A video names them by GStreamer's `image-orientation` tag, a photo by EXIF's Orientation (CIPA DC-008, 4.6.4 A), and
//! the compositor undoes them by `wl_surface.set_buffer_transform`, which names the turn that the *contents* have
//! already had: a buffer whose contents were turned 90 degrees counter-clockwise is transform 90.

use crate::geometry::{RectF, Size};

/// The turn that makes a stored picture upright: first mirrored left to right if `mirrored`, then turned clockwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orientation {
    /// Mirrored left to right before it is turned.
    pub mirrored: bool,
    /// Quarter turns clockwise, 0 to 3.
    pub quarters: u8,
}

impl Orientation {
    /// Upright as it is stored.
    pub const UPRIGHT: Self = Self {
        mirrored: false,
        quarters: 0,
    };

    /// All eight.
    pub const ALL: [Self; 8] = {
        let mut all = [Self::UPRIGHT; 8];
        let mut i = 0;
        while i < 8 {
            all[i] = Self {
                mirrored: i >= 4,
                quarters: (i % 4) as u8,
            };
            i += 1;
        }
        all
    };

    /// From GStreamer's tag `image-orientation` (`rotate-0` … `rotate-270`: clockwise; `flip-rotate-…`: mirrored left to
    /// right first). `None` for a word that is not one of them.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let (mirrored, turn) = match tag.strip_prefix("flip-") {
            Some(turn) => (true, turn),
            None => (false, tag),
        };
        let quarters = match turn {
            "rotate-0" => 0,
            "rotate-90" => 1,
            "rotate-180" => 2,
            "rotate-270" => 3,
            _ => return None,
        };
        Some(Self { mirrored, quarters })
    }

    /// From EXIF's Orientation, 1 to 8; anything else counts as upright, as the standard asks of unknown values.
    pub fn from_exif(value: u16) -> Self {
        let (mirrored, quarters) = match value {
            2 => (true, 0),
            3 => (false, 2),
            4 => (true, 2),
            5 => (true, 3),
            6 => (false, 1),
            7 => (true, 1),
            8 => (false, 3),
            _ => (false, 0),
        };
        Self { mirrored, quarters }
    }

    /// Whether columns and rows change places.
    pub const fn swaps_axes(self) -> bool {
        self.quarters % 2 == 1
    }

    /// The size of the upright picture for a stored one.
    pub const fn upright(self, stored: Size) -> Size {
        if self.swaps_axes() {
            stored.swapped()
        } else {
            stored
        }
    }

    /// The number of `wl_output.transform` that a buffer with these contents has: the compositor then turns it upright.
    ///
    /// `wl_output.transform` counts counter-clockwise turns of the contents (1, 2, 3 for 90, 180, 270), and 4 to 7 are
    /// the same after a mirroring around the vertical axis. The inverse of "mirror, then turn clockwise" is "turn
    /// counter-clockwise, then mirror", which equals "mirror, then turn clockwise".
    pub const fn wl_transform(self) -> u32 {
        if self.mirrored {
            4 + ((4 - self.quarters as u32) % 4)
        } else {
            self.quarters as u32
        }
    }

    /// Maps a rectangle of the upright picture back to the stored one, whose size is `stored` (width, height).
    pub fn to_stored(self, rect: RectF, stored: (f64, f64)) -> RectF {
        let (w, h) = stored;
        // Undo the clockwise turn.
        let mut r = match self.quarters % 4 {
            0 => rect,
            1 => RectF {
                x: rect.y,
                y: h - rect.x - rect.w,
                w: rect.h,
                h: rect.w,
            },
            2 => RectF {
                x: w - rect.x - rect.w,
                y: h - rect.y - rect.h,
                w: rect.w,
                h: rect.h,
            },
            _ => RectF {
                x: w - rect.y - rect.h,
                y: rect.x,
                w: rect.h,
                h: rect.w,
            },
        };
        if self.mirrored {
            r.x = w - r.x - r.w;
        }
        r
    }

    /// Maps a rectangle of the stored picture, whose size is `stored` (width, height), to the upright one.
    pub fn to_upright(self, mut rect: RectF, stored: (f64, f64)) -> RectF {
        let (w, h) = stored;
        if self.mirrored {
            rect.x = w - rect.x - rect.w;
        }
        match self.quarters % 4 {
            0 => rect,
            1 => RectF {
                x: h - rect.y - rect.h,
                y: rect.x,
                w: rect.h,
                h: rect.w,
            },
            2 => RectF {
                x: w - rect.x - rect.w,
                y: h - rect.y - rect.h,
                w: rect.w,
                h: rect.h,
            },
            _ => RectF {
                x: rect.y,
                y: w - rect.x - rect.w,
                w: rect.h,
                h: rect.w,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let stored = (40.0, 30.0);
        let part = RectF {
            x: 3.0,
            y: 5.0,
            w: 7.0,
            h: 11.0,
        };
        for o in Orientation::ALL {
            assert_eq!(o.to_stored(o.to_upright(part, stored), stored), part, "{o:?}");
        }
    }

    #[test]
    fn a_quarter_clockwise_takes_the_top_to_the_right() {
        let top = RectF {
            x: 0.0,
            y: 0.0,
            w: 40.0,
            h: 1.0,
        };
        let turned = Orientation {
            mirrored: false,
            quarters: 1,
        }
        .to_upright(top, (40.0, 30.0));
        assert_eq!(
            turned,
            RectF {
                x: 29.0,
                y: 0.0,
                w: 1.0,
                h: 40.0
            }
        );
    }

    #[test]
    fn exif_and_tags_agree() {
        let names = [
            "rotate-0",
            "flip-rotate-0",
            "rotate-180",
            "flip-rotate-180",
            "flip-rotate-270",
            "rotate-90",
            "flip-rotate-90",
            "rotate-270",
        ];
        for (value, name) in (1u16..).zip(names) {
            assert_eq!(Some(Orientation::from_exif(value)), Orientation::from_tag(name));
        }
        assert_eq!(Orientation::from_tag("sideways"), None);
        assert_eq!(Orientation::from_exif(77), Orientation::UPRIGHT);
    }
}
