//! What is drawn into a target, for everybody who shows it, and which part of the target each surface shows.
//!
//! One picture may be seen on several outputs, in different modes and sizes. It is converted once, into one target: the
//! part of the picture that anybody sees, no larger than the largest output needs it. Each surface then shows its part
//! of that target, by its viewport. Tiles are drawn, since no viewport can repeat a buffer.

use crate::{
    geometry::{FitMode, Rect, RectF, Size, place},
    orientation::Orientation,
};

/// A picture as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Columns and rows that are stored.
    pub stored: Size,
    /// The part of them that is to be seen.
    pub crop: Rect,
    /// Width to height of a stored pixel, as a fraction; both numbers above 0.
    pub pixel_aspect: (u32, u32),
    /// How it is turned upright.
    pub orientation: Orientation,
    /// Whether no pixel is transparent.
    pub opaque: bool,
}

/// The numbers do not describe a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// Nothing is left to be seen.
    #[error("no pixel is left to be seen of {stored}")]
    Empty {
        /// The stored size.
        stored: Size,
    },
    /// The pixel aspect ratio is not a usable fraction.
    #[error("pixels of {0}:{1} cannot be shown")]
    PixelAspect(u32, u32),
}

impl Picture {
    /// An upright, opaque picture with square pixels, all of it to be seen.
    pub const fn plain(size: Size) -> Self {
        Self {
            stored: size,
            crop: Rect::whole(size),
            pixel_aspect: (1, 1),
            orientation: Orientation::UPRIGHT,
            opaque: true,
        }
    }

    /// Checks that there is something to see, with pixels of a sane shape (at most 64 times as long as wide, or as wide
    /// as long), and clamps the crop into the picture.
    ///
    /// # Errors
    /// [`PictureError`] says which number is wrong.
    pub fn checked(mut self) -> Result<Self, PictureError> {
        self.crop = self.crop.clamped(self.stored);
        if self.crop.size().is_empty() {
            return Err(PictureError::Empty { stored: self.stored });
        }
        let (n, d) = (u64::from(self.pixel_aspect.0), u64::from(self.pixel_aspect.1));
        if n == 0 || d == 0 || n > 64 * d || d > 64 * n {
            return Err(PictureError::PixelAspect(
                self.pixel_aspect.0,
                self.pixel_aspect.1,
            ));
        }
        Ok(self)
    }

    /// Width and height of the stored picture in square pixels. The shorter side of a pixel counts as one, so nothing
    /// is lost.
    fn square(&self) -> (f64, f64) {
        let (w, h) = (f64::from(self.crop.w), f64::from(self.crop.h));
        let (n, d) = (f64::from(self.pixel_aspect.0), f64::from(self.pixel_aspect.1));
        if n >= d { (w * n / d, h) } else { (w, h * d / n) }
    }

    /// Width and height of the upright picture in square pixels.
    pub fn display_size(&self) -> (f64, f64) {
        let (w, h) = self.square();
        if self.orientation.swaps_axes() {
            (h, w)
        } else {
            (w, h)
        }
    }

    /// A rectangle of the upright picture in square pixels, as one of stored pixels (from the stored picture's origin).
    fn to_stored(self, upright: RectF) -> RectF {
        let (w, h) = self.square();
        let r = self.orientation.to_stored(upright, (w, h));
        let (sx, sy) = (f64::from(self.crop.w) / w, f64::from(self.crop.h) / h);
        RectF {
            x: f64::from(self.crop.x) + r.x * sx,
            y: f64::from(self.crop.y) + r.y * sy,
            w: r.w * sx,
            h: r.h * sy,
        }
    }
}

/// How a picture is shown: on an output of this many pixels, in this mode; one entry a surface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The surfaces that show it.
    pub uses: Vec<(FitMode, Size)>,
}

/// What lies in a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetPlan {
    /// The picture.
    pub picture: Picture,
    /// The part of the stored picture that is drawn, in stored pixels. Whole numbers along an axis that is not scaled.
    pub crop: RectF,
    /// The columns and rows that this part is drawn at, not yet turned upright.
    pub size: Size,
    /// Columns and rows of the target: `size`, or several times that where it is repeated.
    pub canvas: Size,
}

/// Which part of a target a surface shows, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePlan {
    /// In the target's pixels, after it was turned upright. Inside the target.
    pub source: RectF,
    /// In the output's pixels.
    pub dest: RectF,
}

impl TargetPlan {
    /// The whole visible picture, neither scaled nor repeated.
    pub fn whole(picture: Picture) -> Self {
        let crop = RectF {
            x: f64::from(picture.crop.x),
            y: f64::from(picture.crop.y),
            w: f64::from(picture.crop.w),
            h: f64::from(picture.crop.h),
        };
        Self {
            picture,
            crop,
            size: picture.crop.size(),
            canvas: picture.crop.size(),
        }
    }

    /// The stored picture itself is the target: nothing is drawn, and each surface shows its part of what is visible.
    pub fn stored(picture: Picture) -> Self {
        let size = picture.stored;
        let crop = RectF::whole(size);
        Self {
            picture,
            crop,
            size,
            canvas: size,
        }
    }

    /// The cheapest target that serves every surface: all that any of them sees, scaled down to what the largest needs.
    /// Enlarging is left to the compositor. Without surfaces it is the whole picture.
    pub fn new(picture: Picture, demand: &Demand) -> Self {
        let display = picture.display_size();
        let swap = picture.orientation.swaps_axes();
        let mut seen: Option<RectF> = None;
        let mut scale = (0f64, 0f64);
        let mut repeat = (1u32, 1u32);
        for &(mode, output) in demand.uses.iter().filter(|(_, output)| !output.is_empty()) {
            let mut placement = place(mode, display, output);
            if mode == FitMode::Tile {
                let count = |output: u32, tile: f64| output.div_ceil(tile.round().max(1.0) as u32);
                let tiles = (count(output.w, display.0), count(output.h, display.1));
                if tiles != (1, 1) {
                    placement = place(FitMode::Tile, display, Size::new(u32::MAX, u32::MAX));
                }
                let tiles = if swap { (tiles.1, tiles.0) } else { tiles };
                repeat = (repeat.0.max(tiles.0), repeat.1.max(tiles.1));
            }
            let source = picture.to_stored(placement.source);
            let dest = if swap {
                (placement.dest.h, placement.dest.w)
            } else {
                (placement.dest.w, placement.dest.h)
            };
            let needed = (dest.0 / source.w, dest.1 / source.h);
            // A tile is drawn at its size, whatever shape its pixels have; everything else is never enlarged here.
            let limit = if mode == FitMode::Tile { f64::INFINITY } else { 1.0 };
            scale = (scale.0.max(needed.0.min(limit)), scale.1.max(needed.1.min(limit)));
            seen = Some(seen.map_or(source, |all| all.union(source)));
        }
        let Some(mut seen) = seen else {
            return Self::whole(picture);
        };
        let whole = Self::whole(picture).crop;
        if repeat.0 > 1 {
            (seen.x, seen.w) = (whole.x, whole.w);
        }
        if repeat.1 > 1 {
            (seen.y, seen.h) = (whole.y, whole.h);
        }
        let (x, w, columns) = axis(seen.x, seen.w, scale.0, whole.x, whole.w);
        let (y, h, rows) = axis(seen.y, seen.h, scale.1, whole.y, whole.h);
        let size = Size::new(columns, rows);
        let canvas = Size::new(columns.saturating_mul(repeat.0), rows.saturating_mul(repeat.1));
        Self {
            picture,
            crop: RectF { x, y, w, h },
            size,
            canvas,
        }
    }

    /// The part that a surface in this mode on an output of this size shows.
    ///
    /// The plan need not have been made for it: a part that the target lacks is left out of both rectangles, so that
    /// nothing is ever distorted, or `None` if nothing is left.
    pub fn surface(&self, mode: FitMode, output: Size) -> Option<SurfacePlan> {
        let orientation = self.picture.orientation;
        let canvas = (f64::from(self.canvas.w), f64::from(self.canvas.h));
        if mode == FitMode::Tile {
            let upright = orientation.upright(self.canvas);
            let seen = RectF {
                x: 0.0,
                y: 0.0,
                w: f64::from(output.w.min(upright.w)),
                h: f64::from(output.h.min(upright.h)),
            };
            return (seen.w > 0.0 && seen.h > 0.0).then_some(SurfacePlan {
                source: seen,
                dest: seen,
            });
        }
        let placement = place(mode, self.picture.display_size(), output);
        let to_target = |upright: RectF| {
            let stored = self.picture.to_stored(upright);
            let (sx, sy) = (
                f64::from(self.size.w) / self.crop.w,
                f64::from(self.size.h) / self.crop.h,
            );
            let r = RectF {
                x: (stored.x - self.crop.x) * sx,
                y: (stored.y - self.crop.y) * sy,
                w: stored.w * sx,
                h: stored.h * sy,
            };
            orientation.to_upright(r, canvas)
        };
        let wanted = to_target(placement.source);
        // The first tile, upright: what there is.
        let tile = orientation.to_upright(RectF::whole(self.size), canvas);
        let source = intersect(wanted, tile)?;
        let (sx, sy) = (placement.dest.w / wanted.w, placement.dest.h / wanted.h);
        let dest = RectF {
            x: placement.dest.x + (source.x - wanted.x) * sx,
            y: placement.dest.y + (source.y - wanted.y) * sy,
            w: source.w * sx,
            h: source.h * sy,
        };
        Some(SurfacePlan { source, dest })
    }
}

/// The part of `r` inside `bounds`. A part that misses the border by less than a 256th of a pixel, the precision of
/// `wl_fixed`, is put onto it.
fn intersect(r: RectF, bounds: RectF) -> Option<RectF> {
    const NEAR: f64 = 1.0 / 256.0;
    let clip = |low: f64, len: f64, bound: f64, size: f64| {
        let near = |edge: f64, border: f64| {
            if (edge - border).abs() < NEAR {
                border
            } else {
                edge
            }
        };
        let start = near(low, bound).max(bound);
        let end = near(low + len, bound + size).min(bound + size);
        (start, end - start)
    };
    let (x, w) = clip(r.x, r.w, bounds.x, bounds.w);
    let (y, h) = clip(r.y, r.h, bounds.y, bounds.h);
    (w > 0.0 && h > 0.0).then_some(RectF { x, y, w, h })
}

/// Chooses the drawn part and its size along one axis: start, length (both in stored pixels) and pixels.
fn axis(low: f64, len: f64, scale: f64, bound: f64, size: f64) -> (f64, f64, u32) {
    let scaled = (len * scale).round();
    // Not scaled: whole pixels, a little more than is seen rather than less.
    if (scale - 1.0).abs() < 1e-9 || scaled == len {
        let start = (low + 1e-6).floor().max(bound);
        let end = (low + len - 1e-6).ceil().min(bound + size);
        return (start, end - start, (end - start) as u32);
    }
    (low.max(bound), len.min(size), (scaled as u32).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HD: Size = Size::new(1920, 1080);
    const UHD: Size = Size::new(3840, 2160);

    fn demand(uses: &[(FitMode, Size)]) -> Demand {
        Demand { uses: uses.to_vec() }
    }

    #[test]
    fn a_large_video_is_drawn_at_the_size_of_the_screen() {
        let plan = TargetPlan::new(Picture::plain(UHD), &demand(&[(FitMode::Fill, HD)]));
        assert_eq!((plan.size, plan.canvas), (HD, HD));
        assert_eq!(
            plan.crop,
            RectF {
                x: 0.0,
                y: 0.0,
                w: 3840.0,
                h: 2160.0
            }
        );
    }

    #[test]
    fn a_stored_picture_shows_only_what_is_visible() {
        // 1080 rows are coded as 1088.
        let coded = Picture {
            crop: Rect::whole(HD),
            ..Picture::plain(Size::new(1920, 1088))
        };
        let plan = TargetPlan::stored(coded);
        assert_eq!(plan.canvas, Size::new(1920, 1088));
        let shown = plan.surface(FitMode::Fill, HD).unwrap();
        assert_eq!((shown.source, shown.dest), (RectF::whole(HD), RectF::whole(HD)));
        let half = plan.surface(FitMode::Center, Size::new(960, 540)).unwrap();
        assert_eq!(
            (half.source.x, half.source.y, half.source.w),
            (480.0, 270.0, 960.0)
        );
        // Turned, the rows beyond are on another side.
        let turned = TargetPlan::stored(Picture {
            orientation: Orientation::from_exif(6),
            ..coded
        });
        let shown = turned.surface(FitMode::Fit, Size::new(1080, 1920)).unwrap();
        assert_eq!(
            (shown.source.x, shown.source.w, shown.source.h),
            (8.0, 1080.0, 1920.0)
        );
    }

    #[test]
    fn only_what_is_seen_is_drawn() {
        let wide = Picture::plain(Size::new(5120, 1440));
        let plan = TargetPlan::new(wide, &demand(&[(FitMode::Fill, HD)]));
        assert_eq!(
            plan.crop,
            RectF {
                x: 1280.0,
                y: 0.0,
                w: 2560.0,
                h: 1440.0
            }
        );
        assert_eq!(plan.size, HD);
        let surface = plan.surface(FitMode::Fill, HD).unwrap();
        assert_eq!(
            surface.source,
            RectF {
                x: 0.0,
                y: 0.0,
                w: 1920.0,
                h: 1080.0
            }
        );
    }

    #[test]
    fn a_single_output_gets_its_pixels_one_to_one() {
        for output in [
            Size::new(1366, 768),
            Size::new(1280, 1024),
            Size::new(800, 601),
            Size::new(1079, 1919),
        ] {
            for mode in [FitMode::Fill, FitMode::Fit, FitMode::Stretch] {
                for orientation in Orientation::ALL {
                    let picture = Picture {
                        orientation,
                        ..Picture::plain(UHD)
                    };
                    let plan = TargetPlan::new(picture, &demand(&[(mode, output)]));
                    let s = plan.surface(mode, output).unwrap();
                    let upright = orientation.upright(plan.canvas);
                    let near = |a: f64, b: f64| (a - b).abs() < 1.0 / 256.0;
                    assert!(
                        near(s.source.w, s.dest.w) && near(s.source.h, s.dest.h),
                        "{output} {mode} {s:?}"
                    );
                    assert!(near(s.source.w, f64::from(upright.w)) && near(s.source.h, f64::from(upright.h)));
                }
            }
        }
    }

    #[test]
    fn a_small_video_is_not_enlarged() {
        let plan = TargetPlan::new(
            Picture::plain(Size::new(640, 360)),
            &demand(&[(FitMode::Fill, HD)]),
        );
        assert_eq!(plan.size, Size::new(640, 360));
    }

    #[test]
    fn tiles_fill_the_canvas_and_serve_other_modes() {
        let picture = Picture::plain(Size::new(500, 400));
        let plan = TargetPlan::new(picture, &demand(&[(FitMode::Tile, HD), (FitMode::Fit, HD)]));
        assert_eq!(plan.canvas, Size::new(2000, 1200));
        let fit = plan.surface(FitMode::Fit, HD).unwrap();
        assert_eq!(
            fit.source,
            RectF {
                x: 0.0,
                y: 0.0,
                w: 500.0,
                h: 400.0
            }
        );
        let tile = plan.surface(FitMode::Tile, HD).unwrap();
        assert_eq!((tile.source.w, tile.dest.h), (1920.0, 1080.0));
    }

    #[test]
    fn oblong_pixels_widen_the_picture() {
        let pal = Picture {
            pixel_aspect: (16, 11),
            ..Picture::plain(Size::new(704, 576))
        };
        assert_eq!(pal.display_size(), (1024.0, 576.0));
        let tall = Picture {
            pixel_aspect: (1, 2),
            ..Picture::plain(Size::new(100, 100))
        };
        assert_eq!(tall.display_size(), (100.0, 200.0));
        assert!(
            Picture {
                pixel_aspect: (0, 1),
                ..pal
            }
            .checked()
            .is_err()
        );
        assert!(
            Picture {
                crop: Rect {
                    x: 704,
                    y: 0,
                    w: 9,
                    h: 9
                },
                ..pal
            }
            .checked()
            .is_err()
        );
    }

    fn picture() -> impl Strategy<Value = Picture> {
        (1u32..6000, 1u32..6000, 1u32..4, 1u32..4, 0usize..8).prop_map(|(w, h, n, d, o)| Picture {
            pixel_aspect: (n, d),
            orientation: Orientation::ALL[o],
            ..Picture::plain(Size::new(w, h))
        })
    }

    proptest! {
        #[test]
        fn every_surface_finds_its_part(
            picture in picture(),
            uses in proptest::collection::vec((0usize..5, 1u32..4000, 1u32..4000), 1..4),
        ) {
            let uses: Vec<_> = uses.into_iter().map(|(m, w, h)| (FitMode::ALL[m], Size::new(w, h))).collect();
            let plan = TargetPlan::new(picture, &demand(&uses));
            prop_assert!(!plan.size.is_empty());
            let c = plan.crop;
            prop_assert!(c.x >= -1e-6 && c.y >= -1e-6 && c.w > 0.0 && c.h > 0.0);
            prop_assert!(c.x + c.w <= f64::from(picture.stored.w) + 1e-6);
            prop_assert!(c.y + c.h <= f64::from(picture.stored.h) + 1e-6);
            let upright = picture.orientation.upright(plan.canvas);
            for (mode, output) in uses {
                let s = plan.surface(mode, output);
                prop_assert!(s.is_some());
                let s = s.unwrap();
                prop_assert!(s.source.x >= 0.0 && s.source.y >= 0.0);
                prop_assert!(s.source.x + s.source.w <= f64::from(upright.w) + 1e-6, "{s:?} {upright}");
                prop_assert!(s.source.y + s.source.h <= f64::from(upright.h) + 1e-6, "{s:?} {upright}");
                // What the mode promises is seen, to the pixel.
                if mode != FitMode::Tile {
                    let p = place(mode, picture.display_size(), output);
                    prop_assert!((s.dest.w - p.dest.w).abs() < 1.0 && (s.dest.h - p.dest.h).abs() < 1.0, "{s:?} {p:?}");
                }
            }
        }
    }
}
