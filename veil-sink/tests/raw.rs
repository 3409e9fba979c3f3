//! Every raw format of the GStreamer that runs, against what GStreamer itself reads and the conversion's definition.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Rig, Screen, demand, noise::Noise, pixels};
use gstreamer as gst;
use gstreamer_video as gst_video;

use gst_video::{VideoFormat, VideoFormatInfo};
use veil_convert::{Planes, Spec};
use veil_frame::{FitMode, PixelFormat, Presentable, Range, Rect, Size};
use veil_sink::StreamDescription;
use veil_testkit::reference;

/// What is right for the picture that was shown.
fn expected(noise: &Noise, shown: &Presentable, stream: &StreamDescription) -> Vec<[f64; 4]> {
    let info = VideoFormatInfo::from_format(noise.format);
    let bytes = matches!(info.unpack_format(), VideoFormat::Ayuv | VideoFormat::Argb);
    let sub = (info.w_sub().get(1).copied(), info.h_sub().get(1).copied());
    use PixelFormat as F;
    let format = match (info.is_gray(), info.is_rgb(), bytes, sub) {
        (true, _, true, _) => F::Gray8,
        (true, _, false, _) => F::Gray16Le,
        (_, true, true, _) => F::Argb,
        (_, true, false, _) => F::Argb64Le,
        (_, _, true, (Some(2), Some(0))) => F::Y41b,
        (_, _, true, (Some(2), Some(2))) => F::Yuv9,
        (_, _, true, (Some(1), Some(1))) => F::A420,
        (_, _, true, (Some(1), Some(0))) => F::A422,
        (_, _, true, (Some(0), Some(0))) => F::A444,
        (_, _, false, (Some(1), Some(1))) => F::A42016,
        (_, _, false, (Some(1), Some(0))) => F::A42216,
        (_, _, false, (Some(0), Some(0))) => F::A44416,
        other => panic!("{} is like no format that is known: {other:?}", noise.format),
    };
    let alpha_bits = stream
        .format
        .has_alpha()
        .then(|| stream.format.info().components.last().unwrap().bits);
    let cut = stream.colorimetry.range == Range::Limited && !info.is_rgb();
    let rows: Vec<_> = (0..noise.size.h).map(|y| noise.unpacked(y, cut)).collect();
    let told = format.info();
    let stored = shown.plan.picture.stored;
    let mut data = [const { Vec::new() }; 4];
    let mut stride = [0; 4];
    for plane in 0..usize::from(told.planes) {
        stride[plane] = told.plane_row_bytes(plane, stored.w);
        data[plane] = vec![0u8; stride[plane] * told.plane_rows(plane, stored.h) as usize];
    }
    for (index, c) in told.components.iter().enumerate() {
        let (columns, lines) = told.component_size(index, stored.w, stored.h);
        let chroma = told.is_chroma(index);
        let (sub_w, sub_h) = if chroma { (told.sub_w, told.sub_h) } else { (0, 0) };
        for y in 0..lines {
            for x in 0..columns {
                let mut sample = rows[(y << sub_h) as usize][(x << sub_w) as usize][(index + 1) % 4];
                if index == 3 {
                    sample = match alpha_bits {
                        // An unused byte is unpacked as alpha.
                        None => !0,
                        // Two bits are not spread to the others by every GStreamer.
                        Some(2) => (sample >> 14) * (!0 / 3),
                        Some(_) => sample,
                    };
                }
                let plane = usize::from(c.plane);
                let at =
                    y as usize * stride[plane] + x as usize * usize::from(c.step) + usize::from(c.offset);
                if bytes {
                    data[plane][at] = (sample >> 8) as u8;
                } else {
                    data[plane][at..at + 2].copy_from_slice(&sample.to_le_bytes());
                }
            }
        }
    }
    let spec = Spec {
        format,
        stored,
        colorimetry: stream.colorimetry,
        site: stream.site,
        crop: shown.plan.crop,
        size: shown.plan.size,
    };
    let planes = Planes {
        data: std::array::from_fn(|plane| data[plane].as_slice()),
        stride,
    };
    reference::convert(&spec, &planes)
}

/// Whether the chroma of the last of an odd number of columns is GStreamer's guess, which the column before has a share
/// in.
fn last_is_unclear(name: &str, width: u32) -> bool {
    !width.is_multiple_of(2) && ["VYUY", "NV12_10LE32", "NV16_10LE32"].contains(&name)
}

#[test]
fn every_raw_format_is_taken_and_right() {
    gst::init().unwrap();
    let mut taken = Vec::new();
    let mut wrong = Vec::new();
    for format in VideoFormat::iter_raw() {
        let name = format.to_str();
        let described = PixelFormat::from_name(name).is_some();
        let mut worst = 0f64;
        for (case, size) in [(33, 19), (64, 34), (71, 33), (6, 2), (1, 1)]
            .into_iter()
            .enumerate()
        {
            let size = Size::new(size.0, size.1);
            for padded in [false, true] {
                let colorimetry = ["bt709", "1:3:5:1", "bt601"][(case + usize::from(padded)) % 3];
                let caps = format!(
                    "video/x-raw, format={name}, width={}, height={}, framerate=10/1, colorimetry={colorimetry}",
                    size.w, size.h
                );
                let (more, before) = if padded { (2, 64) } else { (0, 0) };
                let noise = Noise::new(format, size, more, before);
                let mut buffer = noise.buffer();
                let mut seen = Rect::whole(size);
                if padded && size.w > 16 {
                    seen = Rect {
                        x: 3,
                        y: 1,
                        w: size.w - 8,
                        h: size.h - 4,
                    };
                    gst_video::VideoCropMeta::add(
                        buffer.get_mut().unwrap(),
                        (seen.x, seen.y, seen.w, seen.h),
                    );
                }
                let mut rig = Rig::new(&Screen::new(demand(FitMode::Stretch, seen.w, seen.h), 1));
                rig.begin(&caps);
                let shown = rig.show(buffer);
                let stream = rig.sink.description().stream.unwrap();
                assert_eq!(stream.name, name);
                assert_eq!(described, stream.format.info().name == name);
                let expected = expected(&noise, &shown, &stream);
                // GStreamer has not set the flag for all that it reads alpha of.
                let flagged = VideoFormatInfo::from_format(format).has_alpha();
                assert_eq!(shown.plan.picture.opaque, !stream.format.has_alpha(), "{name}");
                assert!(stream.format.has_alpha() || !flagged, "{name}");
                for (at, (got, want)) in pixels(&shown).iter().zip(&expected).enumerate() {
                    let (x, y) = (at % seen.w as usize, at / seen.w as usize);
                    if last_is_unclear(name, size.w) && x as u32 + seen.x + 2 >= size.w {
                        continue;
                    }
                    let [b, g, r, a] = got.map(f64::from);
                    let errors = [r, g, b, a]
                        .into_iter()
                        .zip(*want)
                        .map(|(got, want)| (got - want).abs());
                    let error = errors.fold(0.0, f64::max);
                    if error > 1.5 {
                        wrong.push(format!(
                            "{name} {size} {colorimetry}, padded: {padded}, at {x} {y}: {got:?} for {want:?}"
                        ));
                        break;
                    }
                    worst = worst.max(error);
                }
            }
        }
        taken.push((name, described, worst));
    }
    let way = |described: bool| -> Vec<String> {
        let of =
            |(name, is, worst): &(_, bool, f64)| (*is == described).then(|| format!("{name} {worst:.2}"));
        taken.iter().filter_map(of).collect()
    };
    let (read, unpacked) = (way(true), way(false));
    println!("{}: {} formats", gst::version_string(), taken.len());
    println!("read as they are ({}): {}", read.len(), read.join(", "));
    println!(
        "unpacked by GStreamer ({}): {}",
        unpacked.len(),
        unpacked.join(", ")
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_buffer_that_lies_is_an_error_where_it_is_unpacked() {
    gst::init().unwrap();
    let size = Size::new(66, 36);
    type Lie = fn(&mut Noise);
    let lies: [(&str, &str, Lie); 7] = [
        ("v210", "plane 0 has 9215 bytes of 9216", |noise| noise.shorten(1)),
        ("v210", "stride of 252", |noise| noise.stride[0] = 252),
        ("v210", "stride of -256", |noise| noise.stride[0] = -256),
        ("RGB8P", "plane 1 has 1020 bytes of 1024", |noise| {
            noise.shorten(4)
        }),
        // Two columns and two rows of tiles, but three columns of 64 pixels would be read in pairs; and so on.
        ("NV12_64Z32", "too small", |noise| noise.stride[0] = 2 << 16 | 3),
        ("NV12_64Z32", "too small", |noise| noise.stride[1] = 2),
        ("NV12_4L4", "plane 1 has", |noise| noise.stride[1] = 6 << 16 | 17),
    ];
    for (name, text, lie) in lies {
        let mut noise = Noise::new(VideoFormat::from_string(name), size, 0, 0);
        let caps = format!("video/x-raw, format={name}, width=66, height=36, framerate=10/1");
        let shown = |noise: &Noise| {
            let mut rig = Rig::new(&Screen::new(demand(FitMode::Stretch, 66, 36), 1));
            rig.begin(&caps);
            rig.push(noise.buffer()).map_err(|_| rig.error())
        };
        assert!(shown(&noise).is_ok(), "{name}");
        lie(&mut noise);
        let error = shown(&noise).unwrap_err();
        assert!(error.contains(text), "{name}: {error}");
    }
}
