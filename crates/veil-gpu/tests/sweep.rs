//! Every format, matrix, range, siting, size, stride, crop and scale against the reference.

#![allow(clippy::unwrap_used)]

mod common;

use ash::vk;
use common::{Content, Gpu, Picture, Random};
use veil_frame::{
    ChromaSite, Colorimetry, Matrix, PixelFormat, Primaries, Range, RectF, Siting, Size, Spec, Transfer,
};
use veil_gpu::convert::{Conversion, ConvertError};
use veil_testkit::reference;

const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;
const TENS: vk::Format = vk::Format::A2B10G10R10_UNORM_PACK32;

const SITES: [ChromaSite; 4] = [
    ChromaSite::LEFT,
    ChromaSite::CENTER,
    ChromaSite::TOP_LEFT,
    ChromaSite {
        horizontal: Siting::Centered,
        vertical: Siting::Cosited,
    },
];

/// Sizes that are stored: even, odd, and smaller than a workgroup.
const SIZES: [Size; 3] = [Size::new(48, 18), Size::new(37, 11), Size::new(7, 5)];

/// The crops and output sizes to try for a stored size: whole, whole pixels, and scaled.
fn geometries(stored: Size) -> Vec<(RectF, Size)> {
    let (w, h) = (f64::from(stored.w), f64::from(stored.h));
    let mut all = vec![(RectF::whole(stored), stored)];
    for (x, y, right, bottom) in [(3.0, 1.0, 2.0, 2.0), (0.0, 2.0, 1.0, 0.0)] {
        let crop = RectF {
            x,
            y,
            w: w - x - right,
            h: h - y - bottom,
        };
        all.push((crop, Size::new(crop.w as u32, crop.h as u32)));
    }
    let rows_only = RectF {
        y: 0.75,
        h: h - 1.5,
        ..RectF::whole(stored)
    };
    all.push((rows_only, Size::new(stored.w, (stored.h / 2).max(1))));
    for scale in [2.0, 1.5, 2.81, 0.7] {
        let size = Size::new(((w / scale) as u32).max(1), ((h / scale) as u32).max(1));
        all.push((RectF::whole(stored), size));
        let crop = RectF {
            x: 0.4,
            y: 0.0,
            w: w - 1.3,
            h: h - 0.6,
        };
        all.push((crop, size));
    }
    all
}

/// How far the worst channel is from the reference, in steps of the target; alpha, where the target has two bits of it,
/// in those.
fn worst_error(gpu: &Gpu, spec: &Spec, format: vk::Format, picture: &Picture) -> f64 {
    let got = gpu.convert(spec, spec.size, format, picture);
    let want = reference::convert(spec, &picture.planes());
    let mut worst = 0f64;
    for (word, want) in got.iter().zip(&want) {
        for channel in 0..4u32 {
            let (bits, shift) = match (format, channel) {
                (TENS, 3) => (2, 30),
                (TENS, _) => (10, 10 * channel),
                _ => (8, 8 * channel),
            };
            let peak = f64::from((1u32 << bits) - 1);
            let got = f64::from(word >> shift & ((1 << bits) - 1));
            let want = (want[channel as usize] / 255.0 * peak).round();
            worst = worst.max((got - want).abs());
        }
    }
    worst
}

/// One in so many combinations is tried: a prime, so that each value of each parameter comes up.
const SOME: usize = 47;

fn sweep(gpu: &Gpu, format: PixelFormat, random: &mut Random) -> [f64; 2] {
    let info = format.info();
    let sites = if info.sub_w + info.sub_h > 0 {
        &SITES[..]
    } else {
        &SITES[..1]
    };
    let contents = [Content::Noise, Content::Extremes, Content::Smooth];
    let mut worst = [0f64; 2];
    let mut case = 0;
    for stored in SIZES {
        for matrix in [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020] {
            for range in [Range::Limited, Range::Full] {
                for &site in sites {
                    for (crop, size) in geometries(stored) {
                        for (index, target) in [BYTES, TENS].into_iter().enumerate() {
                            case += 1;
                            if case % SOME != 0 {
                                continue;
                            }
                            let content = contents[case / SOME % 3];
                            let padding = [0, 6, 32, 64][case / SOME / 3 % 4];
                            let picture = Picture::new(format, stored, padding, content, random);
                            let colorimetry = Colorimetry {
                                matrix,
                                range,
                                primaries: Primaries::Bt709,
                                transfer: Transfer::Sdr,
                            };
                            let spec = Spec {
                                format,
                                stored,
                                colorimetry,
                                site,
                                crop,
                                size,
                            };
                            let error = worst_error(gpu, &spec, target, &picture);
                            assert!(error <= [1.0, 2.0][index], "off by {error}: {target:?} {spec:?}");
                            worst[index] = worst[index].max(error);
                        }
                    }
                }
            }
        }
    }
    worst
}

#[test]
#[ignore = "needs the test machine"]
fn every_format() {
    let gpu = Gpu::new();
    let mut converted = 0;
    for &format in PixelFormat::ALL {
        if !Conversion::supports(format) {
            println!("{format:?}: not supported");
            continue;
        }
        let [bytes, tens] = sweep(&gpu, format, &mut Random(0x5eed));
        println!("{format:?}: worst error {bytes}/255, {tens}/1023");
        converted += 1;
    }
    assert!(converted > 90, "{converted}");
}

#[test]
#[ignore = "needs the test machine"]
fn linear_light() {
    let gpu = Gpu::new();
    let stored = Size::new(64, 24);
    let mut random = Random(11);
    for primaries in [Primaries::Bt709, Primaries::Bt2020, Primaries::DisplayP3] {
        for transfer in [Transfer::Sdr, Transfer::Pq, Transfer::Hlg] {
            let mut worst = [0f64; 2];
            for format in [
                PixelFormat::P010,
                PixelFormat::I42010,
                PixelFormat::Nv12,
                PixelFormat::Gbr10,
                PixelFormat::A420,
            ] {
                for size in [stored, Size::new(32, 12), Size::new(23, 9)] {
                    for content in [Content::Noise, Content::Extremes, Content::Smooth] {
                        let colorimetry = Colorimetry {
                            matrix: Matrix::Bt2020,
                            range: Range::Limited,
                            primaries,
                            transfer,
                        };
                        let picture = Picture::new(format, stored, 4, content, &mut random);
                        let spec = Spec {
                            format,
                            stored,
                            colorimetry,
                            site: ChromaSite::TOP_LEFT,
                            crop: RectF::whole(stored),
                            size,
                        };
                        for (index, target) in [BYTES, TENS].into_iter().enumerate() {
                            let error = worst_error(&gpu, &spec, target, &picture);
                            worst[index] = worst[index].max(error);
                        }
                    }
                }
            }
            println!(
                "{primaries:?} {transfer:?}: worst error {}/255, {}/1023",
                worst[0], worst[1]
            );
            assert!(
                worst[0] <= 2.0 && worst[1] <= 2.0,
                "{primaries:?} {transfer:?}: {worst:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs the test machine"]
fn a_larger_canvas_is_filled_with_copies() {
    let gpu = Gpu::new();
    let (stored, size) = (Size::new(37, 11), Size::new(19, 11));
    let spec = Spec {
        format: PixelFormat::Nv12,
        stored,
        colorimetry: Colorimetry::assumed(720),
        site: ChromaSite::LEFT,
        crop: RectF::whole(stored),
        size,
    };
    let picture = Picture::new(spec.format, stored, 0, Content::Noise, &mut Random(3));
    let one = gpu.convert(&spec, size, BYTES, &picture);
    let canvas = Size::new(3 * size.w, 2 * size.h);
    let many = gpu.convert(&spec, canvas, BYTES, &picture);
    for (at, word) in many.iter().enumerate() {
        let (x, y) = (at as u32 % canvas.w % size.w, at as u32 / canvas.w % size.h);
        assert_eq!(*word, one[(y * size.w + x) as usize], "{x}, {y}");
    }
}

#[test]
#[ignore = "needs the test machine"]
fn what_cannot_be_converted_is_refused() {
    let gpu = Gpu::new();
    let size = Size::new(64, 64);
    let spec = Spec {
        format: PixelFormat::Nv12,
        stored: size,
        colorimetry: Colorimetry::assumed(64),
        site: ChromaSite::LEFT,
        crop: RectF::whole(size),
        size,
    };
    let new = |spec: &Spec, canvas, target| Conversion::new(&gpu.pipelines, spec, canvas, target, 1).err();
    assert!(new(&spec, size, BYTES).is_none());
    let odd = Spec {
        format: PixelFormat::R210,
        ..spec
    };
    assert!(matches!(
        new(&odd, size, BYTES),
        Some(ConvertError::Format(PixelFormat::R210))
    ));
    assert!(matches!(
        new(&spec, size, vk::Format::B8G8R8A8_UNORM),
        Some(ConvertError::Target(_))
    ));
    let large = Size::new(1 << 20, 1);
    assert!(matches!(
        new(&spec, large, BYTES),
        Some(ConvertError::Canvas { .. })
    ));
    let wide = Size::new(8192, 64);
    let tiny = Spec {
        stored: wide,
        crop: RectF::whole(wide),
        size: Size::new(16, 64),
        ..spec
    };
    assert!(matches!(new(&tiny, size, BYTES), Some(ConvertError::Scale(_))));
    let outside = Spec {
        crop: RectF::whole(Size::new(65, 64)),
        ..spec
    };
    assert!(matches!(new(&outside, size, BYTES), Some(ConvertError::Spec(_))));
}
