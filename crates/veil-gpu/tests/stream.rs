//! A stream as a sink has it.

#![allow(clippy::unwrap_used)]

mod common;

use common::{
    Content, Gpu, Picture, Random,
    memory::{Layout, assert_back_to, counts, place, words},
    sharing::{GENEROUS, plain, sharing_device, target},
};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use std::sync::Arc;
use veil_frame::{Dmabuf, Matrix, PixelFormat, Size, Spec};
use veil_gpu::{
    Converter, ConverterError, TargetImage,
    import::{ImportError, Importer},
};

const BYTES: [DrmFormat; 1] = [DrmFormat {
    code: DrmFourcc::Xbgr8888,
    modifier: DrmModifier::Linear,
}];
const TOGETHER: Layout = Layout {
    apart: false,
    lead: 0,
};

#[test]
fn threads_may_have_it() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    sent::<Converter>();
    sent::<Importer>();
    shared::<TargetImage>();
    shared::<veil_gpu::device::Device>();
}

fn noise(spec: &Spec, seed: u64) -> Picture {
    Picture::new(spec.format, spec.stored, 0, Content::Noise, &mut Random(seed))
}

/// Draws the same picture from both kinds of memory.
fn draws(gpu: &Gpu, converter: &mut Converter, spec: &Spec, target: &Arc<TargetImage>) {
    let picture = noise(spec, 4);
    let wanted = gpu.convert(spec, target.size(), target.format(), &picture);
    let dmabuf = place(&picture, spec.format, spec.stored, TOGETHER);
    let frame = converter.convert(&dmabuf.borrow(), target).unwrap();
    assert!(converter.wait(frame.serial, GENEROUS).unwrap());
    assert!(words(target.dmabuf()) == wanted, "from a dmabuf");
    // Something else, so that nothing is left of it.
    converter.upload(&noise(spec, 5).planes(), target).unwrap();
    let (copied, frame) = converter.upload(&picture.planes(), target).unwrap();
    assert!(converter.wait(frame.serial, GENEROUS).unwrap());
    assert!(words(target.dmabuf()) == wanted, "from plain memory");
    let bytes: usize = picture.data.iter().map(Vec::len).sum();
    assert!(copied as usize >= bytes, "{copied} of {bytes}");
}

#[test]
#[ignore = "needs the test machine"]
fn a_stream_leaves_nothing() {
    let gpu = Gpu::on(sharing_device());
    let small = plain(PixelFormat::Nv12, Size::new(64, 32));
    let mut other_colors = small;
    other_colors.colorimetry.matrix = Matrix::Bt2020;
    let large = plain(PixelFormat::P010, Size::new(96, 54));
    let mut before = None;
    for round in 0..4 {
        for spec in [&small, &other_colors, &large] {
            let mut converter = Converter::new(&gpu.pipelines, spec, spec.size, &BYTES, 3).unwrap();
            let target = converter.target().unwrap();
            draws(&gpu, &mut converter, spec, &target);
        }
        assert_back_to(*before.get_or_insert_with(counts), &format!("round {round}"));
    }
}

/// Decoders write whole blocks: the picture is in the corner of what is stored.
#[test]
#[ignore = "needs the test machine"]
fn memory_may_be_larger_than_the_picture() {
    let gpu = Gpu::on(sharing_device());
    let (spec, coded) = (plain(PixelFormat::Nv12, Size::new(60, 34)), Size::new(64, 48));
    let mut large = spec;
    large.stored = coded;
    let picture = noise(&large, 9);
    let source = place(&picture, spec.format, coded, TOGETHER);
    let mut converter = Converter::new(&gpu.pipelines, &spec, spec.size, &BYTES, 1).unwrap();
    let target = converter.target().unwrap();
    let frame = converter.convert(&source.borrow(), &target).unwrap();
    assert!(converter.wait(frame.serial, GENEROUS).unwrap());
    // The same strides, and less of it.
    let wanted = gpu.convert(&spec, spec.size, target.format(), &picture);
    assert!(words(target.dmabuf()) == wanted);
}

#[test]
#[ignore = "needs the test machine"]
fn what_does_not_fit_is_refused() {
    let gpu = Gpu::on(sharing_device());
    let spec = plain(PixelFormat::Nv12, Size::new(64, 32));
    let nothing = Converter::new(&gpu.pipelines, &spec, spec.size, &[], 2);
    assert!(matches!(nothing, Err(ConverterError::NoTarget)));
    let mut converter = Converter::new(&gpu.pipelines, &spec, spec.size, &BYTES, 2).unwrap();
    let right = converter.target().unwrap();
    let deep = target(&gpu.device, spec.size, DrmFourcc::Xbgr2101010);
    let large = target(&gpu.device, Size::new(64, 33), DrmFourcc::Xbgr8888);
    let picture = noise(&spec, 1);
    let source = place(&picture, spec.format, spec.stored, TOGETHER);
    for wrong in [&deep, &large] {
        let refused = converter.convert(&source.borrow(), wrong);
        assert!(matches!(refused, Err(ConverterError::OtherTarget { .. })));
        let refused = converter.upload(&picture.planes(), wrong);
        assert!(matches!(refused, Err(ConverterError::OtherTarget { .. })));
    }
    let lower = Dmabuf {
        size: Size::new(64, 30),
        ..place(&picture, spec.format, spec.stored, TOGETHER)
    };
    let refused = converter.convert(&lower.borrow(), &right);
    assert!(matches!(refused, Err(ConverterError::Picture { .. })));
    let mut short = picture.clone();
    short.data[1].truncate(10);
    let refused = converter.upload(&short.planes(), &right);
    assert!(matches!(refused, Err(ConverterError::Upload(_))));
    let mut tight = place(&picture, spec.format, spec.stored, TOGETHER);
    tight.planes[0].stride = 1;
    let refused = converter.convert(&tight.borrow(), &right);
    assert!(matches!(
        refused,
        Err(ConverterError::Import(ImportError::Stride { .. }))
    ));
    // And it goes on.
    draws(&gpu, &mut converter, &spec, &right);
}
