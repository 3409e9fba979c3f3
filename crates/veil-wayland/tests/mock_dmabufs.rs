//! dmabufs against a mock compositor: what it takes and refuses, buffers and their releases, and what is told of colours.

#![allow(clippy::unwrap_used)]

mod client;
mod pictures;

use client::{
    Client, DEVICE, SIZE, linear, mock, near, picture, picture_of, plain, quarters, rgb, two, with,
};
use drm_fourcc::{DrmFourcc, DrmModifier};
use pictures::{QUARTERS, coding};
use veil_frame::{ChromaSite, Colorimetry, Labels, Matrix, Primaries, Range, Shown, Siting, Transfer};
use veil_testkit::mock::{Global, MockDmabuf, MockOutput, MockTranche, Releases};
use veil_wayland::{BufferError, Event, Placed, SurfaceError, SurfaceId};

#[test]
fn only_what_tranches_name_is_taken_the_best_first() {
    let scanout = MockTranche {
        device: 0xe200,
        scanout: true,
        formats: vec![
            with(DrmFourcc::Nv12, 0x0100_0000_0000_0002),
            with(DrmFourcc::Nv12, DrmModifier::Invalid.into()),
        ],
    };
    let mut dmabuf = two().before(scanout);
    // It is in the main tranche, too.
    dmabuf.tranches[1]
        .formats
        .push(with(DrmFourcc::Nv12, 0x0100_0000_0000_0002));
    dmabuf.table_only = vec![linear(DrmFourcc::Xrgb8888), linear(DrmFourcc::P010)];
    for version in [4, 5] {
        let mut client = Client::new(mock(dmabuf.clone()).version(Global::LinuxDmabuf, version));
        client.turn();
        assert_eq!(
            client.taken(),
            [
                (DrmFourcc::Nv12, 0x0100_0000_0000_0002),
                (DrmFourcc::Xbgr8888, 0),
                (DrmFourcc::Nv12, 0)
            ]
        );
        let support = client.display.desktop_ref().dmabuf_support(client.first());
        assert_eq!(support.unwrap().device, Some(DEVICE));
        client.end();
    }
}

#[test]
fn before_feedback_pairs_are_told_once() {
    let mut dmabuf = two();
    dmabuf.tranches[0]
        .formats
        .insert(0, with(DrmFourcc::Nv12, DrmModifier::Invalid.into()));
    let client = Client::new(mock(dmabuf).version(Global::LinuxDmabuf, 3));
    assert_eq!(client.taken(), [(DrmFourcc::Xbgr8888, 0), (DrmFourcc::Nv12, 0)]);
    let support = client.display.desktop_ref().dmabuf_support(client.first());
    assert_eq!(support.unwrap().device, None);
    client.end();
}

#[test]
fn without_the_protocol_nothing_is_taken() {
    let mut client = Client::new(mock(two()).without(Global::LinuxDmabuf));
    let support = client.display.desktop_ref().dmabuf_support(client.first());
    assert_eq!(support, None);
    let first = client.first();
    let shown = client.try_show(first, &picture(linear(DrmFourcc::Xbgr8888)), 1, None);
    assert!(matches!(shown, Err(SurfaceError::Buffer(_))), "{shown:?}");
    client.end();
}

#[test]
fn a_surface_takes_what_is_its_own_and_until_then_what_all_take() {
    let mut client = Client::new(mock(MockDmabuf {
        silent: true,
        ..two()
    }));
    client.turn();
    assert_eq!(client.taken(), [(DrmFourcc::Xbgr8888, 0), (DrmFourcc::Nv12, 0)]);
    let part = client.mock.parts("DP-1")[0].id;
    let changed = Event::SupportChanged(client.first());
    for (dmabuf, expected) in [
        (rgb(), vec![(DrmFourcc::Xbgr8888, 0)]),
        (MockDmabuf::new(DEVICE, []), vec![]),
        (two(), vec![(DrmFourcc::Xbgr8888, 0), (DrmFourcc::Nv12, 0)]),
    ] {
        client.events.clear();
        client.mock.set_surface_dmabuf(part, dmabuf.clone());
        client.until("the change", |client| client.events.contains(&changed));
        assert_eq!(client.taken(), expected);
        // The same again is no change.
        client.events.clear();
        client.mock.set_surface_dmabuf(part, dmabuf);
        client.turn();
        assert!(!client.events.contains(&changed));
    }
    client.end();
}

#[test]
fn what_is_not_listed_is_never_sent() {
    let mut client = Client::new(mock(two()));
    let first = client.first();
    for format in [linear(DrmFourcc::Xrgb8888), with(DrmFourcc::Nv12, 7)] {
        let shown = client.try_show(first, &picture(format), 1, None);
        assert!(
            matches!(shown, Err(SurfaceError::Buffer(BufferError::NotTaken(of))) if of == format),
            "{shown:?}"
        );
    }
    // Nor what was shown before and is not taken any more.
    let target = picture(linear(DrmFourcc::Nv12));
    client.show(&target, 2);
    client.until_shown(2);
    let asked = client.mock.created().len();
    client.mock.set_dmabuf(rgb());
    client.until("the change", |client| client.taken().len() == 1);
    assert!(client.try_show(first, &target, 3, None).is_err());
    assert_eq!(client.mock.created().len(), asked);
    client.end();
}

#[test]
fn what_the_compositor_refuses_is_not_tried_again() {
    let nv12 = linear(DrmFourcc::Nv12);
    let mut client = Client::new(mock(MockDmabuf {
        refused: vec![nv12],
        ..two()
    }));
    let first = client.first();
    let target = picture(nv12);
    assert_eq!(client.show(&target, 1), Placed::Held);
    client.until("the refusal", |client| {
        let rejected = |event: &Event| matches!(event, Event::BufferRejected { surface, format } if *surface == first && *format == nv12);
        client.events.iter().any(rejected)
    });
    assert_eq!(client.became(1), Some(Shown::Never));
    assert!(client.events.contains(&Event::SupportChanged(first)));
    assert!(!target.is_used());
    assert_eq!(client.taken(), [(DrmFourcc::Xbgr8888, 0)]);
    assert!(client.try_show(first, &target, 2, None).is_err());
    // Also not when the compositor lists it anew.
    client.mock.set_dmabuf(MockDmabuf {
        refused: vec![nv12],
        ..MockDmabuf::new(DEVICE, [nv12, linear(DrmFourcc::Xbgr8888)])
    });
    client.turn();
    assert_eq!(client.taken(), [(DrmFourcc::Xbgr8888, 0)]);
    // The next is shown.
    client.show(&picture(linear(DrmFourcc::Xbgr8888)), 3);
    client.until_shown(3);
    assert_eq!(client.mock.created(), ["create", "create"]);
    client.end();
}

#[test]
fn the_newest_picture_waits_for_its_first_buffer() {
    let format = linear(DrmFourcc::Xbgr8888);
    let mut client = Client::new(mock(MockDmabuf {
        by_hand: true,
        ..two()
    }));
    let targets: Vec<_> = (0..3).map(|_| picture(format)).collect();
    for (token, target) in (1..).zip(&targets) {
        assert_eq!(client.show(target, token), Placed::Held);
    }
    assert_eq!(
        (client.became(1), client.became(2)),
        (Some(Shown::Never), Some(Shown::Never))
    );
    assert_eq!(client.became(3), None);
    // Those that will not be shown are free at once.
    assert_eq!(
        targets.iter().map(|t| t.is_used()).collect::<Vec<_>>(),
        [false, false, true]
    );
    client.until("the requests", |client| client.mock.creations() == 3);
    client.mock.answer_creations();
    client.until_shown(3);
    assert_eq!(client.mock.pictures("DP-1"), 1);
    assert!(near(quarters(&client, "DP-1"), QUARTERS));
    // From now on buffers are made without asking, and those that were made are used again.
    client.show(&targets[0], 4);
    client.until_shown(4);
    client.show(&picture(format), 5);
    client.until_shown(5);
    assert_eq!(
        client.mock.created(),
        ["create", "create", "create", "create_immed"]
    );
    client.end();
}

#[test]
fn another_kind_of_picture_does_not_wait() {
    let mut client = Client::new(mock(MockDmabuf {
        by_hand: true,
        ..two()
    }));
    let target = picture(linear(DrmFourcc::Xbgr8888));
    client.show(&target, 1);
    assert_eq!(client.show(&plain(100), 2), Placed::Committed);
    assert_eq!(client.became(1), Some(Shown::Never));
    client.until_shown(2);
    // An answer that comes too late changes nothing.
    client.mock.answer_creations();
    client.turn();
    assert!(near(quarters(&client, "DP-1"), [[100; 3]; 4]));
    assert!(!target.is_used());
    // Nor does one that a surface was cleared before.
    client.show(&picture(linear(DrmFourcc::Nv12)), 3);
    let first = client.first();
    client.display.desktop().clear(first);
    client.turn();
    assert_eq!(client.became(3), Some(Shown::Never));
    client.until("the request", |client| client.mock.creations() == 1);
    client.mock.answer_creations();
    let empty = |client: &Client| client.mock.parts("DP-1")[0].buffer.is_none();
    client.until("nothing", empty);
    client.turn();
    assert!(empty(&client));
    client.end();
}

#[test]
fn a_target_on_two_surfaces_has_a_buffer_for_each() {
    let builder = mock(rgb()).output(MockOutput::new("DP-2", 640, 360));
    let mut client = Client::new(builder.releases(Releases::Never));
    client.until("backgrounds", |client| client.mock.buffers() == 2);
    let (one, two) = (
        picture(linear(DrmFourcc::Xbgr8888)),
        picture(linear(DrmFourcc::Xbgr8888)),
    );
    let surfaces: Vec<SurfaceId> = client.outputs.iter().map(|id| (*id).into()).collect();
    for (token, on) in (1..).zip(&surfaces) {
        client.try_show(*on, &one, token, None).unwrap();
    }
    client.until_shown(1);
    client.until_shown(2);
    assert_eq!(client.mock.buffers(), 4);
    let shows = |output: &str| client.mock.parts(output)[0].memory;
    assert_eq!(shows("DP-1"), shows("DP-2"));
    // It is free when both surfaces have given it back.
    client.try_show(surfaces[0], &two, 3, None).unwrap();
    client.until_shown(3);
    client.mock.release_held();
    client.turn();
    assert!(one.is_used());
    client.try_show(surfaces[1], &two, 4, None).unwrap();
    client.until_shown(4);
    client.turn();
    assert!(one.is_used(), "nobody has released it");
    client.mock.release_held();
    client.until("the release", |_| !one.is_used());
    assert!(two.is_used());
    client.end();
}

#[test]
fn a_surface_may_go_while_it_has_buffers() {
    let mut client = Client::new(mock(MockDmabuf {
        by_hand: true,
        ..two()
    }));
    let (shown, awaited) = (
        picture(linear(DrmFourcc::Xbgr8888)),
        picture(linear(DrmFourcc::Nv12)),
    );
    client.show(&shown, 1);
    client.until("the request", |client| client.mock.creations() == 1);
    client.mock.answer_creations();
    client.until_shown(1);
    client.show(&awaited, 2);
    client.until("the request", |client| client.mock.creations() == 1);
    let output = client.outputs[0];
    client.display.desktop().destroy_surface(output);
    assert!(!shown.is_used() && !awaited.is_used());
    client.turn();
    // Another in its place asks for a buffer of the same target, before the answer to the first comes.
    client.wallpaper(output);
    client.show(&awaited, 3);
    client.until("the request", |client| client.mock.creations() == 2);
    client.mock.answer_creations();
    client.until_shown(3);
    // What nobody has use for was destroyed: the background's and the picture's buffers are left.
    client.until("two buffers", |client| client.mock.buffers() == 2);
    client.end();
}

#[test]
fn colours_of_ycbcr_are_told_and_taken_back() {
    let mut client = Client::new(mock(two()));
    let first = client.first();
    let support = client.display.desktop_ref().dmabuf_support(first).unwrap();
    assert_eq!(support.codings.len(), 6);
    let mut token = 0;
    for (matrix, range) in support.codings {
        for (site, chroma) in [
            ((Siting::Cosited, Siting::Centered), 1),
            ((Siting::Cosited, Siting::Cosited), 3),
        ] {
            let coded = coding(matrix, range);
            let labels = Labels {
                colorimetry: coded,
                site: ChromaSite {
                    horizontal: site.0,
                    vertical: site.1,
                },
            };
            let target = picture_of(linear(DrmFourcc::Nv12), SIZE, QUARTERS, coded);
            token += 1;
            client.try_show(first, &target, token, Some(labels)).unwrap();
            client.until_shown(token);
            let seen = quarters(&client, "DP-1");
            assert!(near(seen, QUARTERS), "{matrix:?} {range:?}: {seen:?}");
            let parts = client.mock.parts("DP-1");
            assert_eq!(parts[0].representation.map(|told| told.chroma), Some(chroma));
        }
        // On the same surface, and then on another.
        token += 1;
        client.show(&plain(100), token);
        client.until_shown(token);
        assert_eq!(client.mock.parts("DP-1")[0].representation, None);
        token += 1;
        client.show(&picture(linear(DrmFourcc::Xbgr8888)), token);
        client.until_shown(token);
        assert!(near(quarters(&client, "DP-1"), QUARTERS));
        assert_eq!(client.mock.parts("DP-1")[0].representation, None);
    }
    // Unlabelled, they are not claimed to be anything.
    client.show(&picture(linear(DrmFourcc::Nv12)), 100);
    client.until_shown(100);
    assert_eq!(client.mock.parts("DP-1")[0].representation, None);
    client.end();
}

#[test]
fn another_number_of_planes_gets_a_new_surface() {
    let mut client = Client::new(mock(two()));
    let mut before = None;
    let formats = [
        DrmFourcc::Xbgr8888,
        DrmFourcc::Xbgr8888,
        DrmFourcc::Nv12,
        DrmFourcc::Xbgr8888,
    ];
    for (token, code) in (1..).zip(formats) {
        client.show(&picture(linear(code)), token);
        client.until_shown(token);
        client.turn();
        let parts = client.mock.parts("DP-1");
        assert_eq!(parts.len(), 1, "{parts:?}");
        assert_eq!(parts[0].input, Some(vec![]));
        assert!(near(quarters(&client, "DP-1"), QUARTERS), "{code}");
        let same = before.replace(parts[0].id) == Some(parts[0].id);
        assert_eq!(same, token == 2, "{token}");
    }
    client.end();
}

#[test]
fn primaries_and_curves_beyond_sdr_are_told_and_taken_back() {
    let mut client = Client::new(mock(two()).with(Global::ColorManagement));
    let first = client.first();
    client.until("image descriptions", |client| {
        let support = client.display.desktop_ref().dmabuf_support(first).unwrap();
        // Not sRGB with PQ, which the compositor has refused.
        support.colours
            == [
                (Primaries::Bt2020, Transfer::Sdr),
                (Primaries::Bt2020, Transfer::Pq),
            ]
    });
    assert!(client.events.contains(&Event::SupportChanged(first)));
    let bt2020 = (Primaries::Bt2020, Transfer::Pq);
    for (token, (primaries, transfer), told) in [
        (1, bt2020, Some((6, 11))),
        (2, bt2020, Some((6, 11))),
        (3, (Primaries::Bt2020, Transfer::Sdr), Some((6, 2))),
        (4, (Primaries::Bt709, Transfer::Sdr), None),
        (5, bt2020, Some((6, 11))),
        // What cannot be told is not told.
        (6, (Primaries::Bt2020, Transfer::Hlg), None),
        (7, bt2020, Some((6, 11))),
    ] {
        let colorimetry = Colorimetry {
            primaries,
            transfer,
            ..coding(Matrix::Bt2020, Range::Limited)
        };
        let site = ChromaSite {
            horizontal: Siting::Cosited,
            vertical: Siting::Cosited,
        };
        let labels = Labels { colorimetry, site };
        let target = picture(linear(DrmFourcc::Nv12));
        client.try_show(first, &target, token, Some(labels)).unwrap();
        client.until_shown(token);
        assert_eq!(client.mock.parts("DP-1")[0].image, told, "{token}");
    }
    client.show(&plain(100), 8);
    client.until_shown(8);
    assert_eq!(client.mock.parts("DP-1")[0].image, None);
    client.end();
}
