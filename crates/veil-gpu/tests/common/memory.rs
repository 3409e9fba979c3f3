//! Memory as decoders give it, fences that wait for the test, and what the kernel counts of both.

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use memmap2::{Mmap, MmapMut, MmapOptions};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create},
    io::pwrite,
    ioctl::{Setter, Updater, ioctl, opcode},
};
use std::{
    fs::{self, File, OpenOptions},
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};
use veil_frame::{Dmabuf, DmabufPlane, PixelFormat, Size};
use veil_testkit::planes::Picture;

#[repr(C)]
struct UdmabufCreate {
    memfd: u32,
    flags: u32,
    offset: u64,
    size: u64,
}

/// A dmabuf with these bytes in it.
pub fn udmabuf(bytes: &[u8]) -> OwnedFd {
    const CREATE: rustix::ioctl::Opcode = opcode::write::<UdmabufCreate>(b'u', 0x42);
    let size = (bytes.len() as u64).next_multiple_of(4096);
    let memory = memfd_create("source", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&memory, size).unwrap();
    fcntl_add_seals(&memory, SealFlags::SHRINK).unwrap();
    assert_eq!(pwrite(&memory, bytes, 0).unwrap(), bytes.len());
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/udmabuf")
        .unwrap();
    let create = UdmabufCreate {
        memfd: memory.as_raw_fd() as u32,
        flags: 1,
        offset: 0,
        size,
    };
    // SAFETY: the opcode reads this structure; what it returns is a new descriptor.
    unsafe { OwnedFd::from_raw_fd(ioctl_returning(&device, Setter::<CREATE, _>::new(create))) }
}

/// `ioctl` whose value is a descriptor, which rustix's setters drop: so it is asked for directly.
unsafe fn ioctl_returning<const OPCODE: rustix::ioctl::Opcode, T>(
    file: &File,
    setter: Setter<OPCODE, T>,
) -> i32 {
    struct Returning<const OPCODE: rustix::ioctl::Opcode, T>(Setter<OPCODE, T>);
    // SAFETY: as the setter, but for the value.
    unsafe impl<const OPCODE: rustix::ioctl::Opcode, T> rustix::ioctl::Ioctl for Returning<OPCODE, T> {
        type Output = i32;
        const IS_MUTATING: bool = false;
        fn opcode(&self) -> rustix::ioctl::Opcode {
            OPCODE
        }
        fn as_ptr(&mut self) -> *mut std::ffi::c_void {
            rustix::ioctl::Ioctl::as_ptr(&mut self.0)
        }
        unsafe fn output_from_ptr(value: i32, _: *mut std::ffi::c_void) -> rustix::io::Result<i32> {
            Ok(value)
        }
    }
    // SAFETY: as the caller says.
    unsafe { ioctl(file, Returning(setter)) }.unwrap()
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

/// Fences that signal when the test says so.
pub struct Timeline(File);

#[repr(C)]
struct SwSyncFence {
    value: u32,
    name: [u8; 32],
    fence: i32,
}

#[repr(C)]
struct SyncFile {
    flags: u32,
    fd: i32,
}

impl Timeline {
    pub fn new() -> Self {
        let path = "/sys/kernel/debug/sync/sw_sync";
        Self(OpenOptions::new().read(true).write(true).open(path).unwrap())
    }

    /// A sync file that signals after `value` steps.
    pub fn fence(&self, value: u32) -> OwnedFd {
        const CREATE: rustix::ioctl::Opcode = opcode::read_write::<SwSyncFence>(b'W', 0);
        let mut fence = SwSyncFence {
            value,
            name: [0; 32],
            fence: -1,
        };
        // SAFETY: the opcode reads and writes this structure, and makes a descriptor.
        unsafe {
            ioctl(&self.0, Updater::<CREATE, _>::new(&mut fence)).unwrap();
            OwnedFd::from_raw_fd(fence.fence)
        }
    }

    /// Steps on.
    pub fn step(&self) {
        const INCREASE: rustix::ioctl::Opcode = opcode::write::<u32>(b'W', 1);
        // SAFETY: the opcode reads a number.
        unsafe { ioctl(&self.0, Setter::<INCREASE, u32>::new(1)) }.unwrap();
    }
}

/// Puts a fence into a dmabuf, of somebody who writes it or reads it.
pub fn attach(dmabuf: BorrowedFd<'_>, fence: &OwnedFd, writes: bool) {
    const IMPORT: rustix::ioctl::Opcode = opcode::write::<SyncFile>(b'b', 3);
    let file = SyncFile {
        flags: if writes { 2 } else { 1 },
        fd: fence.as_raw_fd(),
    };
    // SAFETY: the opcode reads this structure.
    unsafe { ioctl(dmabuf, Setter::<IMPORT, _>::new(file)) }.unwrap();
}

/// Whether somebody who writes (or anybody) still has to finish with a dmabuf.
pub fn is_busy(dmabuf: BorrowedFd<'_>, any: bool) -> bool {
    let flags = if any { PollFlags::OUT } else { PollFlags::IN };
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut [PollFd::from_borrowed_fd(dmabuf, flags)], Some(&now)).unwrap() == 0
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
