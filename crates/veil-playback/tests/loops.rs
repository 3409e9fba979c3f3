//! A file goes round without a seam, whatever it is.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{H264, clip, ffmpeg, folder, h264, open, wait_until};

const PERIOD: Duration = Duration::from_nanos(33_333_333);

/// Plays three times round, and looks at the times of all pictures.
fn assert_seamless(path: &Path) {
    let (player, notes) = open(path, true);
    wait_until(&player, "it looped", || player.stats().loops >= 2);
    let shown = notes.shown();
    wait_until(&player, "the loop is shown", || notes.shown() >= shown + 8);
    for (step, at) in notes.steps().into_iter().zip(1..) {
        // Some containers round to milliseconds.
        let off = step.abs_diff(PERIOD);
        assert!(
            off <= Duration::from_micros(1500),
            "{}: picture {at} after {step:?}",
            path.display()
        );
    }
    assert!(
        !notes.saw("FlushStart") && !notes.saw("Eos"),
        "the sink noticed: {notes:?}"
    );
}

fn assert_seamless_as(name: &str, arguments: &[&str]) {
    let folder = folder();
    if let Some(path) = clip(&folder.path().join(name), 0.5, arguments) {
        assert_seamless(&path);
    }
}

/// A test for each kind of file, so that they run side by side and each has a name.
macro_rules! seamless {
    ($($test:ident: $name:literal $arguments:expr;)*) => {
        $(#[test]
        fn $test() {
            assert_seamless_as($name, $arguments);
        })*
    };
}

const SOUND: &[&str] = &["-f", "lavfi", "-i", "sine=d=0.7"];

seamless! {
    h264_in_mp4: "x.mp4" H264;
    h264_in_fragments: "x.mp4" &[H264, &["-movflags", "frag_keyframe+empty_moov"]].concat();
    h264_in_mov: "x.mov" H264;
    h264_in_matroska: "x.mkv" H264;
    h264_in_flash_video: "x.flv" H264;
    h264_in_a_transport_stream: "x.ts" H264;
    h264_in_avi: "x.avi" H264;
    h264_alone: "x.h264" H264;
    h265_in_mp4: "x.mp4" &["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error"];
    vp8: "x.webm" &["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"];
    // Nothing seeks in this: each pass is read anew.
    vp8_in_ivf: "x.ivf" &["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"];
    vp9: "x.webm" &["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"];
    vp9_with_alpha: "x.webm"
        &["-vf", "format=yuva420p", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"];
    av1: "x.mp4" &["-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime"];
    theora: "x.ogv" &["-c:v", "libtheora"];
    motion_jpeg: "x.avi" &["-c:v", "mjpeg"];
    mpeg4: "x.mp4" &["-c:v", "mpeg4"];
    // Its first group of pictures could be open: the decoder starts afresh at each loop.
    mpeg2: "x.ts" &["-c:v", "mpeg2video"];
    windows_media: "x.wmv" &["-c:v", "wmv2"];
    uncompressed: "x.avi" &["-c:v", "rawvideo", "-pix_fmt", "yuv420p"];
    longer_sound_in_mp4: "x.mp4" &[SOUND, H264, &["-c:a", "aac"]].concat();
    longer_sound_in_matroska: "x.mkv" &[SOUND, H264, &["-c:a", "aac"]].concat();
    longer_sound_in_a_transport_stream: "x.ts" &[SOUND, H264, &["-c:a", "aac"]].concat();
}

/// A copy cut out between key frames: an edit list leaves out pictures that are needed to decode the first one. The
/// first key frame is one of an open group of pictures, or one to go on from.
#[test]
fn a_cut_copy() {
    let folder = folder();
    for group in ["keyint=10:open-gop=1:scenecut=0", "keyint=10:scenecut=0"] {
        let codec = [&H264[..2], &["-x264-params", group, "-pix_fmt", "yuv420p"]].concat();
        let whole = clip(&folder.path().join("whole.mp4"), 1.5, &codec).unwrap();
        let cut = ["-ss", "0.8", "-i", whole.to_str().unwrap(), "-c", "copy"];
        assert_seamless(&ffmpeg(&folder.path().join("cut.mp4"), &cut).unwrap());
    }
}

/// Renamed, deleted, replaced by another: the file that was opened plays on.
#[test]
fn the_name_may_go_away() {
    let folder = folder();
    // One is sought in, one is read anew.
    let vp8 = ["-c:v", "libvpx", "-deadline", "realtime"];
    for (name, codec) in [("x.mp4", H264), ("x.ivf", &vp8)] {
        let path = clip(&folder.path().join(name), 0.3, codec).unwrap();
        let (player, notes) = open(&path, true);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "something else").unwrap();
        // Nine pictures a pass.
        wait_until(&player, "it was shown three times", || notes.shown() >= 27);
        drop(player);
    }
}

#[test]
fn nothing_moves_while_paused_and_it_goes_on_from_there() {
    let folder = folder();
    let (player, notes) = open(&h264(&folder.path().join("x.mp4"), 0.4), true);
    wait_until(&player, "it looped", || player.stats().loops >= 1);
    player.pause();
    let (stats, position) = (player.stats(), player.position());
    std::thread::sleep(Duration::from_millis(500));
    let still = player.stats();
    assert!(
        still.fed <= stats.fed + 1 && still.loops <= stats.loops + 1,
        "{stats:?}, later {still:?}"
    );
    assert_eq!(player.position(), position);
    player.play();
    wait_until(&player, "it looped again", || {
        player.stats().loops >= stats.loops + 2
    });
    assert!(
        notes.steps().iter().all(|step| *step < 2 * PERIOD),
        "{:?}",
        notes.steps()
    );
}

/// The decoder is fed ahead, into the next pass; that is none of the owner's business.
#[test]
fn a_loop_counts_when_it_is_shown() {
    let folder = folder();
    let (player, notes) = open(&h264(&folder.path().join("x.mp4"), 0.5), false);
    wait_until(&player, "it looped often", || {
        let loops = player.stats().loops;
        let shown = notes.shown();
        // Fifteen pictures a pass.
        assert!(
            u64::try_from(shown).unwrap() > 15 * loops,
            "{loops} loops, {shown} pictures"
        );
        loops >= 40
    });
}

#[test]
fn positions_are_those_of_the_file() {
    let folder = folder();
    let (player, notes) = open(&h264(&folder.path().join("x.mp4"), 3.0), true);
    player.seek(Duration::from_secs(2)).unwrap();
    assert!(notes.saw("FlushStart"));
    let mut seen = Duration::ZERO;
    wait_until(&player, "the seek is shown", || {
        seen = player.position().unwrap_or_default();
        seen >= Duration::from_secs(2)
    });
    assert!(seen < Duration::from_secs(3));
    wait_until(&player, "it is at the beginning again", || {
        player
            .position()
            .is_some_and(|position| position < Duration::from_secs(1))
    });
    assert_eq!(player.duration(), Some(Duration::from_secs(3)));
}

#[test]
fn it_starts_where_it_is_told() {
    let folder = folder();
    let (sink, notes) = common::sink(true);
    let settings = veil_playback::Settings {
        path: h264(&folder.path().join("x.mp4"), 3.0),
        start_paused: true,
        position: Some(Duration::from_millis(1500)),
        ..Default::default()
    };
    let player = veil_playback::Player::open(settings, sink).unwrap();
    assert_eq!(notes.shown(), 2);
    let position = player.position().unwrap();
    assert!(
        position.abs_diff(Duration::from_millis(1500)) <= PERIOD,
        "{position:?}"
    );
    assert_eq!(player.stats().loops, 0);
}
