//! How long conversions take, compared within one run: each level of instructions, and copying the same output bytes as
//! a yardstick.
//!
//! Frames and results rotate through several buffers, as they do between a decoder and a compositor, so the memory is
//! not in the nearer caches. A number on the command line is the frames to time for each row (default 60).

use std::{hint::black_box, time::Instant};
use veil_convert::{Converter, Level, Planes, Spec};
use veil_frame::{ChromaSite, Colorimetry, Model, PixelFormat, RectF, Size, Transfer};

/// Buffers that frames and results rotate through.
const RING: usize = 4;

struct Case {
    name: &'static str,
    format: PixelFormat,
    stored: Size,
    size: Size,
    transfer: Transfer,
}

const HD: Size = Size::new(1920, 1080);
const UHD: Size = Size::new(3840, 2160);

const fn case(name: &'static str, format: PixelFormat, stored: Size, size: Size) -> Case {
    Case {
        name,
        format,
        stored,
        size,
        transfer: Transfer::Sdr,
    }
}

const CASES: &[Case] = &[
    case("1080p", PixelFormat::Nv12, HD, HD),
    case("1080p", PixelFormat::I420, HD, HD),
    case("1080p", PixelFormat::P010, HD, HD),
    case("1080p", PixelFormat::I42010, HD, HD),
    case("1080p", PixelFormat::Y42b, HD, HD),
    case("1080p", PixelFormat::Y444, HD, HD),
    case("1080p", PixelFormat::Yuy2, HD, HD),
    case("1080p", PixelFormat::Y210, HD, HD),
    case("1080p", PixelFormat::Y410, HD, HD),
    case("1080p", PixelFormat::I42010Be, HD, HD),
    case("1080p", PixelFormat::Bgrx, HD, HD),
    case("1080p", PixelFormat::Rgbx, HD, HD),
    case("1080p", PixelFormat::Rgb, HD, HD),
    case("2160p to 1080p", PixelFormat::Nv12, UHD, HD),
    case("2160p to 1080p", PixelFormat::I420, UHD, HD),
    case("2160p to 1080p", PixelFormat::P010, UHD, HD),
    case("2160p to 1366x768", PixelFormat::Nv12, UHD, Size::new(1366, 768)),
    case("2160p to 1366x768", PixelFormat::I420, UHD, Size::new(1366, 768)),
    case("1080p to 1366x768", PixelFormat::I420, HD, Size::new(1366, 768)),
    Case {
        name: "1080p PQ",
        format: PixelFormat::P010,
        stored: HD,
        size: HD,
        transfer: Transfer::Pq,
    },
];

/// Milliseconds of the quickest and of the middle one of `count` calls.
fn time(count: usize, mut call: impl FnMut(usize)) -> (f64, f64) {
    let mut all: Vec<f64> = (0..count + RING)
        .map(|i| {
            let start = Instant::now();
            call(i);
            start.elapsed().as_secs_f64() * 1e3
        })
        .skip(RING)
        .collect();
    all.sort_by(f64::total_cmp);
    (all[0], all[all.len() / 2])
}

fn main() {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(60);
    println!(
        "{:<18} {:<10} {:>16} {:>16} {:>16}   by portable, by copy",
        "ms: best, median", "", "AVX2", "portable", "copy"
    );
    for case in CASES {
        let info = case.format.info();
        let mut state = 1u32;
        let frames: Vec<Vec<Vec<u8>>> = (0..RING)
            .map(|_| {
                let plane =
                    |p| info.plane_row_bytes(p, case.stored.w) * info.plane_rows(p, case.stored.h) as usize;
                let mut noise = || {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                };
                (0..usize::from(info.planes))
                    .map(|p| (0..plane(p)).map(|_| noise()).collect())
                    .collect()
            })
            .collect();
        let base = match info.model {
            Model::Rgb => Colorimetry::SRGB,
            Model::Yuv | Model::Gray => Colorimetry::assumed(case.stored.h),
        };
        let colorimetry = Colorimetry {
            transfer: case.transfer,
            ..base
        };
        let stride = case.size.w as usize * 4;
        let mut outs_all = vec![vec![1u8; 64 + stride * case.size.h as usize]; RING];
        let mut outs: Vec<&mut [u8]> = outs_all
            .iter_mut()
            .map(|o| {
                let k = o.as_ptr().align_offset(64);
                &mut o[k..][..stride * case.size.h as usize]
            })
            .collect();
        let source = vec![vec![2u8; outs[0].len()]; RING];
        let copy = time(count, |i| {
            black_box(&mut *outs[i % RING]).copy_from_slice(black_box(&source[i % RING]))
        });
        let mut results = Vec::new();
        for &level in Level::available().iter().rev() {
            let spec = Spec {
                format: case.format,
                stored: case.stored,
                colorimetry,
                site: ChromaSite::LEFT,
                crop: RectF::whole(case.stored),
                size: case.size,
            };
            let mut converter = Converter::with_level(&spec, level).expect("this level is available");
            results.push(time(count, |i| {
                let mut planes = Planes::default();
                for (p, data) in frames[i % RING].iter().enumerate() {
                    planes.data[p] = data;
                    planes.stride[p] = info.plane_row_bytes(p, case.stored.w);
                }
                converter
                    .convert(&planes, black_box(&mut *outs[i % RING]), stride)
                    .expect("the memory is long enough");
            }));
        }
        let (fast, slow) = (results[0], results[results.len() - 1]);
        let pair = |(best, median): (f64, f64)| format!("{best:7.3} {median:7.3}");
        println!(
            "{:<18} {:<10} {:>16} {:>16} {:>16}   {:.2} {:.2}",
            case.name,
            info.name,
            pair(fast),
            pair(slow),
            pair(copy),
            fast.0 / slow.0,
            fast.0 / copy.0
        );
    }
}
