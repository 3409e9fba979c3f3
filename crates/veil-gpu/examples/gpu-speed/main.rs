//! What a conversion costs a GPU and the CPU, for whoever has the hardware: `scripts/bench/gpu`.
//!
//! The device's time is compared with what its memory allows: the time in which it copies as many bytes as a frame has
//! before and after the conversion. Tables are in Markdown, to be pasted. An argument names the device, as `VEIL_DEVICE`
//! does.

mod memory;
mod timing;

use anyhow::{Context, Result};
use ash::vk;
use drm_fourcc::{DrmFormat, DrmFourcc};
use memory::{Bytes, Canvas};
use std::{collections::BTreeSet, env, sync::Arc, time::Duration};
use timing::{Timer, cpu};
use veil_frame::{ChromaSite, Colorimetry, PixelFormat, Planes, RectF, Size, Spec, Transfer};
use veil_gpu::{Conversion, Converter, Device, DeviceChoice, Pipelines, device::DeviceError, upload::Upload};

/// Frames in a row: enough for a clock of a microsecond. The CPU's driver takes long for one.
fn frames(device: &Device) -> usize {
    if device.info().software { 1 } else { 8 }
}

/// Bytes to copy: more than a GPU's caches hold.
fn copied(device: &Device) -> u64 {
    if device.info().software {
        16 << 20
    } else {
        256 << 20
    }
}

const HD: Size = Size::new(1920, 1080);
const UHD: Size = Size::new(3840, 2160);

struct Case {
    name: &'static str,
    format: PixelFormat,
    stored: Size,
    size: Size,
    transfer: Transfer,
}

const CASES: [Case; 6] = [
    case("NV12 1080p", PixelFormat::Nv12, HD, HD, Transfer::Sdr),
    case("NV12 2160p", PixelFormat::Nv12, UHD, UHD, Transfer::Sdr),
    case("NV12 2160p to 1080p", PixelFormat::Nv12, UHD, HD, Transfer::Sdr),
    case("I420 1080p", PixelFormat::I420, HD, HD, Transfer::Sdr),
    case("P010 2160p", PixelFormat::P010, UHD, UHD, Transfer::Sdr),
    case("P010 2160p, HDR10", PixelFormat::P010, UHD, UHD, Transfer::Pq),
];

const fn case(name: &'static str, format: PixelFormat, stored: Size, size: Size, transfer: Transfer) -> Case {
    Case {
        name,
        format,
        stored,
        size,
        transfer,
    }
}

impl Case {
    fn spec(&self) -> Spec {
        Spec {
            format: self.format,
            stored: self.stored,
            colorimetry: Colorimetry {
                transfer: self.transfer,
                ..Colorimetry::assumed(self.stored.h)
            },
            site: ChromaSite::LEFT,
            crop: RectF::whole(self.stored),
            size: self.size,
        }
    }

    fn planes(&self) -> Vec<Vec<u8>> {
        let info = self.format.info();
        let plane = |plane| {
            let bytes =
                info.plane_row_bytes(plane, self.stored.w) * info.plane_rows(plane, self.stored.h) as usize;
            (0..bytes).map(|i| (i * 37 >> 3) as u8).collect()
        };
        (0..usize::from(info.planes)).map(plane).collect()
    }

    fn borrow<'a>(&self, data: &'a [Vec<u8>]) -> Planes<'a> {
        let mut planes = Planes::default();
        for (i, data) in data.iter().enumerate() {
            planes.data[i] = data;
            planes.stride[i] = self.format.info().plane_row_bytes(i, self.stored.w);
        }
        planes
    }

    /// Bytes of a frame before and after.
    fn bytes(&self) -> u64 {
        let read: usize = self.planes().iter().map(Vec::len).sum();
        read as u64 + 4 * u64::from(self.size.w) * u64::from(self.size.h)
    }
}

fn main() -> Result<()> {
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .init();
    let named = env::args().nth(1).or_else(|| env::var("VEIL_DEVICE").ok());
    let choice = named.map_or(DeviceChoice::Only, DeviceChoice::Named);
    let device = match Device::open(&choice) {
        Ok(device) => device,
        Err(error @ DeviceError::Missing { .. }) => {
            println!("{error}: only the shader is timed.");
            Device::open_without_dmabufs(&choice)?
        }
        Err(error) => return Err(error.into()),
    };
    about(&device);
    let pipelines = Pipelines::new(&device)?;
    let timer = Timer::new(&device)?;
    let second = copied_in_a_second(&device, &timer)?;
    println!(
        "\nMemory: {:.1} GB/s, read and written, in a copy.\n",
        second / 1e9
    );
    println!("| | GPU time | its memory allows | ratio | upload: CPU time | upload: GPU time |");
    println!("|---|---|---|---|---|---|");
    for case in &CASES {
        row(&pipelines, &timer, case, second).with_context(|| format!("{} failed", case.name))?;
    }
    println!();
    for size in [HD, UHD] {
        match submission(&pipelines, size) {
            Ok(time) => println!(
                "A frame of {size} from dmabuf to dmabuf takes {} of the CPU.",
                show(time)
            ),
            Err(error) => println!("No frame of {size} from dmabuf to dmabuf: {error:#}"),
        }
    }
    Ok(())
}

/// Which device, and what it shares.
fn about(device: &Device) {
    let info = device.info();
    let (major, minor) = info.api_version;
    println!("{}; {}; Vulkan {major}.{minor}", info.name, info.driver);
    let modifiers = |pairs: &mut dyn Iterator<Item = DrmFormat>| {
        let all: BTreeSet<u64> = pairs.map(|pair| pair.modifier.into()).collect();
        let names: Vec<_> = all.iter().map(|modifier| format!("{modifier:#x}")).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    let formats = device.formats();
    let read = formats.sources().iter().map(|source| source.pair);
    let nv12 = |pair: &DrmFormat| pair.code == DrmFourcc::Nv12;
    let shown = |pair: &DrmFormat| pair.code == DrmFourcc::Xbgr8888;
    println!(
        "NV12 is read with modifiers {}.",
        modifiers(&mut read.filter(nv12))
    );
    let written = formats.targets().iter().copied();
    println!(
        "XBGR8888 is exported with modifiers {}.",
        modifiers(&mut written.filter(shown))
    );
}

/// Bytes that the device reads and writes in a second when it copies.
fn copied_in_a_second(device: &Arc<Device>, timer: &Timer) -> Result<f64> {
    let bytes = copied(device);
    let (from, to) = (Bytes::new(device, bytes)?, Bytes::new(device, bytes)?);
    let region = [vk::BufferCopy::default().size(bytes)];
    let time = timer.median(|commands| {
        // SAFETY: the command buffer is being recorded; both have this many bytes.
        unsafe {
            device
                .raw()
                .cmd_copy_buffer(commands, from.buffer, to.buffer, &region);
        }
    })?;
    Ok(2.0 * bytes as f64 / time.as_secs_f64())
}

/// Times one kind of conversion.
fn row(pipelines: &Arc<Pipelines>, timer: &Timer, case: &Case, second: f64) -> Result<()> {
    let device = pipelines.device();
    let count = frames(device);
    let deep = case.format != PixelFormat::Nv12 && case.format != PixelFormat::I420;
    let format = if deep && device.extended_storage() {
        vk::Format::A2B10G10R10_UNORM_PACK32
    } else {
        vk::Format::R8G8B8A8_UNORM
    };
    let spec = case.spec();
    let conversion = Conversion::new(pipelines, &spec, spec.size, format, count)?;
    let mut upload = Upload::new(device, case.format, case.stored, 1)?;
    let data = case.planes();
    let planes = case.borrow(&data);
    let before = cpu();
    for _ in 0..count {
        upload.write(0, &planes)?;
    }
    let write = (cpu() - before) / count as u32;
    // SAFETY: one queue, and each run ends before the next.
    let copy = timer.median(|commands| unsafe { upload.record(commands, 0) })?;
    let canvas = Canvas::new(device, spec.size, format)?;
    let drawn = timer.median(|commands| {
        for slot in 0..count {
            canvas.begin(commands);
            // SAFETY: each run ends before the next; planes and canvas are what the conversion was made for.
            unsafe { conversion.record(commands, slot, upload.views(), canvas.view) };
        }
    })?;
    let time = drawn / count as u32;
    let least = Duration::from_secs_f64(case.bytes() as f64 / second);
    let ratio = time.as_secs_f64() / least.as_secs_f64();
    println!(
        "| {} | {} | {} | {ratio:.2} | {} | {} |",
        case.name,
        show(time),
        show(least),
        show(write),
        show(copy)
    );
    Ok(())
}

/// What a frame from dmabuf to dmabuf takes of this thread: import (known), recording, fences, submission.
fn submission(pipelines: &Arc<Pipelines>, size: Size) -> Result<Duration> {
    let device = pipelines.device();
    let formats = device.formats();
    let is_read = |pair: &&DrmFormat| {
        pair.code == DrmFourcc::Xbgr8888 && formats.reads(PixelFormat::Rgbx, pair.modifier)
    };
    let both: Vec<_> = formats.targets().iter().filter(is_read).copied().collect();
    let case = case("", PixelFormat::Rgbx, size, size, Transfer::Sdr);
    let mut converter = Converter::new(pipelines, &case.spec(), size, &both, 2)?;
    let (source, target) = (converter.target()?, converter.target()?);
    let mut frame = || -> Result<()> {
        let submitted = converter.convert(&source.dmabuf().borrow(), &target)?;
        converter.wait(submitted.serial, Duration::from_secs(10))?;
        Ok(())
    };
    for _ in 0..3 {
        frame()?;
    }
    let (start, before, mut frames) = (std::time::Instant::now(), cpu(), 0);
    while frames < 300 && start.elapsed() < Duration::from_secs(3) {
        frame()?;
        frames += 1;
    }
    Ok((cpu() - before) / frames)
}

fn show(time: Duration) -> String {
    let microseconds = time.as_secs_f64() * 1e6;
    if microseconds < 1000.0 {
        format!("{microseconds:.0} µs")
    } else {
        format!("{:.2} ms", microseconds / 1000.0)
    }
}
