//! Every format, matrix, range, siting, size, stride, crop and scale against the reference.

mod common;

use common::{Content, Picture, Random, worst_error};
use veil_convert::Spec;
use veil_frame::{
    ChromaSite, Colorimetry, Matrix, PixelFormat, Primaries, Range, RectF, Siting, Size, Transfer,
};

const SITES: [ChromaSite; 4] = [
    ChromaSite::LEFT,
    ChromaSite::CENTER,
    ChromaSite::TOP_LEFT,
    ChromaSite {
        horizontal: Siting::Centered,
        vertical: Siting::Cosited,
    },
];

const COLORS: [(Matrix, Primaries); 4] = [
    (Matrix::Bt601, Primaries::Bt709),
    (Matrix::Bt709, Primaries::Bt709),
    (Matrix::Bt2020, Primaries::Bt709),
    (Matrix::Bt2020, Primaries::Bt2020),
];

/// Sizes that are stored: even, odd, and narrower than any vector.
const SIZES: [Size; 3] = [Size::new(136, 30), Size::new(101, 31), Size::new(7, 5)];

/// The crops and output sizes to try for a stored size: whole, whole pixels, and scaled.
fn geometries(stored: Size) -> Vec<(RectF, Size)> {
    let (w, h) = (f64::from(stored.w), f64::from(stored.h));
    let whole = RectF { x: 0.0, y: 0.0, w, h };
    let mut all = vec![(whole, stored)];
    if stored.w > 16 {
        for (x, y, right, bottom) in [(3.0, 1.0, 2.0, 4.0), (2.0, 4.0, 0.0, 1.0), (0.0, 3.0, 5.0, 0.0)] {
            let crop = RectF {
                x,
                y,
                w: w - x - right,
                h: h - y - bottom,
            };
            all.push((crop, Size::new(crop.w as u32, crop.h as u32)));
        }
        let half = RectF {
            x: 1.0,
            y: 2.0,
            w: ((w - 2.0) / 2.0).floor() * 2.0,
            h: ((h - 2.0) / 2.0).floor() * 2.0,
        };
        all.push((half, Size::new(half.w as u32 / 2, half.h as u32 / 2)));
        all.push((
            RectF {
                x: 0.0,
                y: 0.75,
                w,
                h: h - 1.5,
            },
            Size::new(stored.w, stored.h / 2),
        ));
    }
    for scale in [2.0, 1.5, 3.0, 2.81, 0.7] {
        let size = Size::new(((w / scale) as u32).max(1), ((h / scale) as u32).max(1));
        all.push((whole, size));
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

/// One in so many combinations is tried, of formats that are read as others are, too: a prime, so that each value of
/// each parameter comes up.
const SOME: usize = 23;

/// Whether another format before it is read by the same code with other numbers: so many bytes a word and to the next
/// sample, for the same subsampling. Words that are rewritten are the same after that.
fn is_like_another(format: PixelFormat) -> bool {
    let kind = |format: PixelFormat| {
        let info = format.info();
        let of = |i: usize| info.components.get(i).map(|c| (c.word, c.step));
        (
            info.model,
            info.planes,
            info.sub_w,
            info.sub_h,
            [0, 1, 2, 3].map(of),
        )
    };
    let before = PixelFormat::ALL.iter().take_while(|&&other| other != format);
    before.into_iter().any(|&other| kind(other) == kind(format))
}

/// Every combination for one format, or one in [`SOME`]; the worst error.
fn sweep(format: PixelFormat, random: &mut Random) -> f64 {
    let every = if is_like_another(format) { SOME } else { 1 };
    let info = format.info();
    let sites = if info.sub_w + info.sub_h > 0 {
        &SITES[..]
    } else {
        &SITES[..1]
    };
    let contents = [Content::Noise, Content::Extremes, Content::Smooth];
    let mut worst = 0f64;
    let mut case = 0;
    for stored in SIZES {
        for (matrix, primaries) in COLORS {
            for range in [Range::Limited, Range::Full] {
                for &site in sites {
                    for (crop, size) in geometries(stored) {
                        case += 1;
                        if case % every != 0 {
                            continue;
                        }
                        let content = contents[case / every % 3];
                        let padding = [0, 6, 33][case / every / 3 % 3] & !1;
                        let picture = Picture::new(format, stored, padding, content, random);
                        let colorimetry = Colorimetry {
                            matrix,
                            range,
                            primaries,
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
                        let error = worst_error(&spec, &picture, [0, 4, 28, 7][case / every % 4]);
                        if primaries == Primaries::Bt709 {
                            assert!(error <= 1.0, "off by {error}: {spec:?}");
                        }
                        worst = worst.max(error);
                    }
                }
            }
        }
    }
    worst
}

/// One test for each share of the formats, so that they run side by side.
macro_rules! shares {
    ($($name:ident = $share:literal;)+) => {
        const SHARES: usize = [$($share),+].len();
        $(
            #[test]
            fn $name() {
                for &format in PixelFormat::ALL.iter().skip($share).step_by(SHARES) {
                    let worst = sweep(format, &mut Random(0x5eed + $share));
                    println!("{format:?}: worst error {worst}/255");
                }
            }
        )+
    };
}

shares! {
    formats_0 = 0;
    formats_1 = 1;
    formats_2 = 2;
    formats_3 = 3;
}

#[test]
fn other_matrices_and_wrong_labels() {
    let stored = Size::new(70, 20);
    let crop = RectF {
        x: 0.0,
        y: 0.0,
        w: 70.0,
        h: 20.0,
    };
    let mut random = Random(7);
    for format in [
        PixelFormat::Nv12,
        PixelFormat::Bgra,
        PixelFormat::Gray8,
        PixelFormat::Rgbx,
    ] {
        for matrix in [Matrix::Smpte240m, Matrix::Fcc, Matrix::Rgb, Matrix::Bt709] {
            for range in [Range::Limited, Range::Full] {
                let colorimetry = Colorimetry {
                    matrix,
                    range,
                    ..Colorimetry::assumed(20)
                };
                let picture = Picture::new(format, stored, 0, Content::Noise, &mut random);
                let spec = Spec {
                    format,
                    stored,
                    colorimetry,
                    site: ChromaSite::LEFT,
                    crop,
                    size: stored,
                };
                assert!(worst_error(&spec, &picture, 0) <= 1.0);
            }
        }
    }
}

#[test]
fn linear_light() {
    let stored = Size::new(64, 24);
    let whole = RectF {
        x: 0.0,
        y: 0.0,
        w: 64.0,
        h: 24.0,
    };
    let mut random = Random(11);
    for format in [
        PixelFormat::P010,
        PixelFormat::I42010,
        PixelFormat::Nv12,
        PixelFormat::Gbr10,
        PixelFormat::A420,
    ] {
        for primaries in [Primaries::Bt709, Primaries::Bt2020, Primaries::DisplayP3] {
            for transfer in [Transfer::Sdr, Transfer::Pq, Transfer::Hlg] {
                for size in [stored, Size::new(32, 12), Size::new(23, 9)] {
                    for content in [Content::Noise, Content::Extremes, Content::Smooth] {
                        let colorimetry = Colorimetry {
                            matrix: Matrix::Bt2020,
                            range: Range::Limited,
                            primaries,
                            transfer,
                        };
                        let picture = Picture::new(format, stored, 4, content, &mut random);
                        let site = ChromaSite::TOP_LEFT;
                        worst_error(
                            &Spec {
                                format,
                                stored,
                                colorimetry,
                                site,
                                crop: whole,
                                size,
                            },
                            &picture,
                            0,
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn extreme_scales() {
    let stored = Size::new(1500, 701);
    let crop = RectF {
        x: 0.0,
        y: 0.0,
        w: 1500.0,
        h: 701.0,
    };
    let mut random = Random(13);
    for format in [PixelFormat::Nv12, PixelFormat::P010, PixelFormat::Rgb16] {
        for size in [
            Size::new(1, 1),
            Size::new(3, 2),
            Size::new(61, 23),
            Size::new(1500, 1),
            Size::new(2, 701),
        ] {
            let picture = Picture::new(format, stored, 0, Content::Noise, &mut random);
            let colorimetry = Colorimetry::assumed(701);
            let spec = Spec {
                format,
                stored,
                colorimetry,
                site: ChromaSite::LEFT,
                crop,
                size,
            };
            assert!(worst_error(&spec, &picture, 0) <= 1.0);
        }
    }
}
