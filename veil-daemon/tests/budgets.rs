//! The budgets of docs/design.md that can be counted.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use veil_testkit::{Desk, clips};

#[test]
fn budget_a_still_picture_costs_nothing() -> Result<()> {
    let desk = Desk::start("1920x1080", [""; 0])?;
    desk.set([clips::quadrants(1920, 1080)?])?.ok()?;
    let process = desk.daemon.process();
    veil_testkit::wait_until("the media worker has ended", veil_testkit::GENEROUS, || {
        process.threads().is_ok_and(|threads| threads.len() == 1)
    })?;
    let (ticks, switches) = (process.cpu_ticks()?, process.main_thread()?.voluntary_switches);
    // A count over a minute, not a wait for a condition: that nothing happens.
    sleep(Duration::from_secs(60));
    assert_eq!(process.cpu_ticks()? - ticks, 0, "CPU ticks in a minute");
    assert_eq!(
        process.main_thread()?.voluntary_switches - switches,
        0,
        "wake-ups in a minute"
    );
    assert_eq!(process.threads()?.len(), 1);
    let descriptors = process.descriptors()?;
    assert!(descriptors.len() <= 15, "{descriptors:?}");
    // The budget is for the release build; a development build's own code is several times as large.
    let limit = if cfg!(debug_assertions) { 24 } else { 12 };
    assert!(process.rss_kib()? <= limit * 1024, "{} KiB", process.rss_kib()?);
    assert!(
        process.rss_anon_kib()? <= 4 * 1024,
        "{} KiB",
        process.rss_anon_kib()?
    );
    Ok(())
}

#[test]
fn budget_one_wake_up_a_frame() -> Result<()> {
    for fps in [30, 60] {
        let mut desk = Desk::start("1280x720", [""; 0])?;
        desk.set([clips::moving(640, 360, fps, 2.0)?])?.ok()?;
        desk.wait_frames("HEADLESS-1", 60)?;
        let process = desk.daemon.process();
        let (before, shown) = (
            process.main_thread()?.voluntary_switches,
            desk.daemon.frames_shown("HEADLESS-1")?,
        );
        // Nobody asks for the status meanwhile: each question is a wake-up.
        sleep(Duration::from_secs(8));
        let switches = process.main_thread()?.voluntary_switches - before;
        let frames = desk.daemon.frames_shown("HEADLESS-1")? - shown;
        assert!(frames > 100, "{frames} frames at {fps}/s");
        assert!(
            switches as f64 <= 1.1 * frames as f64 + 4.0,
            "{switches} wake-ups for {frames} frames"
        );
    }
    Ok(())
}

#[test]
fn budget_a_paused_video_decodes_nothing() -> Result<()> {
    let mut desk = Desk::start("1280x720", [""; 0])?;
    desk.set([clips::moving(1280, 720, 60, 2.0)?])?.ok()?;
    desk.wait_frames("HEADLESS-1", 60)?;
    let process = desk.daemon.process();
    let cpu = |process: veil_testkit::Process| -> Result<Duration> {
        let before = process.cpu_time()?;
        sleep(Duration::from_secs(4));
        Ok(process.cpu_time()? - before)
    };
    let playing = cpu(process)?;
    desk.daemon.client(["pause"])?.ok()?;
    let paused = cpu(process)?;
    assert!(paused * 4 <= playing, "paused {paused:?}, playing {playing:?}");
    Ok(())
}

#[test]
fn budget_switches_leave_nothing_behind() -> Result<()> {
    let desk = Desk::start("640x360", [""; 0])?;
    let films = [
        clips::moving(320, 180, 30, 2.0)?,
        clips::moving(640, 360, 30, 2.0)?,
    ];
    let pictures = [clips::quadrants(640, 360)?, clips::quadrants(320, 180)?];
    let process = desk.daemon.process();
    let mut counts = Vec::new();
    for _ in 0..12 {
        for (film, picture) in films.iter().zip(&pictures) {
            desk.set([film])?.ok()?;
            desk.set([picture])?.ok()?;
        }
        veil_testkit::wait_until("the pipelines have ended", veil_testkit::GENEROUS, || {
            process.threads().is_ok_and(|threads| threads.len() <= 2)
        })?;
        counts.push((process.descriptors()?.len(), process.rss_anon_kib()?));
    }
    // What the first rounds load stays; after that the least of each quarter must not rise.
    let least = |part: &[(usize, u64)]| -> Result<(usize, u64)> {
        let fds = part.iter().map(|count| count.0).min().context("empty")?;
        Ok((fds, part.iter().map(|count| count.1).min().context("empty")?))
    };
    let (early, late) = (least(&counts[3..6])?, least(&counts[9..12])?);
    assert!(late.0 <= early.0, "descriptors: {counts:?}");
    // Six rounds of four switches lie between; design.md allows 2 KiB a switch.
    assert!(late.1 <= early.1 + 2 * 6 * 4 + 64, "KiB of heap: {counts:?}");
    Ok(())
}
