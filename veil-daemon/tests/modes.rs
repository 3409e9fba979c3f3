//! How pictures and videos are fitted to an output, seen on screenshots.

use std::path::{Path, PathBuf};

use veil_testkit::{Desk, Shot, clips};

const WHITE: [u8; 3] = [255, 255, 255];
const BACKGROUND: [u8; 3] = [0x80, 0x00, 0x80];
const NEAR: u8 = 5;
const MODES: [&str; 5] = ["fill", "fit", "stretch", "center", "tile"];

/// Four quarters in a white frame that takes an eighth of each side, so that it is seen what was cut off.
fn framed(width: u32, height: u32) -> anyhow::Result<PathBuf> {
    clips::picture("framed", width, height, |x, y| {
        let in_frame = |at: u32, size: u32| at < size / 8 || at >= size - size / 8;
        if in_frame(x, width) || in_frame(y, height) {
            WHITE
        } else {
            clips::QUADRANTS[usize::from(x >= width / 2) + 2 * usize::from(y >= height / 2)]
        }
    })
}

/// Points and what is there on a 640x360 output.
type Points = Vec<(u32, u32, [u8; 3])>;

/// A framed picture of 320x320, whose frame is 40 wide.
fn square(mode: &str) -> Points {
    let [q0, q1, q2, q3] = clips::QUADRANTS;
    match mode {
        // Twice as large; 140 rows are cut off above and below, and with them the frame there.
        "fill" => vec![
            (40, 180, WHITE),
            (600, 180, WHITE),
            (200, 5, q0),
            (440, 5, q1),
            (200, 354, q2),
            (440, 354, q3),
            (100, 20, q0),
            (540, 340, q3),
        ],
        // 360x360 in the middle, with a frame of 45.
        "fit" => vec![
            (70, 180, BACKGROUND),
            (570, 180, BACKGROUND),
            (135, 5, BACKGROUND),
            (504, 354, BACKGROUND),
            (150, 180, WHITE),
            (490, 180, WHITE),
            (320, 10, WHITE),
            (320, 350, WHITE),
            (240, 100, q0),
            (400, 100, q1),
            (240, 260, q2),
            (400, 260, q3),
        ],
        "stretch" => vec![
            (40, 180, WHITE),
            (600, 180, WHITE),
            (320, 20, WHITE),
            (320, 340, WHITE),
            (100, 60, q0),
            (540, 60, q1),
            (100, 300, q2),
            (540, 300, q3),
        ],
        // From (160, 20) to (480, 340).
        "center" => vec![
            (155, 180, BACKGROUND),
            (485, 180, BACKGROUND),
            (320, 15, BACKGROUND),
            (320, 345, BACKGROUND),
            (165, 180, WHITE),
            (475, 180, WHITE),
            (320, 25, WHITE),
            (320, 335, WHITE),
            (240, 100, q0),
            (400, 100, q1),
            (240, 260, q2),
            (400, 260, q3),
        ],
        // Two beside each other, and the frame of the next two below.
        "tile" => vec![
            (20, 160, WHITE),
            (300, 160, WHITE),
            (340, 160, WHITE),
            (620, 160, WHITE),
            (160, 330, WHITE),
            (480, 355, WHITE),
            (100, 100, q0),
            (220, 100, q1),
            (100, 220, q2),
            (220, 220, q3),
            (420, 100, q0),
            (540, 100, q1),
            (420, 220, q2),
            (540, 220, q3),
        ],
        _ => Vec::new(),
    }
}

/// A framed picture of 1280x480, whose frame is 160 wide and 60 high: larger than the output both ways.
fn large(mode: &str) -> Points {
    let [q0, q1, q2, q3] = clips::QUADRANTS;
    match mode {
        // 960x360: 160 columns are cut off on both sides; the frame above and below is 45 high.
        "fill" => vec![
            (5, 190, q2),
            (5, 170, q0),
            (634, 190, q3),
            (320, 20, WHITE),
            (320, 340, WHITE),
            (160, 90, q0),
            (480, 90, q1),
            (160, 270, q2),
            (480, 270, q3),
        ],
        // 640x240 from row 60; the frame is 80 wide and 30 high.
        "fit" => vec![
            (320, 30, BACKGROUND),
            (320, 330, BACKGROUND),
            (320, 70, WHITE),
            (320, 290, WHITE),
            (40, 180, WHITE),
            (160, 120, q0),
            (480, 120, q1),
            (160, 240, q2),
            (480, 240, q3),
        ],
        "stretch" => vec![
            (40, 180, WHITE),
            (600, 180, WHITE),
            (320, 20, WHITE),
            (320, 340, WHITE),
            (100, 60, q0),
            (540, 60, q1),
            (100, 300, q2),
            (540, 300, q3),
        ],
        // From (320, 60) of the picture on: the frame is just not seen.
        "center" => vec![
            (5, 5, q0),
            (634, 5, q1),
            (5, 354, q2),
            (634, 354, q3),
            (312, 172, q0),
            (328, 172, q1),
            (312, 188, q2),
            (328, 188, q3),
        ],
        "tile" => vec![
            (80, 180, WHITE),
            (320, 30, WHITE),
            (180, 80, q0),
            (620, 80, q0),
            (180, 230, q0),
            (180, 250, q2),
            (630, 350, q2),
        ],
        _ => Vec::new(),
    }
}

fn agrees(shot: &Shot, points: &[(u32, u32, [u8; 3])]) -> bool {
    shot.size() == (640, 360)
        && points
            .iter()
            .all(|(x, y, colour)| shot.is_near(*x, *y, *colour, NEAR))
}

fn set(desk: &Desk, mode: &str, file: &Path) -> anyhow::Result<()> {
    let ran = desk.set(["--mode".as_ref(), mode.as_ref(), file.as_os_str()])?;
    ran.ok().map(drop)
}

fn every_mode(name: &str, files: &[PathBuf], points: fn(&str) -> Points) -> anyhow::Result<()> {
    let desk = Desk::start("640x360", ["--background", "#800080"])?;
    for file in files {
        let kind = file.extension().unwrap_or_default().to_string_lossy();
        for mode in MODES {
            set(&desk, mode, file)?;
            assert_eq!(desk.first()?["mode"], mode);
            let points = points(mode);
            assert!(!points.is_empty());
            desk.wait_shot(&format!("{name}-{kind}-{mode}"), |shot| agrees(shot, &points))?;
        }
    }
    Ok(())
}

#[test]
fn every_mode_of_what_is_smaller_than_the_output() {
    let picture = framed(320, 320).unwrap();
    let video = clips::video_of(&picture, &[]).unwrap();
    every_mode("small", &[picture, video], square).unwrap();
}

#[test]
fn every_mode_of_what_is_larger_than_the_output() {
    let picture = framed(1280, 480).unwrap();
    let video = clips::video_of(&picture, &[]).unwrap();
    every_mode("large", &[picture, video], large).unwrap();
}

#[test]
fn no_strip_is_left_at_any_edge() {
    let inputs = clips::inputs().unwrap();
    for size in ["1366x768", "799x601", "640x360"] {
        let desk = Desk::start(size, ["--background", "#ff00ff"]).unwrap();
        for name in [
            "1920x1080.mp4",
            "1366x768.mp4",
            "odd1367x769.webm",
            "tiny16.mp4",
            "vertical.mp4",
        ] {
            set(&desk, "fill", &inputs.join(name)).unwrap();
            // Compressed, testsrc2 has no pixel that is the background's; a line of it would be.
            desk.wait_shot(&format!("edges-{size}-{name}"), |shot| {
                let (width, height) = shot.size();
                let is_background = |x: u32, y: u32| shot.is_near(x, y, [255, 0, 255], 8);
                let row = |y: u32| (0..width).filter(|x| is_background(*x, y)).count() < width as usize / 2;
                let column =
                    |x: u32| (0..height).filter(|y| is_background(x, *y)).count() < height as usize / 2;
                row(0) && row(height - 1) && column(0) && column(width - 1)
            })
            .unwrap();
        }
    }
}

#[test]
fn set_without_a_mode_keeps_mode_and_background() {
    let desk = Desk::start("640x360", ["--mode", "fit", "--background", "#800080"]).unwrap();
    let picture = framed(320, 320).unwrap();
    let video = clips::video_of(&picture, &[]).unwrap();
    for file in [&picture, &video] {
        desk.set([file]).unwrap().ok().unwrap();
        let status = desk.first().unwrap();
        assert_eq!(
            (&status["mode"], &status["background"]),
            (&"fit".into(), &"#800080".into())
        );
        desk.wait_shot("kept-fit", |shot| agrees(shot, &square("fit")))
            .unwrap();
    }
    set(&desk, "center", &video).unwrap();
    desk.set([&picture]).unwrap().ok().unwrap();
    desk.wait_shot("kept-center", |shot| agrees(shot, &square("center")))
        .unwrap();
}

#[test]
fn only_the_background_changes() {
    let desk = Desk::start("640x360", ["--mode", "fit"]).unwrap();
    let picture = framed(320, 320).unwrap();
    for file in [&picture, &clips::video_of(&picture, &[]).unwrap()] {
        for (text, colour) in [("#102030", [0x10, 0x20, 0x30]), ("#fedcba", [0xfe, 0xdc, 0xba])] {
            desk.set(["--background".as_ref(), text.as_ref(), file.as_os_str()])
                .unwrap()
                .ok()
                .unwrap();
            desk.wait_shot(&format!("background-{}", &text[1..]), |shot| {
                shot.is_near(70, 180, colour, 0)
                    && shot.is_near(570, 10, colour, 0)
                    && shot.is_near(150, 180, WHITE, NEAR)
            })
            .unwrap();
        }
    }
}
