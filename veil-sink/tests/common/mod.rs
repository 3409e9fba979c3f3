//! A presenter that keeps what it gets, and a source pad that pushes buffers into a sink by hand, on the test's thread.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, missing_docs)]

pub mod noise;

use gstreamer as gst;
use gstreamer_video as gst_video;

use gst::prelude::*;
use std::{
    fs::File,
    os::{fd::AsFd, unix::fs::FileExt},
    str::FromStr,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};
use veil_frame::{Backing, Demand, FitMode, PixelFormat, Presentable, Size, TargetPlan};
use veil_sink::{Capabilities, Presenter, SharedCapabilities, Submitted, VeilSink};

pub type PushResult = Result<gst::FlowSuccess, gst::FlowError>;

/// Long enough for any machine; no test needs it when all is well.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps the last `keep` presentables, and what it saw of all.
#[derive(Debug)]
pub struct Screen {
    pub capabilities: SharedCapabilities,
    keep: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub struct State {
    pub kept: Vec<Presentable>,
    pub seen: Vec<(u64, TargetPlan)>,
}

impl Screen {
    pub fn new(demand: Demand, keep: usize) -> Arc<Self> {
        Arc::new(Self {
            capabilities: SharedCapabilities::new(demand),
            keep,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Waits until the state is like this, and gives what `look` makes of it.
    pub fn wait<T>(&self, what: &str, mut look: impl FnMut(&State) -> Option<T>) -> T {
        let mut found = None;
        let (state, timeout) = self
            .changed
            .wait_timeout_while(self.state.lock().unwrap(), PATIENCE, |state| {
                found = look(state);
                found.is_none()
            })
            .unwrap();
        assert!(
            !timeout.timed_out(),
            "waited in vain for {what}; seen {:?}",
            state.seen.last()
        );
        found.unwrap()
    }

    pub fn last(&self) -> Presentable {
        self.state
            .lock()
            .unwrap()
            .kept
            .last()
            .cloned()
            .expect("nothing was submitted")
    }

    pub fn count(&self) -> usize {
        self.state.lock().unwrap().seen.len()
    }

    /// Lets go of all that is kept.
    pub fn release(&self) {
        self.state.lock().unwrap().kept.clear();
    }
}

impl Presenter for Screen {
    fn capabilities(&self) -> Arc<Capabilities> {
        self.capabilities.get()
    }

    fn submit(&self, presentable: Presentable) -> Submitted {
        let mut state = self.state.lock().unwrap();
        state.seen.push((presentable.sequence, presentable.plan));
        state.kept.push(presentable);
        let surplus = state.kept.len().saturating_sub(self.keep);
        state.kept.drain(..surplus);
        drop(state);
        self.changed.notify_all();
        Submitted::Queued
    }
}

pub fn demand(mode: FitMode, w: u32, h: u32) -> Demand {
    Demand {
        uses: vec![(mode, Size::new(w, h))],
    }
}

/// The pixels of a presentable, as B, G, R, A; no padding.
pub fn pixels(presentable: &Presentable) -> Vec<[u8; 4]> {
    let target = presentable.target.target();
    let Backing::Shm { fd, len } = &target.backing else {
        panic!("not in shared memory");
    };
    let file = File::from(fd.as_fd().try_clone_to_owned().unwrap());
    let mut bytes = vec![0; *len];
    file.read_exact_at(&mut bytes, 0).unwrap();
    let row = target.size.w as usize * 4;
    assert!(target.stride as usize >= row && target.stride.is_multiple_of(64));
    bytes
        .chunks(target.stride as usize)
        .take(target.size.h as usize)
        .flat_map(|line| line[..row].chunks(4).map(|p| p.try_into().unwrap()))
        .collect()
}

/// R, G, B of one pixel.
pub fn rgb(presentable: &Presentable, x: u32, y: u32) -> [u8; 3] {
    let w = presentable.target.target().size.w;
    let [b, g, r, _] = pixels(presentable)[(y * w + x) as usize];
    [r, g, b]
}

pub fn near(a: [u8; 3], b: [u8; 3], by: u8) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= by)
}

/// A sink and a pad that pushes into it, without a clock: every frame is due at once.
pub struct Rig {
    pub screen: Arc<Screen>,
    pub sink: VeilSink,
    pub pad: gst::Pad,
    pub bus: gst::Bus,
    pts: u64,
}

impl Rig {
    pub fn new(screen: &Arc<Screen>) -> Self {
        let rig = Self::idle(screen);
        rig.play();
        rig
    }

    /// In NULL.
    pub fn idle(screen: &Arc<Screen>) -> Self {
        gst::init().unwrap();
        let sink = VeilSink::new(Arc::clone(screen) as Arc<dyn Presenter>);
        let bus = gst::Bus::new();
        sink.set_bus(Some(&bus));
        let pad = gst::Pad::builder(gst::PadDirection::Src).name("src").build();
        pad.link(&sink.static_pad("sink").unwrap()).unwrap();
        pad.set_active(true).unwrap();
        Self {
            screen: Arc::clone(screen),
            sink,
            pad,
            bus,
            pts: 0,
        }
    }

    /// Pushes into another sink from now on.
    pub fn replace_sink(&mut self, sink: VeilSink) {
        self.pad.unlink(&self.sink.static_pad("sink").unwrap()).unwrap();
        self.sink = sink;
        self.sink.set_bus(Some(&self.bus));
        self.pad.link(&self.sink.static_pad("sink").unwrap()).unwrap();
    }

    pub fn pad_push(&self, buffer: gst::Buffer) {
        self.pad.push(buffer).unwrap();
    }

    pub fn play(&self) {
        self.sink.set_state(gst::State::Playing).unwrap();
    }

    /// Everything before the first buffer.
    pub fn begin(&self, caps: &str) {
        assert!(self.pad.push_event(gst::event::StreamStart::new("test")));
        self.caps(caps);
        self.segment();
    }

    pub fn caps(&self, caps: &str) {
        let caps = gst::Caps::from_str(caps).unwrap();
        assert!(
            self.pad.push_event(gst::event::Caps::new(&caps)),
            "{caps} refused"
        );
    }

    pub fn segment(&self) {
        let segment = gst::FormattedSegment::<gst::ClockTime>::new();
        assert!(self.pad.push_event(gst::event::Segment::new(&segment)));
    }

    /// Stamps a buffer with the next time, at 10 frames a second, and pushes it.
    pub fn push(&mut self, buffer: gst::Buffer) -> PushResult {
        let buffer = self.stamp(buffer);
        self.pad.push(buffer)
    }

    pub fn stamp(&mut self, mut buffer: gst::Buffer) -> gst::Buffer {
        let stamped = buffer.make_mut();
        stamped.set_pts(gst::ClockTime::from_mseconds(self.pts * 100));
        stamped.set_duration(gst::ClockTime::from_mseconds(100));
        self.pts += 1;
        buffer
    }

    /// Does `work` while another thread pushes a buffer, and gives what came of the push. If the work fails, the push is
    /// ended too, so that the test ends.
    pub fn while_pushing<T>(&self, buffer: gst::Buffer, work: impl FnOnce() -> T) -> (T, PushResult) {
        struct StopOnPanic<'a>(&'a VeilSink);
        impl Drop for StopOnPanic<'_> {
            fn drop(&mut self) {
                if thread::panicking() {
                    let _ = self.0.set_state(gst::State::Null);
                }
            }
        }
        thread::scope(|scope| {
            let stop = StopOnPanic(&self.sink);
            let pusher = scope.spawn(|| self.pad.push(buffer));
            let done = work();
            drop(stop);
            (done, pusher.join().unwrap())
        })
    }

    /// Pushes a buffer and gives what the presenter has of it.
    pub fn show(&mut self, buffer: gst::Buffer) -> Presentable {
        let before = self.screen.count();
        if let Err(error) = self.push(buffer) {
            panic!("{error}: {:?}", self.bus.pop_filtered(&[gst::MessageType::Error]));
        }
        assert_eq!(self.screen.count(), before + 1, "a frame is submitted once");
        self.screen.last()
    }

    /// The text of the error on the bus.
    pub fn error(&self) -> String {
        let message = self
            .bus
            .pop_filtered(&[gst::MessageType::Error])
            .expect("no error was posted");
        match message.view() {
            gst::MessageView::Error(error) => format!("{} {:?}", error.error(), error.debug()),
            _ => unreachable!(),
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = self.sink.set_state(gst::State::Null);
        let _ = self.pad.set_active(false);
        // Messages that nobody took hold the sink, which holds the bus.
        self.bus.set_flushing(true);
    }
}

/// Where each plane of a picture is put in a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Padding {
    /// Bytes after each row.
    pub row: usize,
    /// Bytes before each plane.
    pub before: usize,
    /// Whether the padding after the last row of a plane is left out.
    pub cut: bool,
    /// Whether each plane has a memory of its own.
    pub apart: bool,
    /// Whether all is cut into two memories, in the middle of a plane.
    pub split: bool,
}

/// A picture whose every sample is `sample(component, x, y)` (of 16 bits; the high ones are stored), with all other
/// bytes 0xAA, laid out with padding told by a VideoMeta.
pub fn picture(
    format: PixelFormat,
    size: Size,
    padding: Padding,
    sample: impl Fn(usize, u32, u32) -> u16,
) -> gst::Buffer {
    let info = format.info();
    let mut planes = Vec::new();
    let mut strides = Vec::new();
    for plane in 0..usize::from(info.planes) {
        let row = info.plane_row_bytes(plane, size.w);
        let (stride, rows) = (row + padding.row, info.plane_rows(plane, size.h) as usize);
        let len = if padding.cut {
            stride * (rows - 1) + row
        } else {
            stride * rows
        };
        planes.push(vec![0xAAu8; len]);
        strides.push(stride);
    }
    for (index, c) in info.components.iter().enumerate() {
        let (columns, rows) = info.component_size(index, size.w, size.h);
        for y in 0..rows {
            for x in 0..columns {
                let plane = usize::from(c.plane);
                let at =
                    y as usize * strides[plane] + x as usize * usize::from(c.step) + usize::from(c.offset);
                let mask = ((1u32 << c.bits) - 1) << c.shift;
                let value = (u32::from(sample(index, x, y)) >> (16 - c.bits)) << c.shift;
                let word = &mut planes[plane][at..at + usize::from(c.word)];
                // Most significant byte last, for a while.
                if c.big_endian {
                    word.reverse();
                }
                let mut bytes = [0; 4];
                bytes[..word.len()].copy_from_slice(word);
                // Bits beside the sample stay as other components left them, or 0.
                let old = if mask == 0xff || word.iter().all(|&b| b == 0xAA) {
                    0
                } else {
                    u32::from_le_bytes(bytes)
                };
                word.copy_from_slice(&(old & !mask | value).to_le_bytes()[..word.len()]);
                if c.big_endian {
                    word.reverse();
                }
            }
        }
    }
    let mut offsets = Vec::new();
    let mut bytes = Vec::new();
    let mut pieces = Vec::new();
    for plane in planes {
        bytes.extend(std::iter::repeat_n(0xAA, padding.before));
        offsets.push(bytes.len());
        bytes.extend(plane);
        pieces.push(bytes.len());
    }
    let cuts = match (padding.apart, padding.split) {
        (true, _) => pieces,
        (_, true) => vec![offsets[0] + strides[0] + 3, bytes.len()],
        _ => vec![bytes.len()],
    };
    let mut buffer = gst::Buffer::new();
    let mut start = 0;
    for end in cuts {
        let piece = bytes[start..end].to_vec();
        buffer
            .get_mut()
            .unwrap()
            .append_memory(gst::Memory::from_mut_slice(piece));
        start = end;
    }
    let strides: Vec<i32> = strides.iter().map(|&stride| stride as i32).collect();
    gst_video::VideoMeta::add_full(
        buffer.get_mut().unwrap(),
        gst_video::VideoFrameFlags::empty(),
        gst_video::VideoFormat::from_string(info.name),
        size.w,
        size.h,
        &offsets,
        &strides,
    )
    .unwrap();
    buffer
}

/// The formats that the conversion reads as they are, of those that this GStreamer has heard of.
pub fn described() -> impl Iterator<Item = PixelFormat> {
    gst::init().unwrap();
    let known = |format: &PixelFormat| {
        gst_video::VideoFormat::from_string(format.info().name) != gst_video::VideoFormat::Unknown
    };
    PixelFormat::ALL.iter().copied().filter(known)
}

pub fn caps(format: PixelFormat, size: Size) -> String {
    format!(
        "video/x-raw, format={}, width={}, height={}, framerate=10/1",
        format.info().name,
        size.w,
        size.h
    )
}
