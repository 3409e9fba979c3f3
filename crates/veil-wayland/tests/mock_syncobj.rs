//! Fences beside the buffer, against a mock compositor: a simulation of the protocol's rules. Memory files stand in for
//! timelines; no driver has seen any of this.

#![allow(clippy::unwrap_used)]

mod client;
mod pictures;

use client::{Client, linear, mock, near, picture, plain, quarters, two};
use drm_fourcc::DrmFourcc;
use pictures::QUARTERS;
use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::FileExt,
    },
    sync::{Arc, Mutex},
    time::Duration,
};
use veil_frame::Target;
use veil_testkit::mock::{Global, MockDmabuf, MockOutput, Releases};
use veil_wayland::{SyncDevice, SyncTimeline, WaylandWatch};

/// What was asked of the timelines: points, and whether with a fence.
#[derive(Clone, Debug, Default)]
struct Simulated(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    timelines: usize,
    signalled: Vec<(u64, bool)>,
    events: Vec<(File, u64, OwnedFd)>,
    fails: bool,
}

#[derive(Debug)]
struct Timeline {
    file: File,
    device: Simulated,
}

fn reached(file: &File) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, 0).unwrap();
    u64::from_ne_bytes(bytes)
}

impl SyncDevice for Simulated {
    fn timeline(&self) -> io::Result<Box<dyn SyncTimeline>> {
        self.0.lock().unwrap().timelines += 1;
        let file = File::from(rustix::fs::memfd_create(
            c"timeline",
            rustix::fs::MemfdFlags::CLOEXEC,
        )?);
        file.set_len(8)?;
        let device = self.clone();
        Ok(Box::new(Timeline { file, device }))
    }
}

impl SyncTimeline for Timeline {
    fn share(&self) -> io::Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned()
    }

    fn signal(&self, point: u64, fence: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let mut told = self.device.0.lock().unwrap();
        if told.fails {
            return Err(io::Error::other("a fault on purpose"));
        }
        told.signalled.push((point, fence.is_some()));
        Ok(())
    }

    fn has_reached(&self, point: u64) -> io::Result<bool> {
        Ok(reached(&self.file) >= point)
    }

    fn notify(&self, point: u64, event: BorrowedFd<'_>) -> io::Result<()> {
        let entry = (self.file.try_clone()?, point, event.try_clone_to_owned()?);
        self.device.0.lock().unwrap().events.push(entry);
        Ok(())
    }
}

impl Simulated {
    /// Tells of the points that were reached, as the kernel would at once.
    fn tell(&self) {
        self.0.lock().unwrap().events.retain(|(file, point, event)| {
            let now = reached(file) >= *point;
            if now {
                rustix::io::write(event, &1u64.to_ne_bytes()).unwrap();
            }
            !now
        });
    }

    fn signalled(&self) -> Vec<(u64, bool)> {
        self.0.lock().unwrap().signalled.clone()
    }
}

fn start(builder: veil_testkit::mock::MockBuilder) -> (Client, Simulated) {
    let mut client = Client::new(builder.with(Global::Syncobj));
    let device = Simulated::default();
    client.display.desktop().use_sync_device(Box::new(device.clone()));
    let support = client.display.desktop_ref().dmabuf_support(client.first());
    assert!(support.unwrap().explicit_sync);
    (client, device)
}

fn rgb() -> Arc<Target> {
    picture(linear(DrmFourcc::Xbgr8888))
}

fn explicit(client: &Client) -> bool {
    client.mock.parts("DP-1")[0].explicit
}

#[test]
fn every_commit_of_a_dmabuf_has_both_points_and_no_other_has() {
    let (mut client, device) = start(mock(two()));
    let targets = [rgb(), rgb(), picture(linear(DrmFourcc::Nv12))];
    targets[1].set_acquire(Some(File::open("/dev/null").unwrap().into()));
    let mut token = 0;
    for round in 0..3 {
        for target in &targets {
            token += 1;
            client.show(target, token);
            client.until_shown(token);
            assert!(explicit(&client));
            assert!(near(quarters(&client, "DP-1"), QUARTERS));
        }
        // Shared memory may not have points.
        token += 1;
        client.show(&plain(100), token);
        client.until_shown(token);
        assert!(!explicit(&client));
        // Nor may nothing.
        let first = client.first();
        client.display.desktop().clear(first);
        client.turn();
        device.tell();
        client.turn();
        assert!(targets.iter().all(|target| !target.is_used()), "round {round}");
    }
    let fences: Vec<bool> = device.signalled().iter().map(|(_, fence)| *fence).collect();
    assert_eq!(
        fences,
        [false, true, false, false, true, false, false, true, false]
    );
    client.end();
}

#[test]
fn a_target_is_free_when_its_release_point_is_reached() {
    let (mut client, device) = start(mock(two()).releases(Releases::Never));
    let (one, two) = (rgb(), rgb());
    client.show(&one, 1);
    client.until_shown(1);
    client.show(&two, 2);
    client.until_shown(2);
    client.turn();
    device.tell();
    client.turn();
    assert!(one.is_used() && two.is_used());
    client.mock.release_held();
    // Nothing is read from the connection for it: one descriptor tells of all.
    client.turn();
    assert!(one.is_used());
    device.tell();
    client.turn();
    assert!(!one.is_used() && two.is_used());
    // The same buffer again: later points of the same timeline.
    for token in 3..7 {
        let target = if token % 2 == 1 { &one } else { &two };
        client.show(target, token);
        client.until_shown(token);
        client.mock.release_held();
        device.tell();
        client.turn();
        assert!(target.is_used());
    }
    let points: Vec<u64> = device.signalled().iter().map(|(point, _)| *point).collect();
    assert_eq!(points, [1, 2, 3, 4, 5, 6]);
    // One of the surface, one of each buffer.
    assert_eq!(device.0.lock().unwrap().timelines, 3);
    client.end();
}

#[test]
fn two_surfaces_release_by_themselves() {
    let builder = mock(two()).output(MockOutput::new("DP-2", 640, 360));
    let (mut client, device) = start(builder.releases(Releases::Never));
    let target = rgb();
    let surfaces: Vec<_> = client.outputs.iter().map(|id| (*id).into()).collect();
    for (token, on) in (1..).zip(&surfaces) {
        client.try_show(*on, &target, token, None).unwrap();
        client.until_shown(token);
    }
    for (token, on) in (3..).zip(&surfaces) {
        assert!(target.is_used());
        client.try_show(*on, &rgb(), token, None).unwrap();
        client.until_shown(token);
        client.mock.release_held();
        device.tell();
        client.turn();
    }
    assert!(!target.is_used());
    client.end();
}

#[test]
fn what_fails_is_not_used_again() {
    let (mut client, device) = start(mock(two()));
    let (one, two) = (rgb(), rgb());
    client.show(&one, 1);
    client.until_shown(1);
    device.0.lock().unwrap().fails = true;
    client.show(&two, 2);
    client.until_shown(2);
    assert!(!explicit(&client));
    let support = client.display.desktop_ref().dmabuf_support(client.first());
    assert!(!support.unwrap().explicit_sync);
    // What was shown before is released in the way that was agreed; what is shown now by its event.
    device.tell();
    client.until("the release", |_| !one.is_used());
    client.show(&one, 3);
    client.until("the release", |_| !two.is_used());
    assert!(one.is_used());
    client.end();
}

#[test]
fn a_surface_may_go_with_points_in_the_future() {
    let (mut client, device) = start(mock(MockDmabuf {
        by_hand: true,
        ..two()
    }));
    let target = rgb();
    client.show(&target, 1);
    client.until("the request", |client| client.mock.creations() == 1);
    client.mock.answer_creations();
    client.until_shown(1);
    let output = client.outputs[0];
    client.display.desktop().destroy_surface(output);
    assert!(!target.is_used());
    client.turn();
    device.tell();
    client.wallpaper(output);
    client.show(&target, 2);
    client.until_shown(2);
    assert!(explicit(&client));
    client.end();
}

#[test]
fn the_loop_wakes_for_a_release_that_comes_beside_the_connection() {
    let (mut client, device) = start(mock(two()).releases(Releases::Never));
    let (one, two) = (rgb(), rgb());
    let mut event_loop = calloop::EventLoop::<bool>::try_new().unwrap();
    let watch = WaylandWatch::new(&event_loop.handle(), &client.display, |woken: &mut bool| {
        *woken = true
    });
    let _watch = watch.unwrap();
    for (token, target) in [(1, &one), (2, &two)] {
        client.show(target, token);
        client.until_shown(token);
    }
    let mut woken = false;
    let mut turn = |client: &mut Client| {
        woken = false;
        event_loop.dispatch(Some(Duration::ZERO), &mut woken).unwrap();
        client.turn();
        woken
    };
    client.mock.release_held();
    // What the connection still has to say.
    while turn(&mut client) {}
    device.tell();
    assert!(turn(&mut client));
    assert!(!one.is_used());
    assert!(!turn(&mut client), "it is told once");
}
