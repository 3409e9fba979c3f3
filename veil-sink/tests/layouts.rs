//! Where pixels lie in a buffer, and which of them are seen.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Padding, Rig, Screen, caps, demand, described, near, picture, pixels, rgb};
use gstreamer as gst;
use gstreamer_video as gst_video;

use gst::prelude::*;
use veil_frame::{Demand, FitMode, Orientation, PixelFormat, Presentable, RectF, Size};

const ODD: Size = Size::new(67, 35);

/// Something different in every sample.
fn noise(component: usize, x: u32, y: u32) -> u16 {
    let mut v = ((component as u32 + 1) * 0x9E37) ^ x.wrapping_mul(0x85EB_CA6B) ^ y.wrapping_mul(0xC2B2_AE35);
    v ^= v >> 15;
    // In the limits of every range.
    0x1800 + (v.wrapping_mul(0x2C1B_3C6D) >> 17) as u16
}

fn stretched(size: Size) -> Demand {
    demand(FitMode::Stretch, size.w, size.h)
}

fn shown(format: PixelFormat, padding: Padding) -> Presentable {
    let mut rig = Rig::new(&Screen::new(stretched(ODD), 1));
    rig.begin(&caps(format, ODD));
    rig.show(picture(format, ODD, padding, noise))
}

#[test]
fn no_layout_changes_a_pixel() {
    let paddings = [
        Padding {
            row: 13,
            ..Padding::default()
        },
        Padding {
            row: 64,
            before: 4096,
            ..Padding::default()
        },
        Padding {
            row: 30,
            before: 7,
            cut: true,
            ..Padding::default()
        },
        Padding {
            row: 5,
            cut: true,
            apart: true,
            before: 16,
            ..Padding::default()
        },
        Padding {
            row: 5,
            cut: true,
            split: true,
            ..Padding::default()
        },
    ];
    for format in described() {
        let plain = pixels(&shown(format, Padding::default()));
        assert!(plain.iter().any(|p| *p != plain[0]), "{format:?} is flat");
        for padding in paddings {
            assert_eq!(pixels(&shown(format, padding)), plain, "{format:?} {padding:?}");
        }
    }
}

#[test]
fn a_buffer_without_meta_lies_as_the_caps_say() {
    for format in [
        PixelFormat::Nv12,
        PixelFormat::I420,
        PixelFormat::Bgra,
        PixelFormat::Yuy2,
    ] {
        // GStreamer's default strides have no padding at this width.
        let size = Size::new(64, 34);
        let mut rig = Rig::new(&Screen::new(stretched(size), 1));
        rig.begin(&caps(format, size));
        let buffer = picture(format, size, Padding::default(), noise);
        let with = pixels(&rig.show(buffer.copy_deep().unwrap()));
        let mut bare = gst::Buffer::new();
        for memory in buffer.iter_memories_owned() {
            bare.get_mut().unwrap().append_memory(memory);
        }
        assert_eq!(pixels(&rig.show(bare)), with, "{format:?}");
    }
}

#[test]
fn a_buffer_that_lies_is_an_error() {
    type Lie = (&'static str, fn() -> gst::Buffer);
    let lies: [Lie; 4] = [
        ("bytes of", || {
            let mut buffer = picture(PixelFormat::Nv12, ODD, Padding::default(), noise);
            let less = buffer.size() - 1;
            buffer.get_mut().unwrap().set_size(less);
            buffer
        }),
        ("stream of NV12", || {
            picture(PixelFormat::I420, ODD, Padding::default(), noise)
        }),
        ("stride of -80", || meta(&[2800, 2800], &[-80, 80])),
        ("stride of 60", || meta(&[0, 2800], &[80, 60])),
    ];
    fn meta(offset: &[usize], stride: &[i32]) -> gst::Buffer {
        let mut buffer = gst::Buffer::with_size(1 << 16).unwrap();
        let format = gst_video::VideoFormat::Nv12;
        let flags = gst_video::VideoFrameFlags::empty();
        gst_video::VideoMeta::add_full(
            buffer.get_mut().unwrap(),
            flags,
            format,
            ODD.w,
            ODD.h,
            offset,
            stride,
        )
        .unwrap();
        buffer
    }
    for (text, lie) in lies {
        let mut rig = Rig::new(&Screen::new(stretched(ODD), 1));
        rig.begin(&caps(PixelFormat::Nv12, ODD));
        assert_eq!(rig.push(lie()), Err(gst::FlowError::Error), "{text}");
        let error = rig.error();
        assert!(error.contains(text), "{error}");
    }
}

fn cropped(mut buffer: gst::Buffer, rect: (u32, u32, u32, u32)) -> gst::Buffer {
    gst_video::VideoCropMeta::add(buffer.get_mut().unwrap(), rect);
    buffer
}

#[test]
fn a_crop_is_seen_and_nothing_else() {
    let (whole, part) = (Size::new(96, 64), Size::new(50, 31));
    let format = PixelFormat::Bgrx;
    let mut rig = Rig::new(&Screen::new(stretched(part), 1));
    rig.begin(&caps(format, part));
    let wanted = pixels(&rig.show(picture(format, part, Padding::default(), |c, x, y| {
        noise(c, x + 7, y + 5)
    })));
    let large = || picture(format, whole, Padding::default(), noise);
    let shown = rig.show(cropped(large(), (7, 5, 50, 31)));
    assert_eq!((shown.target.target().size, pixels(&shown)), (part, wanted));
    // Partly outside: what there is.
    let shown = rig.show(cropped(large(), (90, 60, 50, 31)));
    assert_eq!(
        shown.plan.crop,
        RectF {
            x: 90.0,
            y: 60.0,
            w: 6.0,
            h: 4.0
        }
    );
    // Nothing left, and no crop: as much as the caps say, not the padding of the decoder.
    for buffer in [
        cropped(large(), (96, 0, 10, 10)),
        cropped(large(), (0, 0, 0, 0)),
        large(),
    ] {
        assert_eq!(
            rig.show(buffer).plan.crop,
            RectF {
                x: 0.0,
                y: 0.0,
                w: 50.0,
                h: 31.0
            }
        );
    }
}

#[test]
fn padding_of_a_decoder_does_not_bleed_in() {
    // 1080 rows in 1088, here 28 in 32: what lies below is bright, what is seen is black, to the last row.
    let (seen, stored) = (Size::new(64, 28), Size::new(64, 32));
    let mut rig = Rig::new(&Screen::new(stretched(seen), 1));
    rig.begin(&caps(PixelFormat::Nv12, seen));
    let sample = |c: usize, _, y| match c {
        0 if y < 28 => 16 << 8,
        0 => 235 << 8,
        // The last row lies between this chroma row and the first of the padding.
        _ if y < 14 => 128 << 8,
        _ => 240 << 8,
    };
    let shown = rig.show(cropped(
        picture(PixelFormat::Nv12, stored, Padding::default(), sample),
        (0, 0, 64, 28),
    ));
    assert_eq!(shown.target.target().size, seen);
    assert!(
        pixels(&shown)
            .iter()
            .all(|p| near([p[0], p[1], p[2]], [0, 0, 0], 1))
    );
}

fn orientation(tag: &str, scope: gst::TagScope) -> gst::Event {
    let mut tags = gst::TagList::new();
    let list = tags.get_mut().unwrap();
    list.set_scope(scope);
    list.add::<gst::tags::ImageOrientation>(&tag, gst::TagMergeMode::Replace);
    gst::event::Tag::new(tags)
}

#[test]
fn the_orientation_tag_turns_the_plan_and_not_the_pixels() {
    let size = Size::new(64, 32);
    let mut rig = Rig::new(&Screen::new(demand(FitMode::Fit, 32, 64), 1));
    rig.begin(&caps(PixelFormat::Rgbx, size));
    let shown = |rig: &mut Rig| {
        let shown = rig.show(picture(PixelFormat::Rgbx, size, Padding::default(), noise));
        (shown.plan.picture.orientation, shown.plan.size, pixels(&shown))
    };
    assert_eq!(shown(&mut rig).0, Orientation::UPRIGHT);
    assert!(
        rig.pad
            .push_event(orientation("rotate-90", gst::TagScope::Stream))
    );
    let (turned, whole, there) = shown(&mut rig);
    assert_eq!(
        (turned, whole),
        (
            Orientation {
                mirrored: false,
                quarters: 1
            },
            size
        )
    );
    // The stream's own tag is stronger than the file's, also when that comes later.
    assert!(
        rig.pad
            .push_event(orientation("flip-rotate-0", gst::TagScope::Global))
    );
    assert_eq!(shown(&mut rig).0, turned);
    // Until the next stream.
    rig.begin(&caps(PixelFormat::Rgbx, size));
    let (mirrored, _, _) = shown(&mut rig);
    assert_eq!(
        mirrored,
        Orientation {
            mirrored: true,
            quarters: 0
        }
    );
    assert!(rig.pad.push_event(orientation("rotate-0", gst::TagScope::Stream)));
    assert_eq!(shown(&mut rig).0, Orientation::UPRIGHT);
    // The pixels lie as they were stored.
    let screen = Screen::new(stretched(size), 1);
    let mut plain = Rig::new(&screen);
    plain.begin(&caps(PixelFormat::Rgbx, size));
    assert_eq!(
        there,
        pixels(&plain.show(picture(PixelFormat::Rgbx, size, Padding::default(), noise)))
    );
}

#[test]
fn the_pixel_aspect_ratio_is_in_the_plan() {
    let size = Size::new(704, 576);
    let mut rig = Rig::new(&Screen::new(demand(FitMode::Fit, 512, 512), 1));
    let shown = |rig: &mut Rig, par: &str| {
        rig.begin(&format!(
            "{}, pixel-aspect-ratio={par}",
            caps(PixelFormat::I420, size)
        ));
        rig.show(picture(PixelFormat::I420, size, Padding::default(), noise))
            .plan
    };
    let plan = shown(&mut rig, "16/11");
    assert_eq!(plan.picture.pixel_aspect, (16, 11));
    assert_eq!(plan.size, Size::new(512, 288));
    assert_eq!(shown(&mut rig, "1/1").size, Size::new(512, 419));
    // 1:1000 is nonsense: square.
    assert_eq!(shown(&mut rig, "1/1000").size, Size::new(512, 419));
}

#[test]
fn the_caps_say_what_the_numbers_mean() {
    // Y 81, Cb 90, Cr 240 is BT.601's red in limited range.
    let red = |c: usize, _, _| [81u16, 90, 240][c] << 8;
    let size = Size::new(720, 576);
    let mut rig = Rig::new(&Screen::new(demand(FitMode::Stretch, 72, 57), 1));
    for (colorimetry, seen) in [
        ("", [255, 0, 0]),
        (", colorimetry=bt601", [255, 0, 0]),
        // Computed by the equations of H.273.
        (", colorimetry=bt709", [255, 24, 0]),
        (", colorimetry=1:4:0:0", [238, 14, 14]),
    ] {
        rig.begin(&format!("{}{colorimetry}", caps(PixelFormat::I420, size)));
        let shown = rig.show(picture(PixelFormat::I420, size, Padding::default(), red));
        assert!(
            near(rgb(&shown, 36, 28), seen, 2),
            "{colorimetry}: {:?}",
            rgb(&shown, 36, 28)
        );
        let grey = rig.show(picture(PixelFormat::I420, size, Padding::default(), |_, _, _| {
            128 << 8
        }));
        let level = if colorimetry.contains('1') && colorimetry.contains(':') {
            128
        } else {
            130
        };
        assert!(
            near(rgb(&grey, 36, 28), [level; 3], 1),
            "{colorimetry}: {:?}",
            rgb(&grey, 36, 28)
        );
    }
    // Above 576 rows silence means BT.709.
    let size = Size::new(720, 578);
    rig.begin(&caps(PixelFormat::I420, size));
    let shown = rig.show(picture(PixelFormat::I420, size, Padding::default(), red));
    assert!(
        near(rgb(&shown, 36, 28), [255, 24, 0], 2),
        "{:?}",
        rgb(&shown, 36, 28)
    );
}

#[test]
fn tiles_fill_the_canvas() {
    let size = Size::new(10, 6);
    let mut rig = Rig::new(&Screen::new(demand(FitMode::Tile, 25, 13), 1));
    rig.begin(&caps(PixelFormat::Bgrx, size));
    let shown = rig.show(picture(PixelFormat::Bgrx, size, Padding::default(), noise));
    assert_eq!(shown.target.target().size, Size::new(30, 18));
    for (x, y) in [(0, 0), (9, 5), (3, 4)] {
        for (tx, ty) in [(1, 0), (2, 0), (0, 1), (0, 2), (2, 2)] {
            assert_eq!(rgb(&shown, x + tx * 10, y + ty * 6), rgb(&shown, x, y));
        }
    }
    assert_eq!(rig.sink.stats().snapshot().bytes, 30 * 18 * 4);
}
