//! What veil asks of a compositor for its surfaces, and what it makes of the answers: by a mock compositor.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use veil_testkit::mock::{Configures, Global, Mock, MockBuilder, MockOutput, Stage};
use veil_testkit::{Daemon, GENEROUS, clips, veil_bin, wait_until};

const OUTPUT: &str = "DP-1";
const NO_ARGUMENTS: [&str; 0] = [];

/// A picture and a clip of it.
fn both() -> Result<[PathBuf; 2]> {
    Ok([clips::quadrants(640, 360)?, clips::quadrants_video(640, 360)?])
}

fn one(output: MockOutput) -> MockBuilder {
    Mock::builder().output(output)
}

fn plain() -> MockOutput {
    MockOutput::new(OUTPUT, 640, 360)
}

fn showing(mock: &Mock, name: &str) -> Result<()> {
    mock.wait_for_picture(OUTPUT, name, |shot| clips::is_quadrants(shot, shot.all(), 6))
        .map(drop)
}

fn stands(stage: &mut Stage) -> Result<()> {
    assert_eq!(stage.mock.complaints(), Vec::<String>::new());
    stage.daemon.check_alive()
}

#[test]
fn one_layer_surface_an_output_that_takes_no_input() {
    for file in both().unwrap() {
        let mut stage = Stage::start(one(plain()), ["--input".as_ref(), file.as_os_str()]).unwrap();
        showing(&stage.mock, "surfaces").unwrap();
        let layers = stage.mock.layers(OUTPUT);
        assert_eq!(layers.len(), 1);
        let (surface, layer) = &layers[0];
        assert_eq!(layer.namespace, "veil-wallpaper");
        assert_eq!(
            (
                layer.layer,
                layer.anchor,
                layer.exclusive_zone,
                layer.keyboard,
                layer.size
            ),
            (0, 15, -1, 0, (0, 0))
        );
        let parts = stage.mock.parts(OUTPUT);
        assert_eq!(parts.len(), 1);
        // Clicks go to what is below: an empty region, not none, which would be everywhere.
        assert_eq!(surface.input, Some(Vec::new()));
        assert_eq!(parts[0].input, Some(Vec::new()));
        assert_eq!(
            (parts[0].buffer, parts[0].destination, parts[0].source),
            (Some((640, 360)), Some((640, 360)), None)
        );
        let commits = stage.mock.commits();
        let first = commits
            .iter()
            .find(|commit| commit.surface == surface.id)
            .unwrap();
        assert_eq!(
            first.attached, None,
            "nothing with a pixel before the size is known"
        );
        // Every picture says that all of it is new.
        for commit in commits.iter().filter(|commit| commit.surface == parts[0].id) {
            if commit.attached.flatten().is_some() {
                assert_eq!(commit.damage, [(0, 0, 640, 360)]);
            }
        }
        stands(&mut stage).unwrap();
    }
}

#[test]
fn a_compositor_may_leave_the_size_to_veil() {
    for file in both().unwrap() {
        for (scale, logical) in [(1.0, (640, 360)), (2.0, (320, 180)), (1.5, (426, 240))] {
            let output = plain().scale(scale).configures(Configures::WithZero);
            let mut stage = Stage::start(one(output), ["--input".as_ref(), file.as_os_str()]).unwrap();
            showing(&stage.mock, &format!("zero-{scale}")).unwrap();
            let layer = stage.mock.layers(OUTPUT).remove(0).0;
            assert_eq!(layer.destination, Some(logical), "at scale {scale}");
            assert_eq!(
                stage.mock.parts(OUTPUT)[0].buffer,
                Some((640, 360)),
                "at scale {scale}"
            );
            stands(&mut stage).unwrap();
        }
    }
}

#[test]
fn nothing_is_shown_before_a_late_configure() {
    for file in both().unwrap() {
        let output = plain().configures(Configures::ByHand);
        let mut stage = Stage::start(one(output), NO_ARGUMENTS).unwrap();
        // Whoever sets a wallpaper meanwhile hears that it is on no screen yet.
        let ran = stage.daemon.set([&file]).unwrap().ok().unwrap();
        assert!(!ran.stdout.is_empty(), "{ran:?}");
        let pixels = |mock: &Mock| {
            let commits = mock.commits();
            commits
                .iter()
                .filter(|commit| matches!(commit.attached, Some(Some(_))))
                .count()
        };
        assert_eq!(pixels(&stage.mock), 0);
        stage.mock.configure(OUTPUT, 640, 360);
        showing(&stage.mock, "late").unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn of_many_configures_the_last_counts() {
    for file in both().unwrap() {
        let mut stage = Stage::start(one(plain()), ["--input".as_ref(), file.as_os_str()]).unwrap();
        showing(&stage.mock, "before-the-burst").unwrap();
        for size in 1..300 {
            stage.mock.configure(OUTPUT, size, 301 - size);
        }
        stage.mock.configure(OUTPUT, 0, 0);
        stage.mock.configure(OUTPUT, 640, 360);
        wait_until("the last size", GENEROUS, || {
            stage.mock.layers(OUTPUT)[0].0.destination == Some((640, 360))
                && stage.mock.parts(OUTPUT)[0].destination == Some((640, 360))
        })
        .unwrap();
        showing(&stage.mock, "after-the-burst").unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn a_closed_surface_is_made_again() {
    for file in both().unwrap() {
        let mut stage = Stage::start(one(plain()), ["--input".as_ref(), file.as_os_str()]).unwrap();
        for _ in 0..5 {
            showing(&stage.mock, "before-it-is-closed").unwrap();
            let closed = stage.mock.layers(OUTPUT)[0].0.id;
            stage.mock.close(OUTPUT);
            wait_until("another surface", GENEROUS, || {
                let layers = stage.mock.layers(OUTPUT);
                layers.len() == 1 && layers[0].0.id != closed
            })
            .unwrap();
        }
        showing(&stage.mock, "closed").unwrap();
        // The closed ones are gone, with all that belonged to them.
        assert_eq!(stage.mock.surfaces().len(), 2);
        stands(&mut stage).unwrap();
    }
}

#[test]
fn a_compositor_that_always_closes_is_left_alone_after_a_while() {
    let file = clips::quadrants(640, 360).unwrap();
    for never in [Configures::ThenClosed, Configures::ByHand] {
        let output = plain().configures(never);
        let mut stage = Stage::start(one(output), ["--input".as_ref(), file.as_os_str()]).unwrap();
        if never == Configures::ByHand {
            // Closed before it ever had a size.
            wait_until("it to give up", GENEROUS, || {
                stage.mock.close(OUTPUT);
                stage.daemon.log().contains("giving up")
            })
            .unwrap();
        }
        stage.daemon.wait_log("giving up", GENEROUS).unwrap();
        let commits = stage.mock.commits().len();
        assert!(commits < 100, "{commits} commits");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(stage.mock.commits().len(), commits);
        stands(&mut stage).unwrap();
        // Another try when the output changes.
        stage
            .mock
            .change(OUTPUT, |output| {
                output.configures = Configures::WithSize;
                output.mode = Some((320, 180));
            })
            .unwrap();
        showing(&stage.mock, "no-longer-closed").unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn what_is_not_needed_may_be_missing() {
    for file in both().unwrap() {
        for global in [
            Global::Presentation,
            Global::SinglePixel,
            Global::FractionalScale,
            Global::XdgOutput,
            Global::WmBase,
        ] {
            let mock = one(plain()).without(global);
            let mut stage = Stage::start(mock, NO_ARGUMENTS).unwrap();
            stage.daemon.set([&file]).unwrap().ok().unwrap();
            showing(&stage.mock, &format!("without-{global:?}")).unwrap();
            stands(&mut stage).unwrap();
        }
    }
}

#[test]
fn what_is_needed_is_named_when_it_is_missing() {
    for (global, name) in [
        (Global::Compositor, "wl_compositor"),
        (Global::Subcompositor, "wl_subcompositor"),
        (Global::Shm, "wl_shm"),
        (Global::Viewporter, "wp_viewporter"),
        (Global::LayerShell, "zwlr_layer_shell_v1"),
    ] {
        let mock = one(plain()).without(global).start().unwrap();
        let mut command = mock.session().command(veil_bin(None).unwrap());
        command.arg("daemon");
        let mut daemon = Daemon::spawn(mock.session(), &command).unwrap();
        let status = daemon.wait_exit(GENEROUS).unwrap();
        assert_eq!(status.code(), Some(1));
        assert!(daemon.log().contains(name), "{name}: {}", daemon.log());
        assert!(mock.surfaces().is_empty());
    }
}

#[test]
fn globals_may_come_and_go_while_it_plays() {
    let file = clips::quadrants_video(640, 360).unwrap();
    let mut stage = Stage::start(one(plain()), ["--input".as_ref(), file.as_os_str()]).unwrap();
    showing(&stage.mock, "before-globals-go").unwrap();
    for global in Global::ALL {
        stage.mock.withdraw(*global);
    }
    stage.mock.wait_pictures(OUTPUT, 5).unwrap();
    for global in Global::ALL {
        stage.mock.offer(*global);
        stage.mock.offer(*global);
    }
    stage.mock.wait_pictures(OUTPUT, 5).unwrap();
    stands(&mut stage).unwrap();
}

#[test]
fn an_output_may_have_no_mode() {
    for file in both().unwrap() {
        for scale in [1.0, 1.5, 2.0] {
            let mut output = plain().scale(scale);
            output.mode = None;
            let pixels = output.pixels();
            let mut stage = Stage::start(one(output), ["--input".as_ref(), file.as_os_str()]).unwrap();
            showing(&stage.mock, &format!("no-mode-{scale}")).unwrap();
            // Nothing but whole scales is known then, so it may be drawn too large; never too small.
            let size = stage.daemon.output(OUTPUT).unwrap()["size"].clone();
            let width = size[0].as_u64().unwrap() as u32;
            if scale == 1.5 {
                assert!(width >= pixels.0, "{size}");
            } else {
                assert_eq!(size, serde_json::json!([pixels.0, pixels.1]), "at scale {scale}");
            }
            stands(&mut stage).unwrap();
        }
    }
}
