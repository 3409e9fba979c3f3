//! dmabufs on real compositors: what they take, how it looks on the screen, and when they give it back.
//!
//! One test a compositor. Each starts a session of it on the test machine, and in that this program again, for
//! [`client`], which shows pictures and looks at the display. Its screenshots are in `target/screenshots/`.

#![allow(clippy::unwrap_used)]

mod pictures;

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use pictures::{QUARTERS, coding, draw};
use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
    time::Duration,
};
use veil_dmabuf::{Access, Allocator, Linear, Mapping};
use veil_frame::{
    ChromaSite, Colorimetry, DmabufSupport, FitMode, Labels, Matrix, Picture, PixelFormat, Presentable,
    Range, Rgb, Shown, Siting, Size, Target, TargetPlan, Transfer, presentable::Released, tone_map,
};
use veil_testkit::{GENEROUS, RgbImage, Shot, repository, wait_until};
use veil_wayland::{Content, Display, DisplayError, Event, Layer, Placed, Shell, SurfaceId, WindowSettings};

/// For what need not be right: the compositor has drawn it by then.
const A_LOOK: Duration = Duration::from_secs(1);
/// Odd, and smaller than the display.
const SIZE: Size = Size::new(333, 187);

fn in_session(compositor: &str) {
    let status = Command::new(repository().join("scripts/testbed/session"))
        .arg(compositor)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "client", "--ignored", "--nocapture"])
        .status()
        .unwrap();
    assert!(status.success(), "{compositor}: {status}");
}

#[test]
#[ignore = "needs the test machine"]
fn sway_shows_dmabufs() {
    in_session("sway");
}

#[test]
#[ignore = "needs the test machine"]
fn labwc_shows_dmabufs() {
    in_session("labwc");
}

#[test]
#[ignore = "needs the test machine"]
fn hyprland_shows_dmabufs() {
    in_session("hyprland");
}

#[test]
#[ignore = "needs the test machine"]
fn kwin_shows_dmabufs() {
    in_session("kwin");
}

#[test]
#[ignore = "needs the test machine"]
fn weston_shows_dmabufs_in_a_window() {
    in_session("weston");
}

/// What the display shows, whoever draws it.
struct Screen {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    path: PathBuf,
}

impl Screen {
    fn new() -> Self {
        // `scripts/testbed/tests` puts it there.
        let exe = std::env::current_exe().unwrap();
        let program = exe.ancestors().nth(3).unwrap().join("kms-shot");
        let cards = std::fs::read_dir("/sys/devices/faux/vkms/drm").unwrap();
        let card = cards
            .map(|card| card.unwrap().file_name())
            .find(|name| name.to_string_lossy().starts_with("card"));
        let mut process = Command::new(&program)
            .arg(PathBuf::from("/dev/dri").join(card.unwrap()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        Self {
            ask: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            path: PathBuf::from(format!("/tmp/shot-{}", process.id())),
            process,
        }
    }

    fn shoot(&mut self) -> Option<Shot> {
        writeln!(self.ask, "0 0 {}", self.path.display()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let words: Vec<&str> = answer.split_whitespace().collect();
        let &[w, h, stride, fourcc, _, _] = words.as_slice() else {
            return None;
        };
        let [w, h, stride] = [w, h, stride].map(|word| word.parse::<u32>().unwrap());
        let order = match fourcc {
            "XR24" | "AR24" => [2, 1, 0],
            "XB24" | "AB24" => [0, 1, 2],
            other => panic!("the display is in {other}"),
        };
        let bytes = std::fs::read(&self.path).unwrap();
        let pixel = |x: u32, y: u32| {
            let at = (y * stride + x * 4) as usize;
            image_pixel(order.map(|part| bytes[at + part]))
        };
        Some(Shot::from_image(RgbImage::from_fn(w, h, pixel)))
    }
}

fn image_pixel(rgb: [u8; 3]) -> <RgbImage as std::ops::Index<(u32, u32)>>::Output {
    rgb.into()
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Client {
    display: Display,
    surface: SurfaceId,
    events: Vec<Event>,
    screen: Screen,
    allocator: Allocator,
    token: u64,
}

impl Client {
    fn new(shell: Shell) -> Self {
        let mut display = Display::connect_to(None, shell).unwrap();
        let desktop = display.desktop();
        let output = desktop.outputs().next().expect("an output").id;
        let surface = match shell {
            Shell::Layer => {
                desktop.create_surface(output, Layer::Background, "a test", Rgb::BLACK);
                output.into()
            }
            Shell::Window => {
                let settings = WindowSettings {
                    title: "a test".into(),
                    app_id: "test".into(),
                    size: SIZE,
                    fullscreen: true,
                    color: Rgb::BLACK,
                };
                desktop.create_window(&settings, Some(output));
                SurfaceId::Window
            }
        };
        let mut client = Self {
            display,
            surface,
            events: Vec::new(),
            screen: Screen::new(),
            allocator: Allocator::open().unwrap(),
            token: 0,
        };
        client.until("a size", |client| {
            client.display.desktop_ref().surface_size(surface).is_some()
        });
        client
    }

    fn turn(&mut self) {
        let turn = || -> Result<(), DisplayError> {
            self.display.flush()?;
            self.display.pump()?;
            while let Some(event) = self.display.desktop().next_event() {
                self.events.push(event);
            }
            self.display.flush()?;
            Ok(())
        }();
        turn.unwrap_or_else(|error| panic!("{error}"));
    }

    fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        wait_until(what, GENEROUS, || {
            self.turn();
            condition(self)
        })
        .unwrap();
    }

    fn support(&self) -> DmabufSupport {
        let support = self.display.desktop_ref().dmabuf_support(self.surface);
        support.expect("the compositor takes dmabufs")
    }

    fn picture(&self, code: DrmFourcc, colours: [[u8; 3]; 4], coding: Colorimetry) -> Arc<Target> {
        let format = PixelFormat::from_fourcc(code).unwrap();
        let linear = Linear::new(format, SIZE).unwrap();
        let memory = linear.allocate(&self.allocator).unwrap();
        let mut mapping = Mapping::new(&memory, linear.len).unwrap();
        let mut bytes = mapping.access(Access::Write).unwrap();
        draw(&mut bytes, &linear, (format, SIZE), colours, coding);
        drop(bytes);
        let mut dmabuf = linear.describe(&memory).unwrap();
        dmabuf.format.code = code;
        Target::of_dmabuf(dmabuf, Arc::new(Released::default()), None)
    }

    /// Shows a target, and waits until it is on the screen.
    fn show(&mut self, target: &Arc<Target>, labels: Option<Labels>) {
        self.token += 1;
        let token = self.token;
        let content = Content {
            presentable: Presentable {
                target: target.share(),
                plan: TargetPlan::whole(Picture::plain(target.size)),
                sequence: token,
                labels,
            },
            mode: FitMode::Stretch,
        };
        let placed = self
            .display
            .desktop()
            .show(self.surface, &content, token)
            .unwrap();
        assert_ne!(placed, Placed::Nowhere);
        drop(content);
        self.until("it is presented", |client| {
            client.events.iter().any(|event| {
                matches!(event, Event::Presented { token: of, shown, .. }
                    if *of == token && *shown != Shown::Never)
            })
        });
    }

    /// The colours in the middle of the quarters, once they are these; or what they are in the end.
    fn colours(&mut self, name: &str, expected: [[u8; 3]; 4]) -> [[u8; 3]; 4] {
        self.colours_within(name, expected, GENEROUS)
    }

    fn colours_within(&mut self, name: &str, expected: [[u8; 3]; 4], limit: Duration) -> [[u8; 3]; 4] {
        let mut last = None;
        let right = wait_until(name, limit, || {
            self.turn();
            last = self.screen.shoot().or(last.take());
            last.as_ref().is_some_and(|shot| near(middles(shot), expected))
        });
        let shot = last.expect("the display can be read");
        println!("{name}: {:?} {:?}", middles(&shot), shot.keep(name).unwrap());
        drop(right);
        middles(&shot)
    }
}

fn middles(shot: &Shot) -> [[u8; 3]; 4] {
    let (w, h) = shot.size();
    [(1, 1), (3, 1), (1, 3), (3, 3)].map(|(x, y)| shot.pixel(w * x / 4, h * y / 4))
}

fn near(have: [[u8; 3]; 4], want: [[u8; 3]; 4]) -> bool {
    let pairs = have.iter().flatten().zip(want.iter().flatten());
    pairs.into_iter().all(|(have, want)| have.abs_diff(*want) <= 3)
}

/// Everybody shows RGB right; those who can be told what YCbCr means show that right, too.
#[test]
#[ignore = "needs the test machine"]
fn client() {
    let Ok(name) = std::env::var("COMPOSITOR") else {
        return;
    };
    let shell = if name == "weston" {
        Shell::Window
    } else {
        Shell::Layer
    };
    let mut client = Client::new(shell);
    // Image descriptions are made ready one after the other.
    client.turn();
    let support = client.support();
    println!(
        "{name}: device {:?}, {} pairs, {:?}, {:?}",
        support.device,
        support.formats.len(),
        support.codings,
        support.colours
    );
    let linear = |code| DrmFormat {
        code,
        modifier: DrmModifier::Linear,
    };
    let srgb = Colorimetry::SRGB;
    for code in [
        DrmFourcc::Xbgr8888,
        DrmFourcc::Xrgb8888,
        DrmFourcc::Abgr8888,
        DrmFourcc::Xbgr2101010,
    ] {
        if code != DrmFourcc::Xbgr8888 && !support.formats.contains(&linear(code)) {
            println!("{name} does not take {code}");
            continue;
        }
        let mut turned = QUARTERS;
        for round in 0..2 {
            let target = client.picture(code, turned, srgb);
            client.show(&target, None);
            let seen = client.colours(&format!("{name}-{code}-{round}"), turned);
            assert!(near(seen, turned), "{code}: {seen:?}");
            // It is given back when another takes its place.
            let next = client.picture(DrmFourcc::Xbgr8888, [[0; 3]; 4], srgb);
            client.show(&next, None);
            client.until("its release", |_| !target.is_used());
            turned.rotate_left(1);
        }
    }
    if !support.formats.contains(&linear(DrmFourcc::Nv12)) {
        println!("{name} does not take NV12");
    } else if support.codings.is_empty() {
        let coded = coding(Matrix::Bt709, Range::Limited);
        let target = client.picture(DrmFourcc::Nv12, QUARTERS, coded);
        client.show(&target, None);
        client.colours_within(&format!("{name}-NV12-unlabelled"), QUARTERS, A_LOOK);
    }
    for (matrix, range) in support.codings.clone() {
        let coded = coding(matrix, range);
        let target = client.picture(DrmFourcc::Nv12, QUARTERS, coded);
        let site = ChromaSite {
            horizontal: Siting::Cosited,
            vertical: Siting::Centered,
        };
        let labels = Labels {
            colorimetry: coded,
            site,
        };
        client.show(&target, Some(labels));
        let seen = client.colours(&format!("{name}-NV12-{matrix:?}-{range:?}"), QUARTERS);
        assert!(near(seen, QUARTERS), "{matrix:?} {range:?}: {seen:?}");
        // RGB, which must have none of that.
        let target = client.picture(DrmFourcc::Xbgr8888, QUARTERS, srgb);
        client.show(&target, None);
        let seen = client.colours(&format!("{name}-after-{matrix:?}-{range:?}"), QUARTERS);
        assert!(near(seen, QUARTERS), "after {matrix:?} {range:?}: {seen:?}");
    }
    for (primaries, transfer) in support.colours.clone() {
        if support.codings.is_empty() {
            break;
        }
        let coded = Colorimetry {
            primaries,
            transfer,
            ..coding(Matrix::Bt2020, Range::Limited)
        };
        let labels = Labels {
            colorimetry: coded,
            site: ChromaSite {
                horizontal: Siting::Cosited,
                vertical: Siting::Cosited,
            },
        };
        let target = client.picture(DrmFourcc::Nv12, QUARTERS, coded);
        client.show(&target, Some(labels));
        // How bright SDR's white is among such colours is the compositor's to say: this is for people to look at.
        let ours = QUARTERS.map(|colour| {
            tone_map::to_sdr(coded, colour.map(|value| f64::from(value) / 255.0))
                .map(|value| (value * 255.0).round() as u8)
        });
        println!("{primaries:?} {transfer:?} would be {ours:?} of ours");
        let shot = format!("{name}-NV12-{primaries:?}-{transfer:?}");
        let seen = client.colours_within(&shot, ours, A_LOOK);
        // The curve of SDR is the screen's own: greys pass unchanged.
        let grey = seen[3].map(|value| value.abs_diff(128) <= 3);
        assert!(transfer != Transfer::Sdr || grey == [true; 3], "{seen:?}");
        let target = client.picture(DrmFourcc::Xbgr8888, QUARTERS, srgb);
        client.show(&target, None);
        let seen = client.colours(&format!("{name}-after-{primaries:?}-{transfer:?}"), QUARTERS);
        assert!(near(seen, QUARTERS), "after {primaries:?} {transfer:?}: {seen:?}");
    }
    // The surface is destroyed while the compositor holds a buffer.
    let target = client.picture(DrmFourcc::Xbgr8888, QUARTERS, srgb);
    client.show(&target, None);
    client.display.desktop().destroy_surface(client.surface);
    assert!(!target.is_used());
    client.turn();
}
