//! What is not played says why, in a line.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::path::{Path, PathBuf};

use common::{H264, clip, ffmpeg, folder, h264, open, wait_until};
use veil_playback::{Player, PlayerEvent, Settings};

/// The reason, with the path taken out of it.
fn reason(path: &Path, excluded: &[&str]) -> String {
    let (sink, _notes) = common::sink(true);
    let excluded = excluded.iter().map(|name| String::from(*name)).collect();
    let settings = Settings {
        path: path.to_owned(),
        excluded,
        ..Settings::default()
    };
    let Err(error) = Player::open(settings, sink) else {
        panic!("{} plays", path.display());
    };
    let text = error.to_string();
    assert!(
        !text.contains('\n') && text.contains(&path.display().to_string()),
        "{text}"
    );
    text.replace(&format!("{}: ", path.display()), "")
}

fn written(path: PathBuf, content: &[u8]) -> PathBuf {
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn text_is_no_video() {
    let folder = folder();
    let short = written(folder.path().join("short.mp4"), b"text\n");
    let long = written(
        folder.path().join("long.mp4"),
        "Lorem ipsum dolor\n".repeat(1000).as_bytes(),
    );
    assert_eq!(reason(&short, &[]), "not a picture or video: text/plain");
    assert_eq!(reason(&long, &[]), "not a picture or video: text/plain");
}

#[test]
fn bytes_without_meaning_are_no_video() {
    let folder = folder();
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0] | 0x80
    })
    .take(100_000)
    .collect();
    let path = written(folder.path().join("noise.mp4"), &noise);
    assert_eq!(reason(&path, &[]), "not a picture or video: unknown kind of data");
}

#[test]
fn what_is_no_file_is_not_opened() {
    let folder = folder();
    assert_eq!(reason(folder.path(), &[]), "is a directory");
    assert_eq!(
        reason(Path::new("/dev/zero"), &[]),
        "is a device, not a regular file"
    );
    assert_eq!(reason(&folder.path().join("none"), &[]), "no such file");
    assert_eq!(
        reason(&written(folder.path().join("zero.mp4"), b""), &[]),
        "is empty"
    );
}

#[test]
fn sound_alone_is_no_video() {
    let folder = folder();
    for name in ["x.mp4", "x.mka", "x.ogg", "x.wav", "x.mp3"] {
        if let Some(path) = ffmpeg(&folder.path().join(name), &["-f", "lavfi", "-i", "sine=d=1"]) {
            assert_eq!(reason(&path, &[]), "no video track", "{name}");
        }
    }
}

#[test]
fn a_file_cut_off_before_its_index() {
    let folder = folder();
    let whole = std::fs::read(h264(&folder.path().join("whole.mp4"), 2.0)).unwrap();
    let path = written(folder.path().join("cut.mp4"), &whole[..whole.len() / 3]);
    let reason = reason(&path, &[]);
    assert!(reason.starts_with("damaged or incomplete: "), "{reason}");
}

#[test]
fn pictures_whose_data_does_not_add_up() {
    let folder = folder();
    let path = h264(&folder.path().join("x.mp4"), 2.0);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle..middle + 3000].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let reason = reason(&path, &[]);
    assert!(reason.starts_with("damaged or incomplete: "), "{reason}");
}

#[test]
fn a_codec_without_a_decoder_names_itself_and_its_package() {
    let folder = folder();
    let path = h264(&folder.path().join("x.mp4"), 0.2);
    // Whatever decoders this machine has for it.
    let caps = gstreamer::Caps::builder("video/x-h264").build();
    let decoders = gstreamer::ElementFactory::factories_with_type(
        gstreamer::ElementFactoryType::DECODER,
        gstreamer::Rank::NONE,
    );
    let names: Vec<String> = decoders
        .iter()
        .filter(|factory| factory.can_sink_any_caps(&caps))
        .map(|factory| gstreamer::prelude::GstObjectExt::name(factory).to_string())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(
        reason(&path, &names),
        "no decoder for H.264; install gstreamer1.0-libav (Debian, Ubuntu), gstreamer1-plugin-libav (Fedora), \
         gst-libav (Arch)"
    );
}

/// The bins that decode an alpha layer, too, are none to fall back on: a flush at a bad moment ends the process there.
#[test]
fn no_decoder_for_alpha_is_tried() {
    let folder = folder();
    let codec = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"];
    let alpha = [&["-vf", "format=yuva420p"], &codec[..]].concat();
    for (name, codec) in [("plain.webm", &codec[..]), ("alpha.webm", &alpha)] {
        let Some(path) = clip(&folder.path().join(name), 0.3, codec) else {
            return;
        };
        let decoders = gstreamer::ElementFactory::factories_with_type(
            gstreamer::ElementFactoryType::DECODER,
            gstreamer::Rank::NONE,
        );
        let names: Vec<String> = decoders
            .iter()
            .map(|factory| gstreamer::prelude::GstObjectExt::name(factory).to_string())
            .filter(|name| !name.contains("alpha"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let reason = reason(&path, &names);
        assert!(reason.starts_with("no decoder for VP9; install "), "{reason}");
    }
}

#[test]
fn a_row_of_pictures_without_times() {
    let folder = folder();
    if let Some(path) = clip(&folder.path().join("x.mjpeg"), 0.3, &["-c:v", "mjpeg"]) {
        assert_eq!(reason(&path, &[]), "its pictures have no times");
    }
}

/// The file ends in the middle of a picture: what there is plays, and goes round, and is told once.
#[test]
fn a_file_cut_off_in_a_stream_plays_as_far_as_it_goes() {
    let folder = folder();
    let codec = [H264, &["-movflags", "+faststart"]].concat();
    let whole = clip(&folder.path().join("whole.mp4"), 3.0, &codec).unwrap();
    let bytes = std::fs::read(whole).unwrap();
    let path = written(folder.path().join("cut.mp4"), &bytes[..bytes.len() * 9 / 10]);
    let (player, notes) = open(&path, true);
    let mut events = Vec::new();
    wait_until(&player, "it looped", || {
        player.dispatch(|event| events.push(event));
        player.stats().loops >= 2
    });
    assert!(notes.shown() >= 60);
    assert!(
        events.iter().all(|event| *event == PlayerEvent::Damaged) && events.len() <= 1,
        "{events:?}"
    );
}

/// The same sink serves one refusal after the other, and then a file.
#[test]
fn the_sink_is_free_after_a_refusal() {
    let folder = folder();
    let bad = written(folder.path().join("bad.mp4"), b"text\n");
    let good = h264(&folder.path().join("good.mp4"), 0.3);
    let (sink, notes) = common::sink(true);
    for _ in 0..3 {
        let settings = Settings {
            path: bad.clone(),
            ..Settings::default()
        };
        assert!(Player::open(settings, sink.clone()).is_err());
    }
    let player = Player::open(
        Settings {
            path: good,
            ..Settings::default()
        },
        sink,
    )
    .unwrap();
    wait_until(&player, "it plays", || notes.shown() > 5);
}
