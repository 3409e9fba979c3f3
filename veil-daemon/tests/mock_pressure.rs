//! Compositors that present nothing, release nothing, read nothing, or end: by a mock.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use veil_testkit::mock::{Mock, MockOutput, Pace, Releases, Stage};
use veil_testkit::{Daemon, GENEROUS, Signal, clips, veil_bin, wait_until};

const OUTPUT: &str = "DP-1";
/// The daemon's exit status where the compositor has gone (docs/usage.md).
const COMPOSITOR_GONE: i32 = 75;
const FPS: u32 = 30;
/// How many targets a stream may have: see docs/design.md, How a frame travels.
const TARGETS: usize = 4;
/// The background's pixel, and the one before it.
const BACKGROUND: usize = 2;

fn clip() -> Result<PathBuf> {
    clips::moving(320, 180, FPS, 2.0)
}

fn playing() -> Result<Stage> {
    let mock = Mock::builder().output(MockOutput::new(OUTPUT, 320, 180));
    let mut stage = Stage::start(mock, ["--input".as_ref(), clip()?.as_os_str()])?;
    stage.daemon.wait_frames(OUTPUT, 15)?;
    Ok(stage)
}

fn pace(stage: &Stage, pace: Pace) -> Result<()> {
    stage.mock.change(OUTPUT, |output| output.pace = pace)
}

fn stands(stage: &mut Stage) -> Result<()> {
    assert_eq!(stage.mock.complaints(), Vec::<String>::new());
    stage.daemon.check_alive()
}

/// What the daemon uses in some seconds in which nobody asks it anything: wake-ups of the loop, those of all threads, and
/// the KiB that its own memory grows by.
fn used(stage: &Stage, seconds: u64) -> Result<(u64, u64, u64)> {
    let process = stage.daemon.process();
    let now = || -> Result<(u64, u64, u64)> {
        let switches = process.main_thread()?.voluntary_switches;
        Ok((switches, process.voluntary_switches()?, process.rss_anon_kib()?))
    };
    let before = now()?;
    std::thread::sleep(Duration::from_secs(seconds));
    let after = now()?;
    Ok((
        after.0 - before.0,
        after.1 - before.1,
        after.2.saturating_sub(before.2),
    ))
}

#[test]
fn budget_an_output_that_is_off() {
    for (off, releases) in [
        (Pace::ByHand, Releases::AtRefresh),
        (Pace::Discard, Releases::WhenReplaced),
    ] {
        let mut stage = playing().unwrap();
        let (_, on, _) = used(&stage, 2).unwrap();
        stage.mock.set_releases(releases);
        pace(&stage, off).unwrap();
        // It takes a while until it is known that nothing comes any more.
        std::thread::sleep(Duration::from_millis(300));
        let (of_loop, of_all, grown) = used(&stage, 3).unwrap();
        eprintln!(
            "{off:?}, {releases:?}: {of_loop} wake-ups of the loop, {of_all} of all; {on} in 2 s before"
        );
        // No more than for frames that are shown: one a frame, and a few for the clock.
        assert!(of_loop <= 3 * u64::from(FPS) * 11 / 10 + 10, "{of_loop} wake-ups");
        assert!(
            of_all <= on * 3 / 2 * 5 / 4 + 30,
            "{of_all} wake-ups of all threads"
        );
        assert!(grown <= 400, "{grown} KiB more");
        assert!(stage.mock.buffers() <= TARGETS + BACKGROUND);
        // A new wallpaper is taken, and it is said that nobody sees it.
        let ran = stage
            .daemon
            .set([clips::quadrants(320, 180).unwrap()])
            .unwrap()
            .ok()
            .unwrap();
        assert!(!ran.stdout.is_empty(), "{ran:?}");
        stage.daemon.set([clip().unwrap()]).unwrap().ok().unwrap();
        stage.mock.set_releases(Releases::AtRefresh);
        pace(&stage, Pace::Clock).unwrap();
        stage.daemon.wait_frames(OUTPUT, 15).unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn frames_count_where_feedback_denies_them() {
    let mut stage = playing().unwrap();
    pace(&stage, Pace::Deny).unwrap();
    stage.daemon.wait_frames(OUTPUT, 60).unwrap();
    stands(&mut stage).unwrap();
    // And from the start.
    let output = MockOutput::new(OUTPUT, 320, 180).pace(Pace::Deny);
    let mut stage = Stage::start(Mock::builder().output(output), [""; 0]).unwrap();
    stage.daemon.set([clip().unwrap()]).unwrap().ok().unwrap();
    stage.daemon.wait_frames(OUTPUT, 60).unwrap();
    stands(&mut stage).unwrap();
}

#[test]
fn buffers_that_are_never_released() {
    let mut stage = playing().unwrap();
    for _ in 0..3 {
        stage.mock.set_releases(Releases::Never);
        // As many as there are targets, then none.
        wait_until("no more pictures", GENEROUS, || {
            let before = stage.mock.pictures(OUTPUT);
            std::thread::sleep(Duration::from_millis(300));
            stage.mock.pictures(OUTPUT) == before
        })
        .unwrap();
        let buffers = stage.mock.buffers();
        assert!(buffers <= TARGETS + BACKGROUND, "{buffers} buffers");
        let dropped = |stage: &Stage| stage.daemon.output(OUTPUT).unwrap()["frames"]["dropped"].as_u64();
        let before = dropped(&stage);
        let (of_loop, _, grown) = used(&stage, 2).unwrap();
        assert!(
            of_loop <= 2 * u64::from(FPS),
            "{of_loop} wake-ups with nothing to show"
        );
        assert!(grown <= 200, "{grown} KiB more");
        assert!(dropped(&stage) > before, "they are counted");
        stage.mock.release_held();
        stage.mock.set_releases(Releases::AtRefresh);
        stage.daemon.wait_frames(OUTPUT, 15).unwrap();
    }
    stands(&mut stage).unwrap();
}

#[test]
fn every_new_wallpaper_leaves_its_buffers_behind() {
    let mut stage = playing().unwrap();
    stage.mock.set_releases(Releases::Never);
    let stills = [
        clips::quadrants(320, 180).unwrap(),
        clips::quadrants(640, 360).unwrap(),
    ];
    let mut held = Vec::new();
    for _ in 0..6 {
        for still in &stills {
            stage.daemon.set([still]).unwrap().ok().unwrap();
        }
        held.push(stage.mock.buffers());
    }
    // The compositor may read them for ever: so they stay. When it gives them back they go.
    stage.mock.set_releases(Releases::AtRefresh);
    stage.mock.release_held();
    stage.daemon.set([&stills[0]]).unwrap().ok().unwrap();
    stage.daemon.set([&stills[1]]).unwrap().ok().unwrap();
    wait_until("the buffers' end", GENEROUS, || {
        stage.mock.buffers() <= 2 + BACKGROUND
    })
    .unwrap();
    stands(&mut stage).unwrap();
}

#[test]
fn a_compositor_that_does_not_read() {
    let fast = clips::moving(320, 180, 60, 2.0).unwrap();
    let mut stage = playing().unwrap();
    stage.daemon.set([&fast]).unwrap().ok().unwrap();
    // The mock releases the buffers that it has heard of.
    stage.daemon.wait_frames(OUTPUT, 60).unwrap();
    stage.mock.set_reading(false);
    // Buffers come back all the same, so veil could go on for ever.
    let releases = |seconds: u64| {
        for _ in 0..seconds * 100 {
            stage.mock.release_blindly();
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    // A socket holds some 280 messages of any length.
    releases(12);
    let before = stage.daemon.process().main_thread().unwrap().voluntary_switches;
    releases(3);
    let woken = stage.daemon.process().main_thread().unwrap().voluntary_switches - before;
    // It does not turn in circles, and answers.
    assert!(
        woken <= 3 * 60 * 11 / 10 + 310,
        "{woken} wake-ups, 300 of them for releases"
    );
    stage.daemon.status().unwrap();
    let commits = stage.mock.commits().len();
    // It goes on as if nothing had been.
    stage.mock.set_reading(true);
    stage.daemon.wait_frames(OUTPUT, 1).unwrap();
    let unread = stage.mock.commits().len() - commits;
    eprintln!("{woken} wake-ups of the loop in 3 s; {unread} commits unread");
    assert!(unread < 360, "{unread} commits piled up in 15 s");
    stage.daemon.wait_frames(OUTPUT, 15).unwrap();
    stage.daemon.check_alive().unwrap();
    // And it ends while nobody reads.
    stage.mock.set_reading(false);
    stage.daemon.signal(Signal::TERM).unwrap();
    assert_eq!(stage.daemon.wait_exit(GENEROUS).unwrap().code(), Some(0));
}

#[test]
fn a_compositor_that_does_not_read_from_the_start() {
    let mock = Mock::builder().output(MockOutput::new(OUTPUT, 320, 180));
    let mock = mock.start().unwrap();
    mock.set_reading(false);
    let mut command = mock.session().command(veil_bin(None).unwrap());
    command.arg("daemon");
    let mut daemon = Daemon::spawn(mock.session(), &command).unwrap();
    let lock = mock.session().runtime_dir().join("veil");
    wait_until("it to begin", GENEROUS, || lock.exists()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    daemon.check_alive().unwrap();
    daemon.signal(Signal::TERM).unwrap();
    daemon.wait_exit(GENEROUS).unwrap();
    assert!(!lock.join("wayland-mock.sock").exists());
    // The next one is not kept out by it.
    mock.set_reading(true);
    let mut stage = Stage::on(mock, ["--input".as_ref(), clip().unwrap().as_os_str()]).unwrap();
    stage.daemon.wait_frames(OUTPUT, 5).unwrap();
}

#[test]
fn a_compositor_that_ends() {
    let still = clips::quadrants(320, 180).unwrap();
    for (file, error) in [
        (None, false),
        (Some(still.clone()), false),
        (Some(clip().unwrap()), false),
        (Some(clip().unwrap()), true),
        (Some(still), true),
    ] {
        let mock = Mock::builder().output(MockOutput::new(OUTPUT, 320, 180));
        let mut stage = Stage::start(mock, [""; 0]).unwrap();
        if let Some(file) = &file {
            stage.daemon.set([file]).unwrap().ok().unwrap();
        }
        if error {
            stage.mock.fail("a test's error");
        } else {
            stage.mock.disconnect();
        }
        let status = stage.daemon.wait_exit(GENEROUS).unwrap();
        let log = stage.daemon.log();
        assert_eq!(
            status.code(),
            Some(if error { 1 } else { COMPOSITOR_GONE }),
            "{log}"
        );
        let last = log.lines().last().unwrap_or_default();
        let says = if error { "a test's error" } else { "compositor" };
        assert!(last.contains(says), "{log}");
        let socket = stage.mock.session().runtime_dir().join("veil/wayland-mock.sock");
        assert!(!socket.exists());
    }
}

#[test]
fn a_compositor_that_ends_while_somebody_waits() {
    let mut stage = playing().unwrap();
    pace(&stage, Pace::ByHand).unwrap();
    let ran = std::thread::scope(|scope| {
        let before = stage.mock.commits().len();
        let client = scope.spawn(|| stage.daemon.set([clips::quadrants(320, 180)?]));
        wait_until("the commit", GENEROUS, || stage.mock.commits().len() > before + 1).unwrap();
        stage.mock.disconnect();
        client.join().unwrap().unwrap()
    });
    assert_ne!(ran.code(), 0, "{ran:?}");
    assert!(!ran.stderr.is_empty());
    assert_eq!(
        stage.daemon.wait_exit(GENEROUS).unwrap().code(),
        Some(COMPOSITOR_GONE)
    );
}

#[test]
fn frame_callbacks_that_do_not_come() {
    for fps in [30, 60] {
        let mock = Mock::builder().output(MockOutput::new(OUTPUT, 320, 180).pace(Pace::Silent));
        let clip = clips::moving(320, 180, fps, 2.0).unwrap();
        let mut stage = Stage::start(mock, ["--input".as_ref(), clip.as_os_str()]).unwrap();
        stage.daemon.wait_frames(OUTPUT, 60).unwrap();
        // They come late, all at once.
        pace(&stage, Pace::Clock).unwrap();
        stage.daemon.wait_frames(OUTPUT, 30).unwrap();
        pace(&stage, Pace::Silent).unwrap();
        stage.daemon.wait_frames(OUTPUT, 60).unwrap();
        stands(&mut stage).unwrap();
    }
}

#[test]
fn an_output_goes_off_and_on_again() {
    let mut stage = playing().unwrap();
    for round in 0..30 {
        pace(
            &stage,
            if round % 2 == 0 {
                Pace::ByHand
            } else {
                Pace::Discard
            },
        )
        .unwrap();
        std::thread::sleep(Duration::from_millis(round * 13 % 200));
        pace(&stage, Pace::Clock).unwrap();
        stage.daemon.wait_frames(OUTPUT, 2).unwrap();
    }
    assert!(stage.mock.buffers() <= TARGETS + BACKGROUND);
    stands(&mut stage).unwrap();
}

#[test]
fn budget_a_still_wakes_nobody() {
    let still = clips::quadrants(320, 180).unwrap();
    let outputs = ["DP-1", "DP-2", "DP-3"].map(|name| MockOutput::new(name, 320, 180));
    let mock = outputs
        .iter()
        .fold(Mock::builder(), |mock, output| mock.output(output.clone()));
    let mut stage = Stage::start(mock, ["--input".as_ref(), still.as_os_str()]).unwrap();
    let shows = |stage: &Stage, output: &str| {
        stage
            .mock
            .wait_for_picture(output, "a still", |shot| clips::is_quadrants(shot, shot.all(), 6))
            .unwrap();
    };
    for round in ["from the start", "after a close", "after a plug", "after a turn"] {
        match round {
            "after a close" => stage.mock.close("DP-2"),
            "after a plug" => {
                stage.mock.unplug("DP-3").unwrap();
                stage.mock.plug(outputs[2].clone());
            }
            "after a turn" => stage.mock.change("DP-1", |output| output.transform = 1).unwrap(),
            _ => {}
        }
        for output in ["DP-1", "DP-2", "DP-3"] {
            shows(&stage, output);
        }
        let process = stage.daemon.process();
        wait_until("rest", GENEROUS, || {
            let before = process.voluntary_switches().ok();
            std::thread::sleep(Duration::from_millis(500));
            process.threads().is_ok_and(|threads| threads.len() == 1)
                && process.voluntary_switches().ok() == before
        })
        .unwrap();
        let before = (process.run_time().unwrap(), process.voluntary_switches().unwrap());
        let commits = stage.mock.commits().len();
        std::thread::sleep(Duration::from_secs(5));
        let after = (process.run_time().unwrap(), process.voluntary_switches().unwrap());
        assert_eq!(before, after, "{round}: time on a CPU, and wake-ups");
        assert_eq!(stage.mock.commits().len(), commits);
        // A picture and a background each, and nothing of those before.
        assert!(stage.mock.buffers() <= 3 * (1 + BACKGROUND), "{round}");
    }
    stands(&mut stage).unwrap();
}
