//! Every raw format of the GStreamer that runs, against what GStreamer itself reads and the conversion's definition.

#![allow(clippy::unwrap_used, unsafe_code)]

mod common;
#[path = "../../crates/veil-convert/tests/reference/mod.rs"]
mod reference;

use common::{Rig, Screen, demand, pixels};
use gstreamer as gst;
use gstreamer_video as gst_video;

use gst::glib::translate::IntoGlib;
use gst_video::{VideoFormat, VideoFormatFlags, VideoFormatInfo, VideoInfo, ffi};
use veil_convert::{Planes, Spec};
use veil_frame::{FitMode, PixelFormat, Presentable, Range, Rect, Size};
use veil_sink::StreamDescription;

/// Bytes that look random, the same each time.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// A picture in memory: noise in every byte, and where its planes lie.
struct Noise {
    format: VideoFormat,
    size: Size,
    bytes: Vec<u8>,
    offset: Vec<usize>,
    stride: Vec<i32>,
}

impl Noise {
    /// With `more` bytes after each row, or columns and rows of tiles, and `before` bytes before each plane.
    fn new(format: VideoFormat, size: Size, more: i32, before: usize) -> Self {
        let info = VideoFormatInfo::from_format(format);
        let usual = VideoInfo::builder(format, size.w, size.h).build().unwrap();
        let (mut offset, mut stride, mut end) = (Vec::new(), Vec::new(), 0);
        for plane in 0..info.n_planes() as usize {
            let told = usual.stride()[plane];
            let palette = info.flags().contains(VideoFormatFlags::PALETTE) && plane == 1;
            let (bytes, told) = if info.is_tiled() {
                let next = usual.offset().get(plane + 1).copied().unwrap_or(usual.size());
                let (columns, rows) = (told & 0xffff, told >> 16);
                let tile = (next - usual.offset()[plane]) / (columns * rows) as usize;
                assert_eq!(tile % 4, 0, "{format} has no such tiles");
                let (columns, rows) = (columns + more, rows + more);
                ((columns * rows) as usize * tile, rows << 16 | columns)
            } else if palette {
                (1024, told)
            } else {
                let in_plane = |&(at, _): &(&u32, &u32)| *at as usize == plane;
                let components = info.plane().iter().zip(info.h_sub());
                let rows = components
                    .filter(in_plane)
                    .map(|(_, sub)| size.h.div_ceil(1 << sub));
                // The last row ends with its last byte.
                let (rows, wide) = (rows.max().unwrap(), told + 16 * more);
                ((wide * (rows as i32 - 1) + told) as usize, wide)
            };
            // No vector fits, and no word does not.
            offset.push(end + before);
            stride.push(told);
            end += before + bytes.next_multiple_of(8);
            if plane + 1 == info.n_planes() as usize {
                end -= bytes.next_multiple_of(8) - bytes;
            }
        }
        // More than the buffer gets, since GStreamer may read a word beyond.
        let bytes = noise(end + 64, u64::from(size.w) << 20 | end as u64);
        Self {
            format,
            size,
            bytes,
            offset,
            stride,
        }
    }

    fn buffer(&self) -> gst::Buffer {
        let mut buffer = gst::Buffer::from_mut_slice(self.bytes[..self.bytes.len() - 64].to_vec());
        gst_video::VideoMeta::add_full(
            buffer.get_mut().unwrap(),
            gst_video::VideoFrameFlags::empty(),
            self.format,
            self.size.w,
            self.size.h,
            &self.offset,
            &self.stride,
        )
        .unwrap();
        buffer
    }

    /// Four samples of 16 bits for each pixel of row `y`, as GStreamer reads them.
    fn unpacked(&self, y: u32, cut: bool) -> Vec<[u16; 4]> {
        // SAFETY: a static description.
        let info = unsafe { &*ffi::gst_video_format_get_info(self.format.into_glib()) };
        let mut data = [std::ptr::null_mut(); 4];
        for (data, &offset) in data.iter_mut().zip(&self.offset) {
            *data = self.bytes[offset..].as_ptr().cast_mut().cast();
        }
        let mut stride = [0; 4];
        stride[..self.stride.len()].copy_from_slice(&self.stride);
        let mut row = vec![[0u64; 2]; self.size.w as usize + 64];
        let flags = u32::from(cut);
        // GStreamer leaves out what is no whole tile; the memory has it.
        let tiles = self.format.to_str().starts_with("MT2110");
        let width = self.size.w.next_multiple_of(if tiles { 16 } else { 1 });
        // SAFETY: the picture is as large as its rows and tiles, and `row` holds more than one of its rows.
        unsafe {
            info.unpack_func.unwrap()(
                info,
                flags,
                row.as_mut_ptr().cast(),
                data.as_ptr(),
                stride.as_ptr(),
                0,
                y as i32,
                width as i32,
            );
        }
        let words: Vec<u8> = row.iter().flatten().flat_map(|pair| pair.to_ne_bytes()).collect();
        let unpack = VideoFormatInfo::from_format(self.format).unpack_format();
        let pixels = 0..self.size.w as usize;
        match unpack {
            VideoFormat::Ayuv64 | VideoFormat::Argb64 => pixels
                .map(|x| [0, 2, 4, 6].map(|i| u16::from_ne_bytes([words[8 * x + i], words[8 * x + i + 1]])))
                .collect(),
            // The byte is the code of 8 bits, and stays so in the topmost ones.
            VideoFormat::Ayuv | VideoFormat::Argb => pixels
                .map(|x| [0, 1, 2, 3].map(|i| u16::from(words[4 * x + i]) << 8))
                .collect(),
            other => panic!("{} is unpacked into {other}", self.format),
        }
    }
}

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
