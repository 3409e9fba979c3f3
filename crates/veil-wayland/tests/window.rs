//! Windows, against a mock compositor: their sizes and scales, and what is shown in them.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use veil_frame::presentable::Released;
use veil_frame::{Backing, FitMode, Picture, Presentable, Rgb, Size, Target, TargetPlan};
use veil_testkit::mock::{Configures, Mock, MockBuilder, MockOutput, Role};
use veil_testkit::{GENEROUS, wait_until};
use veil_wayland::{Content, Display, Event, Placed, SharedMemory, Shell, SurfaceId, WindowSettings};

const WINDOW: SurfaceId = SurfaceId::Window;
/// Odd, so that every fraction has to be rounded.
const WANTED: Size = Size::new(333, 187);

struct Client {
    mock: Mock,
    display: Display,
    events: Vec<Event>,
}

impl Client {
    fn new(mock: MockBuilder) -> Self {
        let mock = mock.start().unwrap();
        let session = mock.session();
        let socket = session.runtime_dir().join(session.display());
        let display = Display::connect_to(Some(socket.as_os_str()), Shell::Window).unwrap();
        let mut client = Self {
            mock,
            display,
            events: Vec::new(),
        };
        let settings = WindowSettings {
            title: "a title".into(),
            app_id: "an.app".into(),
            size: WANTED,
            fullscreen: false,
            color: Rgb::BLACK,
        };
        client.display.desktop().create_window(&settings, None);
        client.turn();
        client
    }

    /// Sends what there is to send, and takes what has come.
    fn turn(&mut self) {
        self.display.flush().unwrap();
        self.display.pump().unwrap();
        while let Some(event) = self.display.desktop().next_event() {
            self.events.push(event);
        }
        self.display.flush().unwrap();
    }

    fn until(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        wait_until(what, GENEROUS, || {
            self.turn();
            condition(self)
        })
        .unwrap();
    }

    /// Until the window has this logical size and covers this many pixels.
    fn until_size(&mut self, logical: (u32, u32), pixels: (u32, u32)) {
        self.until(&format!("{logical:?} and {pixels:?}"), |client| {
            let desktop = client.display.desktop_ref();
            let size = |found: Option<Size>| found.map(|size| (size.w, size.h));
            size(desktop.surface_size(WINDOW)) == Some(logical)
                && size(desktop.surface_pixels(WINDOW)) == Some(pixels)
        });
    }

    fn show(&mut self, size: Size, colour: u32, token: u64) {
        let mut memory = SharedMemory::new(size.w as usize * size.h as usize * 4).unwrap();
        for pixel in memory.bytes_mut().chunks_exact_mut(4) {
            pixel.copy_from_slice(&colour.to_le_bytes());
        }
        let backing = Backing::Shm {
            fd: memory.share().unwrap(),
            len: memory.len(),
        };
        let format = drm_fourcc::DrmFourcc::Xrgb8888;
        let target = Target::new(backing, size, size.w * 4, format, Arc::new(Released::default()));
        let content = Content {
            presentable: Presentable {
                target: target.try_take().unwrap(),
                plan: TargetPlan::whole(Picture::plain(size)),
                sequence: token,
                labels: None,
            },
            mode: FitMode::Fill,
        };
        let placed = self.display.desktop().show(WINDOW, &content, token).unwrap();
        assert_ne!(placed, Placed::Nowhere);
        self.turn();
    }
}

fn one(output: MockOutput) -> MockBuilder {
    Mock::builder().output(output)
}

fn output() -> MockOutput {
    // A compositor that leaves the size to windows.
    MockOutput::new("DP-1", 1280, 720).configures(Configures::WithZero)
}

#[test]
fn a_window_has_its_own_size_and_the_scale_of_its_output() {
    // Logical pixels times scale, rounded half away from zero.
    for (scale, pixels) in [
        (1.0, (333, 187)),
        (1.25, (416, 234)),
        (1.5, (500, 281)),
        (1.75, (583, 327)),
        (2.0, (666, 374)),
    ] {
        let mut client = Client::new(one(output().scale(scale)));
        client.until_size((333, 187), pixels);
        let surfaces = client.mock.surfaces();
        let (title, app_id) = ("a title".to_owned(), "an.app".to_owned());
        assert!(
            surfaces.iter().any(|surface| surface.role
                == Role::Window {
                    title: title.clone(),
                    app_id: app_id.clone()
                }),
            "{surfaces:?}"
        );
    }
}

#[test]
fn without_fractions_the_scale_is_the_next_whole_number() {
    let mock = one(output().scale(1.5)).without(veil_testkit::mock::Global::FractionalScale);
    let mut client = Client::new(mock);
    // The output that it is on is known when something of it is seen: its background is.
    client.until_size((333, 187), (666, 374));
}

#[test]
fn sizes_and_scales_change() {
    let mut client = Client::new(one(output()));
    client.until_size((333, 187), (333, 187));
    client.mock.configure("DP-1", 801, 601);
    client.until_size((801, 601), (801, 601));
    client.mock.change("DP-1", |output| output.scale = 1.5).unwrap();
    client.until_size((801, 601), (1202, 902));
    for size in 1..100 {
        client.mock.configure("DP-1", size, 100 - size);
    }
    client.mock.configure("DP-1", 640, 360);
    client.until_size((640, 360), (960, 540));
    client.mock.change("DP-1", |output| output.scale = 1.0).unwrap();
    client.until_size((640, 360), (640, 360));
    assert_eq!(client.mock.complaints(), Vec::<String>::new());
}

#[test]
fn a_window_that_was_larger_for_a_while_goes_back() {
    let mut client = Client::new(one(output()));
    client.until_size((333, 187), (333, 187));
    for own in [(333, 187), (640, 360)] {
        client.mock.configure("DP-1", own.0, own.1);
        client.until_size(own, own);
        client.mock.maximize("DP-1", 1280, 720);
        client.until_size((1280, 720), (1280, 720));
        // The compositor leaves the size to the window again.
        client.mock.configure("DP-1", 0, 0);
        client.until_size(own, own);
    }
    assert_eq!(client.mock.complaints(), Vec::<String>::new());
}

#[test]
fn a_picture_covers_the_window() {
    let mut client = Client::new(one(output()));
    client.until_size((333, 187), (333, 187));
    for (token, size, colour) in [
        (1, WANTED, 0x00c8_1e1e),
        (2, Size::new(64, 36), 0x001e_a03c),
        (3, Size::new(1001, 999), 0x0028_3cc8),
    ] {
        client.show(size, colour, token);
        client.until("it presented", |client| {
            let shown = |event: &Event| {
                matches!(event, Event::Presented { surface: WINDOW, token: of, shown }
                    if *of == token && *shown != veil_frame::Shown::Never)
            };
            client.events.iter().any(shown)
        });
        let shot = client.mock.picture("DP-1").unwrap();
        let [_, red, green, blue] = colour.to_be_bytes();
        for (x, y) in [(0, 0), (332, 0), (0, 186), (332, 186), (166, 93)] {
            assert_eq!(shot.pixel(x, y), [red, green, blue], "{x}, {y}");
        }
        assert_eq!(shot.pixel(333, 187), [0; 3], "beyond the window");
    }
    assert_eq!(client.mock.complaints(), Vec::<String>::new());
}

#[test]
fn a_window_that_is_closed_is_gone() {
    let mut client = Client::new(one(output()));
    client.until_size((333, 187), (333, 187));
    client.show(WANTED, 0, 1);
    client.mock.close("DP-1");
    client.until("its end", |client| {
        client.events.contains(&Event::SurfaceClosed(WINDOW))
    });
    assert!(!client.display.desktop_ref().has_surface(WINDOW));
    client.until("nothing left", |client| client.mock.surfaces().is_empty());
}
