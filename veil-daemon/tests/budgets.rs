//! What the daemon may cost: the rows of docs/design.md, Budgets, that can be counted on any machine.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use veil_testkit::{Desk, GENEROUS, Process, Sway, clips, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const GREEN: [u8; 3] = [30, 160, 60];
const BLUE: [u8; 3] = [40, 60, 200];
const OUTPUT: &str = "HEADLESS-1";
const NO_ARGUMENTS: [&str; 0] = [];

/// The budget speaks of 60 seconds; what wakes up at all does so more often than every ten.
const STILL: Duration = Duration::from_secs(10);

/// How often a measurement may be repeated: a neighbour on the machine disturbs one, a fault in veil disturbs all.
const ATTEMPTS: usize = 3;

/// Waits until only the loop is left and everything about the last command is done.
fn settle(desk: &Desk) -> Result<Process> {
    let process = desk.daemon.process();
    let mut last = None;
    let mut same = 0;
    wait_until("the daemon to be at rest", GENEROUS, || {
        let now = process.threads().ok();
        let at_rest = now.as_ref().is_some_and(|threads| threads.len() == 1) && now == last;
        same = if at_rest { same + 1 } else { 0 };
        last = now;
        same > 20
    })?;
    Ok(process)
}

#[test]
fn budget_still_picture() {
    let picture = clips::picture("photo-like", 1920, 1080, |x, y| {
        [(x / 8) as u8, (y / 5) as u8, (x * y) as u8]
    })
    .unwrap();
    let video = clips::moving(640, 360, 30, 2.0).unwrap();
    let desk = Desk::start("1920x1080", ["--input".as_ref(), picture.as_os_str()]).unwrap();
    desk.wait_shot("the-still", |shot| {
        shot.is_near(800, 500, [100, 100, (800u32 * 500) as u8], 1)
    })
    .unwrap();
    for round in ["from the start", "by a client", "after a video"] {
        match round {
            "by a client" => drop(desk.set([&picture]).unwrap().ok().unwrap()),
            "after a video" => {
                desk.set([&video]).unwrap().ok().unwrap();
                desk.set([&picture]).unwrap().ok().unwrap();
            }
            _ => {}
        }
        let process = settle(&desk).unwrap();
        let before = (
            process.cpu_ticks().unwrap(),
            process.voluntary_switches().unwrap(),
        );
        std::thread::sleep(STILL);
        let after = (
            process.cpu_ticks().unwrap(),
            process.voluntary_switches().unwrap(),
        );
        assert_eq!(before, after, "{round}: CPU ticks and wake-ups");
        let threads = process.threads().unwrap();
        assert_eq!(threads.len(), 1, "{round}: {threads:?}");
        let descriptors = process.descriptors().unwrap();
        let program = process.program_kib().unwrap();
        let mut resident = process.rss_kib().unwrap();
        if cfg!(debug_assertions) {
            // A release's own code is 4 MiB; a development build's is more than twice that, and nothing to save.
            resident -= program.saturating_sub(4 * 1024);
        }
        eprintln!(
            "a still {round}: {} descriptors, {resident} KiB resident",
            descriptors.len()
        );
        if round != "after a video" {
            assert!(descriptors.len() <= 15, "{round}: {descriptors:?}");
            assert!(resident <= 12 * 1024, "{round}: {resident} KiB resident");
        }
    }
}

#[test]
fn budget_wake_ups() {
    // A headless sway refreshes less often than it says: at 60 Hz 52 to 59 times a second, by what else the machine does. A
    // video that is faster than its screen is another matter.
    for (fps, mode) in [(30, "1280x720@60Hz"), (60, "1280x720@120Hz")] {
        let clip = clips::moving(1280, 720, fps, 4.0).unwrap();
        let mut desk = Desk::start(mode, ["--input".as_ref(), clip.as_os_str()]).unwrap();
        desk.wait_frames(OUTPUT, 20).unwrap();
        let mut rates = Vec::new();
        for _ in 0..ATTEMPTS {
            let process = desk.daemon.process();
            let shown = desk.daemon.frames_shown(OUTPUT).unwrap();
            let switches = process.main_thread().unwrap().voluntary_switches;
            // Nobody asks in between; a good 150 frames.
            std::thread::sleep(Duration::from_secs_f64(165.0 / f64::from(fps)));
            let switches = process.main_thread().unwrap().voluntary_switches - switches;
            let shown = desk.daemon.frames_shown(OUTPUT).unwrap() - shown;
            rates.push(switches as f64 / shown.max(1) as f64);
            eprintln!("{fps} fps: {switches} wake-ups for {shown} frames");
            if shown >= 150 && rates.last() <= Some(&1.1) {
                break;
            }
        }
        let best = rates.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(best <= 1.1, "{fps} fps: {rates:?} wake-ups of the loop a frame");
    }
}

#[test]
fn budget_pause() {
    let clip = clips::moving(1280, 720, 30, 4.0).unwrap();
    let mut desk = Desk::start("1280x720", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    desk.wait_frames(OUTPUT, 20).unwrap();
    let process = desk.daemon.process();
    let used = |time: u64| {
        let before = process.cpu_time().unwrap();
        std::thread::sleep(Duration::from_secs(time));
        (process.cpu_time().unwrap() - before).as_secs_f64() / time as f64
    };
    let playing = used(4);
    desk.daemon.client(["pause"]).unwrap().ok().unwrap();
    let paused = used(4);
    eprintln!(
        "CPU: {:.1} % of a core while playing, {:.1} % paused",
        100.0 * playing,
        100.0 * paused
    );
    assert!(playing > 0.0 && paused <= playing / 4.0, "{playing} and {paused}");
}

#[test]
fn budget_switches() {
    let still = |name: &str, colour| clips::picture(name, 640, 360, move |_, _| colour).unwrap();
    let round: [PathBuf; 4] = [
        clips::plain(RED).unwrap(),
        still("plain-blue", BLUE),
        clips::plain(GREEN).unwrap(),
        still("plain-red", RED),
    ];
    let desk = Desk::start("640x360", NO_ARGUMENTS).unwrap();
    let switch = |times: usize| {
        for file in round.iter().cycle().take(times) {
            desk.set([file]).unwrap().ok().unwrap();
        }
        let process = settle(&desk).unwrap();
        (
            process.threads().unwrap().len(),
            process.descriptors().unwrap().len(),
            process.rss_anon_kib().unwrap(),
        )
    };
    let before = switch(40);
    let after = switch(80);
    eprintln!("threads, descriptors, KiB of its own: {before:?}, after 80 switches {after:?}");
    assert_eq!(
        (before.0, before.1),
        (after.0, after.1),
        "threads and descriptors"
    );
    // 2 KiB a switch, and the unrest that an allocator always has: over 500 switches that would not count.
    let grown = after.2.saturating_sub(before.2);
    assert!(grown <= 2 * 80 + 128, "{grown} KiB more after 80 switches");
}

#[test]
fn budget_loops() {
    // Ten loops a second.
    let clip = clips::moving(320, 180, 30, 0.1).unwrap();
    let mut desk = Desk::start("320x180", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    let held = |desk: &mut Desk, loops: u64| {
        desk.wait_first("loops", |output| output["loops"].as_u64() >= Some(loops))
            .unwrap();
        let process = desk.daemon.process();
        let descriptors = process.descriptors().unwrap();
        // The ring's targets are made when they are first needed, which may be late.
        let others = descriptors
            .iter()
            .filter(|(_, target)| !target.starts_with("/memfd:"));
        (
            process.threads().unwrap().len(),
            others.count(),
            process.rss_anon_kib().unwrap(),
        )
    };
    let before = held(&mut desk, 40);
    let after = held(&mut desk, 180);
    eprintln!("threads, descriptors, KiB of its own: {before:?}, after 140 loops {after:?}");
    // The connection of the client that asked may still be counted.
    assert!(
        after.0 <= before.0 && after.1 <= before.1 + 1,
        "threads and descriptors"
    );
    // What a target of the ring needs once; a page a loop would be 560 KiB.
    let grown = after.2.saturating_sub(before.2);
    assert!(grown <= 400, "{grown} KiB more after 140 loops");
}

#[test]
fn budget_loop_gap() {
    // Frame period and refresh period, in milliseconds; a little for the clock's grain.
    let limit = 1000.0 / 30.0 + 1000.0 / 60.0 + 1.0;
    for (name, clip) in [
        ("half.mp4", clips::inputs().unwrap().join("half.mp4")),
        ("moving", clips::moving(1280, 720, 30, 1.0).unwrap()),
    ] {
        let mut desk = Desk::start("1280x720", NO_ARGUMENTS).unwrap();
        let mut longest = Vec::new();
        for _ in 0..ATTEMPTS {
            desk.daemon.client(["clear"]).unwrap().ok().unwrap();
            desk.set([&clip]).unwrap().ok().unwrap();
            // Left alone while it is counted.
            std::thread::sleep(Duration::from_secs(4));
            let status = desk
                .wait_first("loops", |output| output["loops"].as_u64() >= Some(3))
                .unwrap();
            longest.push(status["present_interval_ms"]["max"].as_f64().unwrap());
            eprintln!(
                "{name}: {} loops, {}, {}",
                status["loops"], status["present_interval_ms"], status["frames"]
            );
            if longest.last() <= Some(&limit) {
                break;
            }
        }
        let best = longest.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(
            best <= limit,
            "{name}: {longest:?} ms between two frames, {limit:.1} at most"
        );
    }
}

#[test]
fn measure_two_outputs() {
    let clip = clips::moving(1280, 720, 30, 4.0).unwrap();
    let mut used = Vec::new();
    for outputs in [1, 2] {
        let mut sway = Sway::builder();
        for _ in 0..outputs {
            sway = sway.output("1280x720");
        }
        let mut desk = Desk::on(sway.start().unwrap(), NO_ARGUMENTS).unwrap();
        desk.set([&clip]).unwrap().ok().unwrap();
        desk.wait_frames(OUTPUT, 20).unwrap();
        let process = desk.daemon.process();
        let before = process.cpu_time().unwrap();
        std::thread::sleep(Duration::from_secs(5));
        used.push((process.cpu_time().unwrap() - before).as_secs_f64());
    }
    let ratio = used[1] / used[0];
    eprintln!("two outputs that show the same file cost {ratio:.2} times what one costs");
    // The budget is 1.15; a second decode would be about 2.
    assert!(ratio < 1.5, "{ratio}: {used:?}");
}
