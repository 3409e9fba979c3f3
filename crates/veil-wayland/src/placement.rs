//! From a plan in an output's pixels to the numbers of a surface: logical coordinates, whole for positions and
//! destination sizes (`wl_subsurface.set_position`, `wp_viewport.set_destination`), in 256ths for the source
//! (`wp_viewport.set_source`).

use veil_frame::{FitMode, RectF, Size, TargetPlan};

/// What the subsurface is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SurfacePlacement {
    /// Logical position in the parent.
    pub(crate) position: (i32, i32),
    /// Logical size, at least 1x1.
    pub(crate) destination: (i32, i32),
    /// Part of the buffer after its transform; `None` is all of it.
    pub(crate) source: Option<RectF>,
    /// A number of `wl_output.transform`.
    pub(crate) transform: u32,
}

/// Where a target goes on an output of `pixels` pixels whose surface was configured to `logical`; `None` if none of it
/// is seen.
pub(crate) fn surface_placement(
    plan: &TargetPlan,
    mode: FitMode,
    pixels: Size,
    logical: Size,
) -> Option<SurfacePlacement> {
    let surface = plan.surface(mode, pixels)?;
    let (sx, sy) = (
        f64::from(logical.w) / f64::from(pixels.w),
        f64::from(logical.h) / f64::from(pixels.h),
    );
    let span = |start: f64, len: f64, scale: f64| {
        let first = (start * scale).round();
        let last = ((start + len) * scale).round().max(first + 1.0);
        (first as i32, (last - first) as i32)
    };
    let (x, w) = span(surface.dest.x, surface.dest.w, sx);
    let (y, h) = span(surface.dest.y, surface.dest.h, sy);
    let upright = plan.picture.orientation.upright(plan.canvas);
    Some(SurfacePlacement {
        position: (x, y),
        destination: (w, h),
        source: in_256ths(surface.source, upright, (surface.dest.w, surface.dest.h)),
        transform: plan.picture.orientation.wl_transform(),
    })
}

/// Rounds a source to what `wl_fixed` can say, never outside the buffer: that is the fatal error `out_of_buffer`. It is
/// drawn on so many pixels of the output.
fn in_256ths(source: RectF, buffer: Size, drawn: (f64, f64)) -> Option<RectF> {
    let axis = |start: f64, len: f64, size: u32, drawn: f64| {
        let limit = f64::from(size) * 256.0;
        let first = (start * 256.0).round().clamp(0.0, limit - 1.0);
        let mut last = ((start + len) * 256.0).round().clamp(first + 1.0, limit);
        while last > first + 1.0 && steps_out(first / 256.0, last / 256.0, f64::from(size), drawn.round()) {
            last -= 1.0;
        }
        (first / 256.0, (last - first) / 256.0)
    };
    let (x, w) = axis(source.x, source.w, buffer.w, drawn.0);
    let (y, h) = axis(source.y, source.h, buffer.h, drawn.1);
    let whole = x == 0.0 && y == 0.0 && w == f64::from(buffer.w) && h == f64::from(buffer.h);
    (!whole).then_some(RectF { x, y, w, h })
}

/// Whether the last pixel is drawn from outside of the buffer by pixman, with which compositors without a GPU draw: it
/// steps through the source in whole 65 536ths of a pixel. Some pixels of the buffer on very many of the output are
/// enough for that, and the last columns or rows remain empty.
fn steps_out(first: f64, last: f64, size: f64, drawn: f64) -> bool {
    let step = ((last - first) / drawn * 65_536.0).round() / 65_536.0;
    first + (drawn - 0.5) * step >= size
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_frame::{Demand, Picture};

    const HD: Size = Size::new(1920, 1080);

    #[test]
    fn a_video_of_the_screens_size_is_attached_as_it_is() {
        let plan = TargetPlan::whole(Picture::plain(HD));
        let placement = surface_placement(&plan, FitMode::Fill, HD, HD).unwrap();
        assert_eq!(placement.source, None);
        assert_eq!(
            (placement.position, placement.destination),
            ((0, 0), (1920, 1080))
        );
    }

    #[test]
    fn fractional_scale_keeps_the_edges_whole() {
        let pixels = Size::new(1366, 768);
        let logical = Size::new(911, 512);
        let picture = Picture::plain(HD);
        let plan = TargetPlan::new(
            picture,
            &Demand {
                uses: vec![(FitMode::Fill, pixels)],
            },
        );
        let placement = surface_placement(&plan, FitMode::Fill, pixels, logical).unwrap();
        assert_eq!((placement.position, placement.destination), ((0, 0), (911, 512)));
        assert_eq!(placement.source, None);
    }

    #[test]
    fn the_source_never_leaves_the_buffer() {
        for (w, h) in [(1367u32, 769u32), (3, 5), (16, 16), (4096, 2)] {
            for mode in FitMode::ALL {
                let plan = TargetPlan::whole(Picture::plain(Size::new(w, h)));
                let Some(p) = surface_placement(&plan, mode, Size::new(1111, 777), Size::new(740, 518))
                else {
                    panic!("{w}x{h} {mode}: nothing to see")
                };
                if let Some(s) = p.source {
                    assert!(s.x >= 0.0 && s.w > 0.0 && s.x + s.w <= f64::from(w), "{s:?}");
                    assert!(s.y >= 0.0 && s.h > 0.0 && s.y + s.h <= f64::from(h), "{s:?}");
                }
            }
        }
    }

    #[test]
    fn a_tiny_picture_reaches_the_last_pixel() {
        let output = Size::new(1366, 768);
        for size in [1, 2, 3, 7, 16, 17, 33] {
            let plan = TargetPlan::whole(Picture::plain(Size::new(size, size)));
            let placement = surface_placement(&plan, FitMode::Stretch, output, output).unwrap();
            let (w, h) = placement
                .source
                .map_or((size.into(), size.into()), |source| (source.w, source.h));
            for (length, pixels) in [(w, 1366.0), (h, 768.0)] {
                let step = (length / pixels * 65_536.0).round();
                assert!(
                    (pixels - 0.5) * step < f64::from(size) * 65_536.0,
                    "{size}: {length}"
                );
                assert!(
                    length > f64::from(size) - pixels / 512.0 / 256.0 - 0.01,
                    "{size}: {length}"
                );
            }
        }
        // Nothing is cut where nothing is amiss.
        let plan = TargetPlan::whole(Picture::plain(Size::new(320, 180)));
        let placement = surface_placement(&plan, FitMode::Stretch, output, output).unwrap();
        assert_eq!(placement.source, None);
    }
}
