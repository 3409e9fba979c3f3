//! Videos and pictures for tests. Each is made once and kept under `target/test-inputs`.

mod cache;
mod numbered;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use image::RgbImage;

use crate::screenshot::{Rect, Shot};

pub use cache::{folder, make};
pub use numbered::{numbered, read_number};

/// What H.264 clips are made with: quick to make, and decoded by every machine.
const H264: &[&str] = &[
    "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p",
];

/// A file that ffmpeg makes with these arguments, between its general options and the file's name. It is made again
/// only when the arguments change. `name` has the ending that says the container.
pub fn by_ffmpeg(name: &str, arguments: &[&str]) -> Result<PathBuf> {
    make(name, &arguments.join("\n"), |path| {
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg
            .args(["-nostdin", "-hide_banner", "-loglevel", "error", "-y"])
            .args(arguments)
            .arg(path);
        crate::Ran::new(&mut ffmpeg)?.ok().map(drop)
    })
}

/// The files that `scripts/make-inputs` makes, as a folder. What this machine's ffmpeg cannot make is not there.
pub fn inputs() -> Result<PathBuf> {
    let script = crate::repository().join("scripts/make-inputs");
    make("inputs", &std::fs::read_to_string(&script)?, |path| {
        crate::Ran::new(Command::new(&script).arg(path))?.ok().map(drop)
    })
}

/// A clip in which everything moves, with H.264 in MP4.
pub fn moving(width: u32, height: u32, fps: u32, seconds: f64) -> Result<PathBuf> {
    lavfi(
        &format!("moving-{width}x{height}-{fps}-{seconds}.mp4"),
        &format!("testsrc2=s={width}x{height}:r={fps}:d={seconds}"),
        H264,
    )
}

/// A second of one colour at 320x180. As H.264 has no RGB here, allow a difference of 3.
pub fn plain(colour: [u8; 3]) -> Result<PathBuf> {
    let [red, green, blue] = colour;
    let hex = format!("{red:02x}{green:02x}{blue:02x}");
    let source = format!("color=c=0x{hex}:s=320x180:r=25:d=1");
    lavfi(
        &format!("plain-{hex}.mp4"),
        &source,
        &[&["-vf", BT709], H264].concat(),
    )
}

/// The colours' coding written down in the stream, so that nobody has to guess it.
const BT709: &str = "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,\
                     setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv";

/// Two seconds of colour bars (smptehdbars), 1280x720, BT.709 in limited range.
pub fn bars() -> Result<PathBuf> {
    lavfi(
        "bars.mp4",
        "smptehdbars=s=1280x720:r=30:d=2",
        &[&["-vf", BT709], H264].concat(),
    )
}

/// A file of ffmpeg's from one of its own sources.
pub fn lavfi(name: &str, source: &str, arguments: &[&str]) -> Result<PathBuf> {
    by_ffmpeg(name, &[&["-f", "lavfi", "-i", source], arguments].concat())
}

/// A PNG of this size, drawn pixel by pixel. A change of `draw` needs a new `name`.
pub fn picture(name: &str, width: u32, height: u32, draw: impl Fn(u32, u32) -> [u8; 3]) -> Result<PathBuf> {
    make(&format!("{name}-{width}x{height}.png"), "", |path| {
        let image = RgbImage::from_fn(width, height, |x, y| image::Rgb(draw(x, y)));
        Ok(image.save(path)?)
    })
}

/// The corners of [`quadrants`], from the top left in reading order.
pub const QUADRANTS: [[u8; 3]; 4] = [[220, 40, 40], [40, 200, 60], [40, 70, 220], [230, 220, 50]];

/// A PNG of four plain quarters: shows which way up it is, mirrored or not, and what was cut off.
pub fn quadrants(width: u32, height: u32) -> Result<PathBuf> {
    picture("quadrants", width, height, |x, y| {
        QUADRANTS[usize::from(x >= width / 2) + 2 * usize::from(y >= height / 2)]
    })
}

/// The same four quarters as a video: see [`video_of`].
pub fn quadrants_video(width: u32, height: u32) -> Result<PathBuf> {
    video_of(&quadrants(width, height)?, &[])
}

/// A second of a picture as a video. As H.264 has no RGB here, allow a difference of 4; edges are blurred by the
/// chroma's resolution. `filters` are more of ffmpeg's, as `setsar=2`.
pub fn video_of(picture: &Path, filters: &[&str]) -> Result<PathBuf> {
    let mut name = picture
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    for filter in filters {
        name = format!(
            "{name}-{}",
            filter.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
        );
    }
    let filters = [&[BT709], filters].concat().join(",");
    let input = ["-loop", "1", "-framerate", "25", "-t", "1", "-i"];
    let picture = picture.to_string_lossy();
    by_ffmpeg(
        &(name + ".mp4"),
        &[&input[..], &[&picture, "-vf", &filters], H264].concat(),
    )
}

/// Whether the four quarters, upright and whole, lie in this part of a screenshot: asked at the quarters' middles and
/// near the part's corners.
pub fn is_quadrants(shot: &Shot, part: Rect, tolerance: u8) -> bool {
    turned_quadrants(shot, part, tolerance) == Some(0)
}

/// By how many quarter turns against the clock the four quarters in this part of a screenshot are turned.
pub fn turned_quadrants(shot: &Shot, part: Rect, tolerance: u8) -> Option<usize> {
    // Clockwise from the top left; turned against the clock, what was one further comes here.
    let clockwise = [QUADRANTS[0], QUADRANTS[1], QUADRANTS[3], QUADRANTS[2]];
    let Rect { x, y, width, height } = part;
    let near_corner = (width / 16, height / 16);
    let points = |dx: u32, dy: u32| {
        let (right, bottom) = (x + width - 1 - dx, y + height - 1 - dy);
        [
            (x + dx, y + dy),
            (right, y + dy),
            (right, bottom),
            (x + dx, bottom),
        ]
    };
    (0..4).find(|turn| {
        [
            points(width / 4, height / 4),
            points(near_corner.0, near_corner.1),
        ]
        .iter()
        .all(|points| {
            let mut corners = points.iter().enumerate();
            corners.all(|(at, (x, y))| shot.is_near(*x, *y, clockwise[(at + turn) % 4], tolerance))
        })
    })
}

/// A copy of a file under another name, for tests of names.
pub fn copy_as(file: &Path, folder: &Path, name: impl AsRef<std::ffi::OsStr>) -> Result<PathBuf> {
    let path = folder.join(name.as_ref());
    std::fs::copy(file, &path)?;
    Ok(path)
}
