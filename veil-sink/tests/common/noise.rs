//! Noise in any format of GStreamer's, and what GStreamer reads in it.

#![allow(unsafe_code)]

use gstreamer as gst;
use gstreamer_video as gst_video;

use gst::glib::translate::IntoGlib;
use gst_video::{VideoFormat, VideoFormatFlags, VideoFormatInfo, VideoInfo, ffi};
use veil_frame::Size;

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
pub struct Noise {
    pub format: VideoFormat,
    pub size: Size,
    pub bytes: Vec<u8>,
    pub offset: Vec<usize>,
    pub stride: Vec<i32>,
}

impl Noise {
    /// With `more` bytes after each row, or columns and rows of tiles, and `before` bytes before each plane.
    pub fn new(format: VideoFormat, size: Size, more: i32, before: usize) -> Self {
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

    /// Takes the last bytes away.
    pub fn shorten(&mut self, by: usize) {
        self.bytes.truncate(self.bytes.len() - by);
    }

    /// In one memory, with a VideoMeta.
    pub fn buffer(&self) -> gst::Buffer {
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
    pub fn unpacked(&self, y: u32, cut: bool) -> Vec<[u16; 4]> {
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
