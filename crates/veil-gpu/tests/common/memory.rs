//! Memory as decoders give it, and what the kernel counts of it.

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::{
    fs,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    time::Duration,
};
use veil_dmabuf::Allocator;
use veil_frame::{Dmabuf, DmabufPlane, PixelFormat, Size};
use veil_testkit::planes::Picture;

/// A dmabuf with these bytes in it.
pub fn udmabuf(bytes: &[u8]) -> OwnedFd {
    let dmabuf = Allocator::open().unwrap().allocate(bytes.len()).unwrap();
    map_mut(dmabuf.as_fd(), bytes.len()).copy_from_slice(bytes);
    dmabuf
}

/// How planes lie in dmabufs.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Whether each has its own.
    pub apart: bool,
    /// Bytes before each plane.
    pub lead: usize,
}

/// A picture in dmabufs.
pub fn place(picture: &Picture, format: PixelFormat, size: Size, layout: Layout) -> Dmabuf {
    let mut all = Vec::new();
    let mut offsets = Vec::new();
    for data in &picture.data {
        if layout.apart {
            all.clear();
        }
        // Such as decoders have: planes begin at whole cache lines.
        all.resize((all.len() + layout.lead).next_multiple_of(64), 0xee);
        let file = layout.apart.then(|| {
            let mut alone = all.clone();
            alone.extend_from_slice(data);
            udmabuf(&alone)
        });
        offsets.push((all.len() as u32, file));
        all.extend_from_slice(data);
    }
    let whole = (!layout.apart).then(|| udmabuf(&all));
    let planes = offsets.into_iter().zip(&picture.stride);
    Dmabuf {
        size,
        format: DrmFormat {
            code: format.info().fourcc.unwrap_or(DrmFourcc::R8),
            modifier: DrmModifier::Linear,
        },
        planes: planes
            .map(|((offset, file), &stride)| DmabufPlane {
                fd: file.unwrap_or_else(|| whole.as_ref().unwrap().try_clone().unwrap()),
                offset,
                stride: stride as u32,
            })
            .collect(),
    }
}

/// A dmabuf's bytes.
pub fn map(dmabuf: BorrowedFd<'_>, len: usize) -> Mmap {
    // SAFETY: nobody truncates a dmabuf; what others write is only looked at when they have finished.
    unsafe { MmapOptions::new().len(len).map(dmabuf.as_raw_fd()) }.unwrap()
}

/// A dmabuf's bytes, to be written.
pub fn map_mut(dmabuf: BorrowedFd<'_>, len: usize) -> MmapMut {
    // SAFETY: as above.
    unsafe { MmapOptions::new().len(len).map_mut(dmabuf.as_raw_fd()) }.unwrap()
}

/// The words of a target of rows of pixels.
pub fn words(target: &Dmabuf) -> Vec<u32> {
    let plane = &target.planes[0];
    let (stride, offset) = (plane.stride as usize, plane.offset as usize);
    let bytes = map(plane.fd.as_fd(), offset + stride * target.size.h as usize);
    let row = |y: usize| &bytes[offset + y * stride..][..4 * target.size.w as usize];
    let word = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap());
    (0..target.size.h as usize)
        .flat_map(|y| row(y).chunks_exact(4).map(word))
        .collect()
}

/// This process's descriptors, and the machine's dmabufs.
pub fn counts() -> (usize, usize) {
    let info = fs::read_to_string("/sys/kernel/debug/dma_buf/bufinfo").unwrap();
    let dmabufs = info
        .lines()
        .filter(|line| line.contains("exp_name") || line.contains("count"));
    let total = info.lines().find(|line| line.starts_with("Total"));
    let number = |line: &str| line.split_whitespace().nth(1)?.parse().ok();
    (
        fs::read_dir("/proc/self/fd").unwrap().count(),
        total.and_then(number).unwrap_or_else(|| dmabufs.count()),
    )
}

/// Waits until no more descriptors and dmabufs are there than before: drivers may close theirs a little later.
pub fn assert_back_to(before: (usize, usize), when: &str) {
    let back = || {
        let now = counts();
        now.0 <= before.0 && now.1 <= before.1
    };
    let what = format!("descriptors and dmabufs back to {before:?}, {when}");
    if let Err(error) = veil_testkit::wait_until(&what, Duration::from_secs(20), back) {
        panic!("{error}: {:?} are there", counts());
    }
}
