//! What is refused, that nothing else is, and that frames cost no memory.

use proptest::prelude::*;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};
use veil_convert::{ConvertError, Converter, Level, Planes, Spec, SpecError};
use veil_frame::{
    ChromaSite, Colorimetry, PixelFormat, Primaries, RectF, Size, SpecError as Picture, Transfer,
};

/// Counts this thread's allocations.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn spec(format: PixelFormat, stored: Size, size: Size) -> Spec {
    Spec {
        format,
        stored,
        colorimetry: Colorimetry::assumed(stored.h),
        site: ChromaSite::LEFT,
        crop: RectF::whole(stored),
        size,
    }
}

/// Planes of exactly the bytes that a picture needs.
fn memory(format: PixelFormat, stored: Size) -> (Vec<Vec<u8>>, [usize; 4]) {
    let info = format.info();
    let mut strides = [0; 4];
    let data = (0..usize::from(info.planes)).map(|plane| {
        strides[plane] = info.plane_row_bytes(plane, stored.w);
        vec![90; strides[plane] * info.plane_rows(plane, stored.h) as usize]
    });
    (data.collect(), strides)
}

fn planes<'a>(data: &'a [Vec<u8>], stride: [usize; 4]) -> Planes<'a> {
    let mut planes = Planes {
        stride,
        ..Planes::default()
    };
    for (to, from) in planes.data.iter_mut().zip(data) {
        *to = from;
    }
    planes
}

#[test]
fn specifications() {
    let size = Size::new(64, 32);
    let good = spec(PixelFormat::Nv12, size, size);
    assert!(Converter::new(&good).is_ok());
    for bad in [
        Size::new(0, 4),
        Size::new(4, 0),
        Size::new(40_000, 4),
        Size::new(4, u32::MAX),
    ] {
        assert_eq!(
            Converter::new(&Spec { size: bad, ..good }).err(),
            Some(SpecError::Picture(Picture::Size(bad)))
        );
        assert_eq!(
            Converter::new(&Spec { stored: bad, ..good }).err(),
            Some(SpecError::Picture(Picture::Size(bad)))
        );
    }
    for (x, w) in [
        (0.0, 0.0),
        (0.0, -1.0),
        (-1.0, 8.0),
        (60.0, 8.0),
        (f64::NAN, 8.0),
        (0.0, f64::NAN),
        (0.0, f64::INFINITY),
    ] {
        let across = RectF { x, w, ..good.crop };
        let down = RectF {
            y: x,
            h: w,
            ..good.crop
        };
        for crop in [across, down] {
            let refused = Converter::new(&Spec { crop, ..good });
            assert!(
                matches!(refused, Err(SpecError::Picture(Picture::Crop { .. }))),
                "{crop:?}"
            );
        }
    }
}

#[test]
fn frames_that_are_too_short() {
    let size = Size::new(64, 32);
    let mut converter = Converter::new(&spec(PixelFormat::I420, size, size)).unwrap();
    let (data, stride) = memory(PixelFormat::I420, size);
    let mut out = vec![7; 64 * 4 * 32];
    converter.convert(&planes(&data, stride), &mut out, 256).unwrap();
    out.fill(7);
    for plane in 0..3 {
        let mut short = data.clone();
        let got = short[plane].len() - 1;
        short[plane].truncate(got);
        let error = converter
            .convert(&planes(&short, stride), &mut out, 256)
            .unwrap_err();
        assert_eq!(
            error,
            ConvertError::PlaneTooShort {
                plane,
                needed: got + 1,
                got
            }
        );
        let mut narrow = stride;
        narrow[plane] -= 1;
        let error = converter
            .convert(&planes(&data, narrow), &mut out, 256)
            .unwrap_err();
        assert_eq!(
            error,
            ConvertError::PlaneStride {
                plane,
                needed: stride[plane],
                got: narrow[plane]
            }
        );
        let huge = [usize::MAX; 4];
        assert!(converter.convert(&planes(&data, huge), &mut out, 256).is_err());
    }
    let all = planes(&data, stride);
    let needed = out.len();
    let error = converter.convert(&all, &mut out[..needed - 1], 256).unwrap_err();
    assert_eq!(
        error,
        ConvertError::OutputTooShort {
            needed,
            got: needed - 1
        }
    );
    let error = converter.convert(&all, &mut out, 255).unwrap_err();
    assert_eq!(
        error,
        ConvertError::OutputStride {
            needed: 256,
            got: 255
        }
    );
    assert!(converter.convert(&all, &mut out, usize::MAX).is_err());
    assert!(out.iter().all(|byte| *byte == 7), "something was written");
}

#[test]
fn frames_cost_no_memory() {
    let stored = Size::new(130, 70);
    for &format in PixelFormat::ALL {
        for size in [stored, Size::new(65, 35), Size::new(50, 31)] {
            for transfer in [Transfer::Sdr, Transfer::Hlg] {
                let mut spec = spec(format, stored, size);
                spec.colorimetry.transfer = transfer;
                let (data, stride) = memory(format, stored);
                let mut out = vec![0; (size.w * size.h * 4) as usize];
                for &level in Level::available() {
                    let mut converter = Converter::with_level(&spec, level).unwrap();
                    let before = ALLOCATIONS.get();
                    converter
                        .convert(&planes(&data, stride), &mut out, size.w as usize * 4)
                        .unwrap();
                    assert_eq!(ALLOCATIONS.get(), before, "{level:?} allocates: {spec:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is asked for, it is refused or done: no panic, with memory of exactly the size that is needed.
    #[test]
    fn never_a_panic(
        format in 0..PixelFormat::ALL.len(),
        stored in (1u32..90, 1u32..50),
        size in (1u32..120, 1u32..60),
        crop in (-0.1f64..1.0, -0.1f64..1.0, 0.0f64..1.2, 0.0f64..1.2),
        kind in 0usize..6,
        (site, wide) in (any::<bool>(), any::<bool>()),
    ) {
        let (format, stored) = (PixelFormat::ALL[format], Size::new(stored.0, stored.1));
        let mut spec = spec(format, stored, Size::new(size.0, size.1));
        let (w, h) = (f64::from(stored.w), f64::from(stored.h));
        // Most crops are inside; some are whole pixels that are not scaled, or exactly 2:1.
        let (x, y) = ((crop.0 * w).min(w - 0.5), (crop.1 * h).min(h - 0.5));
        spec.crop = RectF { x, y, w: (crop.2 * w).min(w - x), h: (crop.3 * h).min(h - y) };
        if kind > 2 {
            let step = if kind == 5 { 2.0 } else { 1.0 };
            spec.crop = RectF { x: x.floor(), y: y.floor(), w: spec.crop.w.floor(), h: spec.crop.h.floor() };
            let count = |length: f64| ((length / step) as u32).max(1);
            spec.size = Size::new(count(spec.crop.w), count(spec.crop.h));
        }
        spec.site = if site { ChromaSite::CENTER } else { ChromaSite::TOP_LEFT };
        if wide {
            spec.colorimetry.primaries = Primaries::Bt2020;
        }
        let (data, stride) = memory(format, stored);
        let mut out = vec![0; (spec.size.w * spec.size.h * 4) as usize];
        for &level in Level::available() {
            if let Ok(mut converter) = Converter::with_level(&spec, level) {
                converter.convert(&planes(&data, stride), &mut out, spec.size.w as usize * 4).unwrap();
            }
        }
    }
}
