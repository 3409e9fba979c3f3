//! A client of a mock compositor, with a wallpaper on each output, and dmabufs for it. Memory files stand in for dmabufs.

#![allow(dead_code, clippy::unwrap_used)]

use crate::pictures::{QUARTERS, coding, draw};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use std::sync::Arc;
use veil_dmabuf::Linear;
use veil_frame::{
    Colorimetry, FitMode, Labels, Matrix, Picture, PixelFormat, Presentable, Range, Rgb, Shown, Size, Target,
    TargetPlan, presentable::Released,
};
use veil_testkit::mock::{Global, Mock, MockBuilder, MockDmabuf, MockOutput};
use veil_testkit::{GENEROUS, wait_until};
use veil_wayland::{
    Content, Display, Event, Layer, OutputId, Placed, SharedMemory, Shell, SurfaceError, SurfaceId,
};

pub(crate) const DEVICE: u64 = 0xe280;
/// Odd, so that chroma has to be rounded up.
pub(crate) const SIZE: Size = Size::new(61, 35);

pub(crate) fn linear(code: DrmFourcc) -> DrmFormat {
    with(code, 0)
}

pub(crate) fn with(code: DrmFourcc, modifier: u64) -> DrmFormat {
    DrmFormat {
        code,
        modifier: DrmModifier::from(modifier),
    }
}

pub(crate) fn rgb() -> MockDmabuf {
    MockDmabuf::new(DEVICE, [linear(DrmFourcc::Xbgr8888)])
}

pub(crate) fn two() -> MockDmabuf {
    MockDmabuf::new(DEVICE, [linear(DrmFourcc::Xbgr8888), linear(DrmFourcc::Nv12)])
}

pub(crate) fn mock(dmabuf: MockDmabuf) -> MockBuilder {
    Mock::builder()
        .output(MockOutput::new("DP-1", 640, 360))
        .dmabuf(dmabuf)
        .with(Global::ColorRepresentation)
}

pub(crate) struct Client {
    pub(crate) mock: Mock,
    pub(crate) display: Display,
    pub(crate) events: Vec<Event>,
    pub(crate) outputs: Vec<OutputId>,
}

impl Client {
    /// With a wallpaper on each output.
    pub(crate) fn new(mock: MockBuilder) -> Self {
        let mock = mock.start().unwrap();
        let session = mock.session();
        let socket = session.runtime_dir().join(session.display());
        let display = Display::connect_to(Some(socket.as_os_str()), Shell::Layer).unwrap();
        let mut client = Self {
            mock,
            display,
            events: Vec::new(),
            outputs: Vec::new(),
        };
        client.turn();
        let desktop = client.display.desktop();
        client.outputs = desktop.outputs().map(|output| output.id).collect();
        for id in client.outputs.clone() {
            client.wallpaper(id);
        }
        client
    }

    pub(crate) fn wallpaper(&mut self, id: OutputId) {
        let desktop = self.display.desktop();
        desktop.create_surface(id, Layer::Background, "a test", Rgb::BLACK);
        self.until("a size", |client| {
            client.display.desktop_ref().surface_size(id).is_some()
        });
    }

    pub(crate) fn turn(&mut self) {
        self.display.flush().unwrap();
        self.display.pump().unwrap();
        while let Some(event) = self.display.desktop().next_event() {
            self.events.push(event);
        }
        self.display.flush().unwrap();
    }

    pub(crate) fn until(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        wait_until(what, GENEROUS, || {
            self.turn();
            condition(self)
        })
        .unwrap_or_else(|error| panic!("{error}; {:?}", self.events));
    }

    pub(crate) fn first(&self) -> SurfaceId {
        self.outputs[0].into()
    }

    /// The formats and modifiers that the first surface takes.
    pub(crate) fn taken(&self) -> Vec<(DrmFourcc, u64)> {
        let support = self.display.desktop_ref().dmabuf_support(self.first());
        let formats = support.unwrap().formats.into_iter();
        formats
            .map(|format| (format.code, format.modifier.into()))
            .collect()
    }

    pub(crate) fn try_show(
        &mut self,
        on: SurfaceId,
        target: &Arc<Target>,
        token: u64,
        labels: Option<Labels>,
    ) -> Result<Placed, SurfaceError> {
        let content = Content {
            presentable: Presentable {
                target: target.share(),
                plan: TargetPlan::whole(Picture::plain(target.size)),
                sequence: token,
                labels,
            },
            mode: FitMode::Stretch,
        };
        let placed = self.display.desktop().show(on, &content, token);
        drop(content);
        self.turn();
        placed
    }

    pub(crate) fn show(&mut self, target: &Arc<Target>, token: u64) -> Placed {
        self.try_show(self.first(), target, token, None).unwrap()
    }

    pub(crate) fn became(&self, of: u64) -> Option<Shown> {
        self.events.iter().rev().find_map(|event| match event {
            Event::Presented { token, shown, .. } if *token == of => Some(*shown),
            _ => None,
        })
    }

    pub(crate) fn until_shown(&mut self, token: u64) {
        self.until(&format!("picture {token}"), |client| {
            client.became(token).is_some_and(|shown| shown != Shown::Never)
        });
    }

    pub(crate) fn end(mut self) {
        self.turn();
        assert_eq!(self.mock.complaints(), Vec::<String>::new());
    }
}

pub(crate) fn picture_of(
    format: DrmFormat,
    size: Size,
    colours: [[u8; 3]; 4],
    coding: Colorimetry,
) -> Arc<Target> {
    let pixels = PixelFormat::from_fourcc(format.code).unwrap();
    let linear = Linear::new(pixels, size).unwrap();
    let mut memory = SharedMemory::new(linear.len).unwrap();
    draw(memory.bytes_mut(), &linear, (pixels, size), colours, coding);
    let mut dmabuf = linear.describe(&memory.share().unwrap()).unwrap();
    dmabuf.format = format;
    Target::of_dmabuf(dmabuf, Arc::new(Released::default()), None)
}

pub(crate) fn picture(format: DrmFormat) -> Arc<Target> {
    picture_of(format, SIZE, QUARTERS, coding(Matrix::Bt601, Range::Limited))
}

pub(crate) fn quarters(client: &Client, output: &str) -> [[u8; 3]; 4] {
    let shot = client.mock.picture(output).unwrap();
    [(160, 90), (480, 90), (160, 270), (480, 270)].map(|(x, y)| shot.pixel(x, y))
}

pub(crate) fn near(have: [[u8; 3]; 4], want: [[u8; 3]; 4]) -> bool {
    let mut pairs = have.iter().flatten().zip(want.iter().flatten());
    pairs.all(|(have, want)| have.abs_diff(*want) <= 2)
}

/// A grey picture in shared memory.
pub(crate) fn plain(grey: u8) -> Arc<Target> {
    let size = Size::new(64, 36);
    let mut memory = SharedMemory::new(64 * 36 * 4).unwrap();
    memory.bytes_mut().fill(grey);
    let backing = veil_frame::Backing::Shm {
        fd: memory.share().unwrap(),
        len: memory.len(),
    };
    Target::new(
        backing,
        size,
        256,
        DrmFourcc::Xrgb8888,
        Arc::new(Released::default()),
    )
}
