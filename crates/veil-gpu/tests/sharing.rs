//! Dmabufs in and out: every pair of format and modifier that the device lists, and nothing left behind.

#![allow(clippy::unwrap_used)]

mod common;

use common::{
    Content, Gpu, Picture, Random,
    memory::{Layout, assert_back_to, counts, place},
    sharing::{Stream, plain, sharing_device, target},
};
use drm_fourcc::{DrmFourcc, DrmModifier};
use std::sync::Arc;
use veil_frame::{PixelFormat, Size};
use veil_gpu::{
    import::{ImportError, Importer},
    target::{TargetError, TargetImage},
};

const LAYOUTS: [Layout; 3] = [
    Layout {
        apart: false,
        lead: 0,
    },
    Layout {
        apart: false,
        lead: 192,
    },
    Layout {
        apart: true,
        lead: 128,
    },
];

/// What comes out of planes in dmabufs is what comes out of the same planes in plain memory.
fn converts_like_an_upload(gpu: &Gpu, format: PixelFormat, size: Size, padding: usize) {
    let spec = plain(format, size);
    let picture = Picture::new(format, size, padding, Content::Noise, &mut Random(7));
    let target = target(&gpu.device, size, DrmFourcc::Xbgr8888);
    let wanted = gpu.convert(&spec, size, target.format(), &picture);
    let mut importer = Importer::new(&gpu.device);
    let mut stream = Stream::new(gpu, &spec, &target, 2);
    for layout in LAYOUTS {
        let dmabuf = place(&picture, format, size, layout);
        let planes = importer.import(&dmabuf.borrow(), format).unwrap();
        assert_eq!(planes.count(), usize::from(format.info().planes));
        let got = stream.draw(&planes, &target);
        assert!(got == wanted, "{format:?} {size} {layout:?}");
    }
}

#[test]
#[ignore = "needs the test machine"]
fn every_listed_source_is_read() {
    let gpu = Gpu::on(sharing_device());
    let listed = gpu.device.formats().sources().to_vec();
    for wanted in [
        PixelFormat::Nv12,
        PixelFormat::I420,
        PixelFormat::P010,
        PixelFormat::Yuy2,
        PixelFormat::Bgrx,
    ] {
        assert!(listed.iter().any(|source| source.format == wanted), "{wanted:?}");
    }
    for source in listed {
        assert_eq!(source.pair.modifier, DrmModifier::Linear, "what is {source:?}?");
        for (size, padding) in [
            (Size::new(37, 11), 24),
            (Size::new(64, 16), 0),
            (Size::new(1, 1), 64),
        ] {
            // Rows must begin at whole texels, of up to 8 bytes.
            let format = source.format;
            let row = format.info().plane_row_bytes(0, size.w);
            if format.info().planes == 1 || size.w % 8 == 0 || row % 8 == 0 {
                converts_like_an_upload(&gpu, format, size, padding.max(row.next_multiple_of(8) - row));
            }
            converts_like_an_upload(&gpu, format, size, padding);
        }
    }
}

#[test]
#[ignore = "needs the test machine"]
fn formats_that_drm_has_no_name_for_are_read() {
    let gpu = Gpu::on(sharing_device());
    for &format in PixelFormat::ALL {
        let linear = gpu.device.formats().reads(format, DrmModifier::Linear);
        assert_eq!(linear, veil_gpu::convert::supports(format), "{format:?}");
        if linear && format.info().fourcc.is_none() {
            converts_like_an_upload(&gpu, format, Size::new(37, 11), 24);
        }
    }
}

#[test]
#[ignore = "needs the test machine"]
fn every_listed_target_is_drawn() {
    let gpu = Gpu::on(sharing_device());
    let format = PixelFormat::Nv12;
    let listed = gpu.device.formats().targets().to_vec();
    let codes: Vec<_> = listed.iter().map(|pair| pair.code).collect();
    assert_eq!(
        codes,
        [DrmFourcc::Xbgr8888, DrmFourcc::Abgr8888, DrmFourcc::Xbgr2101010]
    );
    for pair in listed {
        for size in [Size::new(1, 1), Size::new(101, 33), Size::new(1920, 1080)] {
            let spec = plain(format, size);
            let picture = Picture::new(format, size, 6, Content::Noise, &mut Random(3));
            let target = TargetImage::new(&gpu.device, size, pair.code, &[pair.modifier]).unwrap();
            assert_eq!((target.dmabuf().format, target.size()), (pair, size));
            let target = Arc::new(target);
            let dmabuf = place(&picture, format, size, LAYOUTS[0]);
            let planes = Importer::new(&gpu.device)
                .import(&dmabuf.borrow(), format)
                .unwrap();
            let wanted = gpu.convert(&spec, size, target.format(), &picture);
            let mut stream = Stream::new(&gpu, &spec, &target, 1);
            // The second time, it is taken back from others.
            for time in 1..=2 {
                assert!(
                    stream.draw(&planes, &target) == wanted,
                    "{pair:?} {size}, time {time}"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs the test machine"]
fn what_others_take_is_asked_for() {
    let device = sharing_device();
    let size = Size::new(64, 64);
    let tiled = DrmModifier::from(1 << 56 | 1);
    for (fourcc, candidates) in [
        (DrmFourcc::Xbgr8888, &[][..]),
        (DrmFourcc::Xbgr8888, &[tiled, DrmModifier::Invalid]),
        (DrmFourcc::Xrgb8888, &[DrmModifier::Linear]),
    ] {
        let made = TargetImage::new(&device, size, fourcc, candidates);
        assert!(matches!(made, Err(TargetError::NothingInCommon { .. })));
    }
    let both = TargetImage::new(&device, size, DrmFourcc::Xbgr8888, &[tiled, DrmModifier::Linear]);
    assert_eq!(both.unwrap().dmabuf().format.modifier, DrmModifier::Linear);
}

#[test]
#[ignore = "needs the test machine"]
fn a_thousand_imports_leave_nothing() {
    let gpu = Gpu::on(sharing_device());
    let (format, size) = (PixelFormat::Nv12, Size::new(64, 32));
    let spec = plain(format, size);
    let target = target(&gpu.device, size, DrmFourcc::Xbgr8888);
    let mut stream = Stream::new(&gpu, &spec, &target, 4);
    let mut random = Random(11);
    let mut once = |importer: &mut Importer, layout| {
        let picture = Picture::new(format, size, 0, Content::Noise, &mut random);
        let dmabuf = place(&picture, format, size, layout);
        let planes = importer.import(&dmabuf.borrow(), format).unwrap();
        // A second time, it is known.
        let again = importer.import(&dmabuf.borrow(), format).unwrap();
        assert!(Arc::ptr_eq(&planes, &again));
        stream.submit(&planes, &target).unwrap();
    };
    once(&mut Importer::new(&gpu.device), LAYOUTS[0]);
    let before = counts();
    let mut importer = Importer::new(&gpu.device);
    for i in 0..1000 {
        once(&mut importer, LAYOUTS[i % 3]);
        assert!(importer.kept() <= 32);
    }
    drop(importer);
    // What slots held of the last frames goes, too.
    stream.recorder.finish_all().unwrap();
    assert_back_to(before, "after 1,000 imports");
}

#[test]
#[ignore = "needs the test machine"]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let device = sharing_device();
    let (format, size) = (PixelFormat::Nv12, Size::new(64, 32));
    let picture = Picture::new(format, size, 0, Content::Noise, &mut Random(5));
    let mut importer = Importer::new(&device);
    let before = counts();
    for _ in 0..10 {
        let mut short = place(&picture, format, size, LAYOUTS[0]);
        short.size.h = 4096;
        let refused = importer.import(&short.borrow(), format);
        assert!(matches!(refused, Err(ImportError::Short { .. })));

        let mut narrow = place(&picture, format, size, LAYOUTS[0]);
        narrow.planes[1].stride = 60;
        let refused = importer.import(&narrow.borrow(), format);
        assert!(matches!(refused, Err(ImportError::Stride { plane: 1, .. })));

        let mut single = place(&picture, format, size, LAYOUTS[0]);
        single.planes.pop();
        let refused = importer.import(&single.borrow(), format);
        assert!(matches!(refused, Err(ImportError::Planes { given: 1, .. })));

        let mut tiled = place(&picture, format, size, LAYOUTS[0]);
        tiled.format.modifier = DrmModifier::from(1 << 56 | 1);
        let refused = importer.import(&tiled.borrow(), format);
        assert!(matches!(refused, Err(ImportError::Unsupported { .. })));
    }
    assert_eq!(importer.kept(), 0);
    assert_back_to(before, "after refusals");

    // No memory of any device: the driver refuses it, once.
    let mut nothing = place(&picture, format, size, LAYOUTS[0]);
    for plane in &mut nothing.planes {
        plane.fd = std::fs::File::open("/bin/sh").unwrap().into();
    }
    let refused = importer.import(&nothing.borrow(), format);
    assert!(
        matches!(refused, Err(ImportError::Image { .. })),
        "{:?}",
        refused.err()
    );
    let again = importer.import(&nothing.borrow(), format);
    assert!(matches!(again, Err(ImportError::RefusedBefore { .. })));
    drop(nothing);
    assert_back_to(before, "after the driver's refusal");
}
