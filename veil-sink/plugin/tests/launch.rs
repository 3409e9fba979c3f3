//! `gst-launch-1.0 … ! veilsink`: windows, wallpapers, and what it says when it cannot.

mod common;

use anyhow::{Context, Result, ensure};
use common::{Launch, gst};
use veil_testkit::{GENEROUS, Group, Ran, Shot, Sway, Weston, clips};

/// White, yellow, cyan, green, magenta, red, blue: the upper two thirds of videotestsrc's picture, in RGB.
const BARS: [[u8; 3]; 7] = [
    [255, 255, 255],
    [255, 255, 0],
    [0, 255, 255],
    [0, 255, 0],
    [255, 0, 255],
    [255, 0, 0],
    [0, 0, 255],
];

/// Whether the bars are in a rectangle (x, y, width, height), from edge to edge.
fn bars_in(shot: &Shot, (x, y, w, h): (u32, u32, u32, u32)) -> bool {
    BARS.iter().enumerate().all(|(bar, &colour)| {
        let middle = x + w * (2 * bar as u32 + 1) / 14;
        shot.is_near(middle, y + 1, colour, 3) && shot.is_near(middle, y + h / 2, colour, 3)
    }) && shot.is_near(x, y + 1, BARS[0], 3)
        && shot.is_near(x + w - 1, y + 1, BARS[6], 3)
}

fn window(sway: &Sway) -> Result<(u32, u32, u32, u32)> {
    fn find(node: &serde_json::Value) -> Option<(u32, u32, u32, u32)> {
        if node["app_id"].is_string() {
            let (at, inner) = (&node["rect"], &node["window_rect"]);
            let number = |value: &serde_json::Value| value.as_u64().map(|n| n as u32);
            return Some((
                number(&at["x"])? + number(&inner["x"])?,
                number(&at["y"])? + number(&inner["y"])?,
                number(&inner["width"])?,
                number(&inner["height"])?,
            ));
        }
        ["nodes", "floating_nodes"]
            .iter()
            .filter_map(|kind| node[*kind].as_array())
            .flatten()
            .find_map(find)
    }
    find(&sway.query("get_tree")?).context("there is no window")
}

fn floating() -> Result<Sway> {
    Sway::builder()
        .output("640x360")
        .config("for_window [app_id=\".*\"] floating enable, border none")
        .start()
}

#[test]
fn a_window_of_the_pictures_own_size() -> Result<()> {
    let sway = floating()?;
    let _launch = Launch::start(
        sway.session(),
        "videotestsrc ! video/x-raw,format=RGBx,width=320,height=180 ! veilsink",
    )?;
    let mut place = None;
    sway.wait_for_picture("HEADLESS-1", "window", GENEROUS, |shot| {
        place = window(&sway).ok();
        place.is_some_and(|place| bars_in(shot, place))
    })?;
    let (_, _, w, h) = place.context("it was found")?;
    ensure!((w, h) == (320, 180), "{w}x{h}");
    Ok(())
}

#[test]
fn a_tiled_window_keeps_the_pictures_shape() -> Result<()> {
    let sway = Sway::builder()
        .output("640x360")
        .config("default_border none")
        .start()?;
    let _launch = Launch::start(
        sway.session(),
        "videotestsrc ! video/x-raw,format=I420,width=360,height=360 ! veil-sink background-color=0x204060",
    )?;
    sway.wait_for_picture("HEADLESS-1", "tiled window", GENEROUS, |shot| {
        let beside = [(0, 0), (139, 359), (500, 0), (639, 359)];
        beside
            .iter()
            .all(|&(x, y)| shot.is_near(x, y, [0x20, 0x40, 0x60], 0))
            && shot.is_near(165, 100, BARS[0], 3)
            && shot.is_near(475, 100, BARS[6], 3)
    })?;
    Ok(())
}

#[test]
fn a_wallpaper_on_one_output() -> Result<()> {
    let sway = Sway::builder().output("640x360").output("480x270").start()?;
    let before = sway.screenshot("HEADLESS-1")?;
    let _launch = Launch::start(
        sway.session(),
        "videotestsrc ! veilsink layer=background output=HEADLESS-2 mode=fill",
    )?;
    sway.wait_for_picture("HEADLESS-2", "wallpaper", GENEROUS, |shot| {
        // 320x240 on 480x270: scaled by 1.5, and 45 rows cut off above and below.
        shot.is_near(20, 100, BARS[0], 3) && shot.is_near(460, 1, BARS[6], 3)
    })?;
    ensure!(sway.screenshot("HEADLESS-1")?.max_difference(&before) == 0);
    Ok(())
}

#[test]
fn a_wallpaper_on_every_output_and_on_one_that_comes_later() -> Result<()> {
    let sway = Sway::start("640x360")?;
    let _launch = Launch::start(
        sway.session(),
        "videotestsrc ! veilsink layer=bottom mode=stretch",
    )?;
    let whole = |shot: &Shot| bars_in(shot, (0, 0, shot.size().0, shot.size().1 * 2 / 3));
    sway.wait_for_picture("HEADLESS-1", "first output", GENEROUS, whole)?;
    let late = sway.create_output("300x200")?;
    sway.wait_for_picture(&late, "late output", GENEROUS, whole)?;
    Ok(())
}

/// The background reaches the last row and column, whatever the size: a compositor that draws by pixman steps through
/// it inexactly.
#[test]
fn the_background_covers_the_whole_output() -> Result<()> {
    let sway = Sway::start("1920x1080")?;
    let _launch = Launch::start(
        sway.session(),
        "videotestsrc ! video/x-raw,width=64,height=64 ! veilsink layer=background mode=center background-color=0x204060",
    )?;
    for mode in [
        "1920x1080",
        "1366x768",
        "1080x1920",
        "3840x2160",
        "2560x1440",
        "1367x769",
    ] {
        sway.output("HEADLESS-1").mode(mode)?;
        sway.wait_for_picture("HEADLESS-1", "background", GENEROUS, |shot| {
            let (w, h) = shot.size();
            shot.is_near(w / 2, h / 2, BARS[3], 3)
                && (0..h).all(|y| {
                    [0, w - 1]
                        .iter()
                        .all(|&x| shot.is_near(x, y, [0x20, 0x40, 0x60], 0))
                })
                && (0..w).all(|x| {
                    [0, h - 1]
                        .iter()
                        .all(|&y| shot.is_near(x, y, [0x20, 0x40, 0x60], 0))
                })
        })
        .with_context(|| format!("at {mode}"))?;
    }
    Ok(())
}

#[test]
fn two_sinks_in_one_pipeline() -> Result<()> {
    let sway = floating()?;
    let _launch = Launch::start(
        sway.session(),
        "videotestsrc ! video/x-raw,format=RGBx,width=160,height=90 ! tee name=t t. ! queue ! veilsink \
         t. ! queue ! veilsink layer=background mode=stretch",
    )?;
    sway.wait_for_picture("HEADLESS-1", "two sinks", GENEROUS, |shot| {
        window(&sway).is_ok_and(|place| bars_in(shot, place))
            && shot.is_near(2, 2, BARS[0], 3)
            && shot.is_near(637, 2, BARS[6], 3)
    })?;
    Ok(())
}

#[test]
fn a_closed_window_is_an_error() -> Result<()> {
    let sway = floating()?;
    let mut launch = Launch::start(sway.session(), "videotestsrc ! veilsink")?;
    sway.wait_for_picture("HEADLESS-1", "window to close", GENEROUS, |_| {
        window(&sway).is_ok()
    })?;
    sway.run("[app_id=\".*\"] kill")?;
    let status = launch.group.wait_exit(GENEROUS)?;
    let log = launch.group.log();
    ensure!(
        !status.success() && log.contains("the window was closed"),
        "{status}: {log}"
    );
    Ok(())
}

#[test]
fn a_compositor_that_goes_is_an_error() -> Result<()> {
    for pipeline in [
        "videotestsrc ! veilsink",
        "videotestsrc ! veilsink layer=background",
    ] {
        let mut sway = Sway::start("320x240")?;
        let mut launch = Launch::start(sway.session(), pipeline)?;
        sway.wait_for_picture("HEADLESS-1", "before the end", GENEROUS, |shot| {
            shot.is_near(10, 60, BARS[0], 3)
        })?;
        sway.quit()?;
        let status = launch.group.wait_exit(GENEROUS)?;
        let log = launch.group.log();
        ensure!(
            !status.success() && log.contains("the connection to the compositor is lost"),
            "{status}: {log}"
        );
    }
    Ok(())
}

#[test]
fn what_is_missing_is_named() -> Result<()> {
    let sway = Sway::start("320x240")?;
    let weston = Weston::start()?;
    let source = "videotestsrc num-buffers=1 ! veilsink";
    let cases = [
        (
            sway.session(),
            "output=HEADLESS-9 layer=background",
            "there is no output \"HEADLESS-9\"; there are: HEADLESS-1",
        ),
        (sway.session(), "display=nobody", "no Wayland compositor on "),
        (
            weston.session(),
            "layer=background",
            "does not offer zwlr_layer_shell_v1",
        ),
    ];
    for (session, properties, message) in cases {
        let words = format!("{source} {properties}");
        let ran = Ran::new(gst(session, "gst-launch-1.0")?.args(words.split(' ')))?;
        ensure!(
            ran.code() != 0 && ran.stderr.contains(message),
            "{properties}: {}",
            ran.stderr
        );
        // Said once, and by nobody else.
        ensure!(!ran.stderr.contains("failed to post"), "{}", ran.stderr);
    }
    let mut nowhere = gst(sway.session(), "gst-launch-1.0")?;
    nowhere.env("WAYLAND_DISPLAY", "nobody").args(source.split(' '));
    let ran = Ran::new(&mut nowhere)?;
    ensure!(
        ran.code() != 0 && ran.stderr.contains("is WAYLAND_DISPLAY set"),
        "{}",
        ran.stderr
    );
    Ok(())
}

#[test]
fn a_window_on_weston() -> Result<()> {
    let weston = Weston::start()?;
    let ran = Ran::new(
        gst(weston.session(), "gst-launch-1.0")?.args("videotestsrc num-buffers=30 ! veilsink".split(' ')),
    )?;
    ran.ok()?;
    Ok(())
}

#[test]
fn it_introduces_itself() -> Result<()> {
    let sway = Sway::start("320x240")?;
    let ran = Ran::new(gst(sway.session(), "gst-inspect-1.0")?.arg("veilsink"))?.ok()?;
    for line in [
        "Rank                     none (0)",
        "Klass                    Sink/Video",
        "Name                     veil",
        "Enum \"GstVeilSinkLayer\" Default: 0, \"window\"",
        "frame-stats",
        "changeable in NULL, READY, PAUSED or PLAYING state",
    ] {
        ensure!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    // Nothing picks it by itself.
    let all = Ran::new(gst(sway.session(), "gst-inspect-1.0")?.arg("veil"))?.ok()?;
    ensure!(
        all.stdout.contains("veilsink: ") && all.stdout.contains("veil-sink: "),
        "{}",
        all.stdout
    );
    Ok(())
}

/// GStreamer's own tracer finds nothing that was left behind.
#[test]
fn nothing_leaks() -> Result<()> {
    let sway = Sway::start("320x240")?;
    for properties in ["", " layer=background"] {
        let mut command = gst(sway.session(), "gst-launch-1.0")?;
        let pipeline = format!("videotestsrc num-buffers=20 ! veilsink{properties}");
        command
            .env("GST_TRACERS", "leaks")
            .env("GST_DEBUG", "GST_TRACER:7")
            .env("GST_DEBUG_NO_COLOR", "1")
            .args(pipeline.split(' '));
        let ran = Ran::new(&mut command)?.ok()?;
        let said = |what: &'static str| ran.stderr.lines().filter(move |line| line.contains(what));
        ensure!(
            said("GST_TRACER").count() > 0,
            "the tracer said nothing: {}",
            ran.stderr
        );
        let left: Vec<_> = said("object-alive, ")
            .filter(|line| !line.contains("new format string"))
            .collect();
        ensure!(left.is_empty(), "{left:#?}");
    }
    Ok(())
}

/// Each line of docs/veilsink.md shows something.
#[test]
fn the_lines_of_the_document_work() -> Result<()> {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/veilsink.md"))?;
    let lines: Vec<_> = document
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.contains("gst-launch-1.0 "))
        .collect();
    ensure!(lines.len() == 10, "{lines:#?}");
    let clip = clips::quadrants_video(320, 180)?;
    let picture = clips::quadrants(320, 180)?;
    for line in lines {
        let sway = Sway::builder()
            .output("640x360")
            .config("default_border none")
            .start()?;
        let empty = sway.screenshot("HEADLESS-1")?;
        let line = line
            .replace("/tmp/clip.mp4", &clip.to_string_lossy())
            .replace("/tmp/picture.png", &picture.to_string_lossy())
            .replace("DP-1", "HEADLESS-1");
        let mut command = gst(sway.session(), "sh")?;
        command.args(["-c", &format!("exec env {line}")]);
        let mut group = Group::spawn(&command, &sway.session().folder().join("line.log"))?;
        let shown = sway.wait_for_picture("HEADLESS-1", "a line of the document", GENEROUS, |shot| {
            shot.mean_difference(&empty) > 5.0
        });
        group.check_alive()?;
        shown.with_context(|| format!("{line}: {}", group.log()))?;
    }
    Ok(())
}
