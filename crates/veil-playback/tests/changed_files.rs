//! A file that is changed while it plays: the owner is told, and nothing goes round for nothing.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{H264, clip, folder, open, wait_until};
use veil_playback::{Player, PlayerEvent};

const VP8: &[&str] = &["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"];

/// Has a file changed while it plays, and waits for the end of that. The reason, and what else was told.
fn failure_after(path: &Path, change: impl FnOnce(&File)) -> (String, Vec<PlayerEvent>) {
    let (player, notes) = open(path, true);
    wait_until(&player, "it plays", || notes.shown() > 20);
    change(&File::options().write(true).open(path).unwrap());
    let mut events = Vec::new();
    let mut reason = None;
    wait_until(&player, "the failure is told", || {
        player.dispatch(|event| match event {
            PlayerEvent::Failed { reason: why } => reason = Some(why),
            other => events.push(other),
        });
        reason.is_some()
    });
    assert_nothing_happens(&player);
    (reason.unwrap(), events)
}

fn assert_nothing_happens(player: &Player) {
    let stats = player.stats();
    // No more passes than show that there is no use in it, of the ninety pictures that the clips have.
    assert!(stats.loops <= 4 && stats.fed < 500, "{stats:?}");
    std::thread::sleep(Duration::from_millis(200));
    // What the decoder held may still come out of it.
    assert_eq!(player.stats().fed, stats.fed);
    player.dispatch(|event| panic!("{event:?}"));
}

fn clip_of(folder: &Path, name: &str, codec: &[&str]) -> Option<PathBuf> {
    clip(&folder.join(name), 3.0, codec)
}

/// It shrinks to its first bytes, or to none, whatever reads it: by its index at the end or the beginning, from one
/// picture to the next, or whole into memory.
#[test]
fn a_file_that_is_cut_off_while_it_plays() {
    let folder = folder();
    let first = [H264, &["-movflags", "+faststart"]].concat();
    let clips: [(&str, &[&str]); 7] = [
        ("index-last.mp4", H264),
        ("index-first.mp4", &first),
        ("x.mkv", H264),
        ("x.ts", H264),
        ("x.h264", H264),
        ("x.avi", &["-c:v", "mjpeg"]),
        ("x.ivf", VP8),
    ];
    std::thread::scope(|scope| {
        for (name, codec) in clips {
            let folder = folder.path();
            scope.spawn(move || {
                for size in [5000, 0] {
                    let path = clip_of(folder, name, codec).unwrap();
                    let (reason, others) = failure_after(&path, |file| file.set_len(size).unwrap());
                    assert_eq!(reason, "the file was cut off while it played", "{name}");
                    // Where the cut went through a picture that was still read.
                    assert!(
                        others.is_empty() || others == [PlayerEvent::Damaged],
                        "{name}: {others:?}"
                    );
                }
            });
        }
    });
}

/// The decoder drops every picture, and none of them for being late: that is no reason to go round as fast as it goes.
#[test]
fn pictures_that_became_zeros() {
    let folder = folder();
    let path = clip_of(folder.path(), "x.avi", &["-c:v", "mjpeg"]).unwrap();
    let length = usize::try_from(path.metadata().unwrap().len()).unwrap();
    let (reason, _) = failure_after(&path, |file| {
        file.write_all_at(&vec![0; length - 5000], 5000).unwrap();
    });
    assert_eq!(reason, "no picture can be decoded any more");
}

/// What is left of its pictures has no times, so that they are all due at once.
#[test]
fn pictures_that_lost_their_times() {
    let folder = folder();
    let Some(path) = clip_of(folder.path(), "x.ogv", &["-c:v", "libtheora"]) else {
        return;
    };
    let length = usize::try_from(path.metadata().unwrap().len()).unwrap();
    let (reason, _) = failure_after(&path, |file| {
        file.write_all_at(&vec![0; length - 5000], 5000).unwrap();
    });
    assert_eq!(reason, "no picture can be decoded any more");
}

/// A demuxer that is put in anew for the next pass gives up without a word.
#[test]
fn a_reader_that_says_nothing() {
    let folder = folder();
    let path = clip_of(folder.path(), "x.avi", H264).unwrap();
    let length = usize::try_from(path.metadata().unwrap().len()).unwrap();
    let (reason, _) = failure_after(&path, |file| {
        file.write_all_at(&noise(length - 5000), 5000).unwrap();
    });
    // It depends on where in the noise the demuxer was.
    let reasons = [
        "the file cannot be read again",
        "no picture can be decoded any more",
    ];
    assert!(reasons.contains(&reason.as_str()), "{reason}");
}

fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}
