//! Which decoder plays, and what stands in the pipeline.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{broken, folder, h264, open, wait_until};
use veil_playback::{Player, PlayerEvent, Settings};

/// All ways to fail in one test, for the element is the process's.
#[test]
fn a_decoder_that_fails_is_replaced_by_the_next() {
    let folder = folder();
    let path = h264(&folder.path().join("x.mp4"), 0.4);
    let (player, _notes) = open(&path, true);
    let usual = player.decoder().clone();
    drop(player);

    let name = broken::NAME;
    broken::register();
    // At its start, and at its first picture.
    for starts in [false, true] {
        broken::STARTS.store(starts, Ordering::Relaxed);
        let (player, notes) = open(&path, true);
        assert_eq!(*player.decoder(), usual);
        assert!(player.elements().iter().all(|element| element != name));
        wait_until(&player, "it looped", || {
            player.stats().loops >= 2 && notes.shown() > 20
        });
    }
    // In mid-stream: the owner is told, once.
    broken::PICTURES.store(15, Ordering::Relaxed);
    let (player, _notes) = open(&path, true);
    assert_eq!(player.decoder().to_string(), format!("{name} (hardware)"));
    let mut events = events_until(&player, |event| {
        matches!(event, PlayerEvent::DecoderFailed { .. })
    });
    std::thread::sleep(Duration::from_millis(200));
    player.dispatch(|event| events.push(event));
    let failure = PlayerEvent::DecoderFailed {
        element: name.to_owned(),
        reason: String::from("Could not decode stream: the device went away"),
    };
    assert_eq!(events, [PlayerEvent::Damaged, failure]);
    drop(player);

    // Not at all: it complains, and goes on.
    broken::GOES_ON.store(true, Ordering::Relaxed);
    let (player, _notes) = open(&path, true);
    let events = events_until(&player, |event| *event == PlayerEvent::Damaged);
    assert_eq!(events, [PlayerEvent::Damaged]);
    let loops = player.stats().loops;
    wait_until(&player, "it looped", || player.stats().loops >= loops + 2);
    player.dispatch(|event| panic!("{event:?}"));
    drop(player);

    let excluded = vec![name.to_owned()];
    let settings = Settings {
        path,
        excluded,
        ..Settings::default()
    };
    assert_eq!(
        *Player::open(settings, common::sink(true).0).unwrap().decoder(),
        usual
    );
}

/// What happens up to and with this.
fn events_until(player: &Player, last: impl Fn(&PlayerEvent) -> bool) -> Vec<PlayerEvent> {
    let mut events = Vec::new();
    wait_until(player, "the event came", || {
        player.dispatch(|event| events.push(event));
        events.iter().any(&last)
    });
    events
}

#[test]
fn nothing_converts_in_the_pipeline() {
    let folder = folder();
    let (player, _notes) = open(&h264(&folder.path().join("x.mkv"), 0.4), true);
    let elements = player.elements();
    for expected in [
        player.decoder().element.as_str(),
        "parsebin",
        "matroskademux",
        "fakesink",
    ] {
        assert!(
            elements.iter().any(|element| element == expected),
            "{expected} in {elements:?}"
        );
    }
    for element in &elements {
        let converts = ["convert", "scale", "wayland", "audio", "aac"]
            .iter()
            .any(|part| element.contains(part));
        assert!(!converts, "{element} in {elements:?}");
    }
}

/// Sound is left alone: no parser and no decoder for it.
#[test]
fn sound_is_not_decoded() {
    let folder = folder();
    let arguments = [&["-f", "lavfi", "-i", "sine=d=1"], common::H264, &["-c:a", "aac"]].concat();
    let path = common::clip(&folder.path().join("x.mp4"), 0.5, &arguments).unwrap();
    let (player, _notes) = open(&path, true);
    let elements = player.elements();
    assert!(
        !elements
            .iter()
            .any(|element| element.contains("aac") || element.contains("audio")),
        "{elements:?}"
    );
}

#[test]
fn the_decoder_is_named_as_in_the_log() {
    let folder = folder();
    let (player, _notes) = open(&h264(&folder.path().join("x.mp4"), 0.4), true);
    let decoder = player.decoder();
    let kind = if decoder.hardware { "hardware" } else { "software" };
    assert_eq!(decoder.to_string(), format!("{} ({kind})", decoder.element));
}

/// A phone's video is stored lying and says so.
#[test]
fn the_orientation_arrives_at_the_sink() {
    let folder = folder();
    let flat = h264(&folder.path().join("flat.mp4"), 0.4);
    let turned = folder.path().join("turned.mp4");
    let input = flat.to_str().unwrap();
    // As ffmpeg up to 5 puts it, and as it does since.
    common::ffmpeg(&turned, &["-display_rotation", "90", "-i", input, "-c", "copy"])
        .or_else(|| {
            common::ffmpeg(
                &turned,
                &["-i", input, "-c", "copy", "-metadata:s:v", "rotate=90"],
            )
        })
        .unwrap();
    let (player, notes) = open(&turned, true);
    wait_until(&player, "the tag came", || {
        notes.saw("rotate-270") || notes.saw("rotate-90")
    });
}
