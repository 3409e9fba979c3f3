//! A video of a single picture costs nothing once it is shown.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::os::fd::AsFd;
use std::time::Duration;

use common::{H264, clip, folder, open, wait_until};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use veil_playback::{Player, PlayerEvent};

fn is_readable(player: &Player) -> bool {
    let descriptor = player.as_fd();
    let mut set = [PollFd::new(&descriptor, PollFlags::IN)];
    poll(&mut set, Some(&Timespec::default())).unwrap() == 1
}

/// A decoder that keeps pictures back, and one that does not: the end comes before the first picture, or after.
#[test]
fn one_picture_is_shown_and_nothing_more() {
    let folder = folder();
    for (name, codec) in [("x.mp4", H264), ("x.mov", &["-c:v", "mjpeg"])] {
        let path = clip(
            &folder.path().join(name),
            1.0,
            &[codec, &["-frames:v", "1"]].concat(),
        )
        .unwrap();
        let (player, notes) = open(&path, true);
        let mut events = Vec::new();
        while events.is_empty() {
            let descriptor = player.as_fd();
            let limit = Timespec {
                tv_sec: 60,
                tv_nsec: 0,
            };
            assert_eq!(
                poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&limit)),
                Ok(1),
                "{name}"
            );
            player.dispatch(|event| events.push(event));
        }
        assert_eq!(events, [PlayerEvent::Still], "{name}");
        assert!(player.is_still());
        player.play();
        player.seek(Duration::from_millis(10)).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(
            (notes.shown(), player.stats().loops, player.stats().fed),
            (1, 0, 1),
            "{name}"
        );
        // The flush of that seek may have been told of; nothing else is.
        player.dispatch(|event| assert_eq!(event, PlayerEvent::Still, "{name}"));
        assert!(!is_readable(&player), "{name}: a still has something to say");
    }
}

#[test]
fn a_playing_video_does_not_wake_its_owner() {
    let folder = folder();
    let (player, _notes) = open(&common::h264(&folder.path().join("x.mp4"), 0.3), true);
    wait_until(&player, "it looped", || player.stats().loops >= 1);
    let loops = player.stats().loops;
    wait_until(&player, "it looped again", || player.stats().loops >= loops + 2);
    player.dispatch(|event| panic!("{event:?}"));
    assert!(!is_readable(&player));
    let end = player.stats().loops + 2;
    while player.stats().loops < end {
        assert!(!is_readable(&player));
        std::thread::sleep(Duration::from_millis(5));
    }
}
