//! What is counted, against a compositor whose times are the test's.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;
use veil_testkit::mock::{Mock, MockOutput, Pace, Releases, Stage};
use veil_testkit::{GENEROUS, clips, wait_until};

const OUTPUT: &str = "DP-1";
const ATTEMPTS: usize = 3;

fn stage(outputs: &[MockOutput], releases: Releases, file: &Path) -> Result<Stage> {
    let mock = outputs
        .iter()
        .fold(Mock::builder(), |mock, output| mock.output(output.clone()));
    Stage::start(mock.releases(releases), ["--input".as_ref(), file.as_os_str()])
}

/// What the times that the compositor told make of the status's `present_interval_ms`.
fn intervals(times: &[Duration]) -> (f64, f64) {
    let ms = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    let gaps: Vec<Duration> = times.windows(2).map(|two| two[1] - two[0]).collect();
    let mean = gaps.iter().sum::<Duration>() / gaps.len().max(1) as u32;
    (ms(mean), ms(gaps.iter().copied().max().unwrap_or_default()))
}

/// The status when all that the compositor has told so far is counted.
fn counted(stage: &mut Stage, output: &str) -> Result<Value> {
    let told = stage.mock.presented(output).len() as u64;
    stage.daemon.wait_output(output, "all answers counted", |output| {
        output["frames"]["shown"].as_u64() == Some(told)
    })
}

#[test]
fn times_of_presentation_are_counted_exactly() {
    let clip = clips::moving(320, 180, 30, 2.0).unwrap();
    let output = MockOutput::new(OUTPUT, 320, 180).pace(Pace::ByHand);
    let mut stage = stage(&[output], Releases::WhenReplaced, &clip).unwrap();
    // Nobody's clock: 60 Hz, 144 Hz, 30 Hz and what not, and once a long time.
    let gaps = [16_667, 33_333, 6_944, 20_833, 33_334, 100_001, 16_666, 41_708];
    let mut time = Duration::from_secs(5_000_000);
    let mut discarded = 0;
    for round in 0..60 {
        wait_until("a commit", GENEROUS, || {
            stage.mock.parts(OUTPUT).iter().any(|part| part.feedback > 0)
        })
        .unwrap();
        time += Duration::from_micros(gaps[round % gaps.len()]);
        if round > 10 && round % 7 == 0 {
            stage.mock.discard(OUTPUT);
            discarded += 1;
        } else {
            stage.mock.refresh(OUTPUT, time);
        }
    }
    // The first was told by its frame callback, whose clock is another.
    let (mean, longest) = intervals(&stage.mock.presented(OUTPUT)[1..]);
    let status = counted(&mut stage, OUTPUT).unwrap();
    let told = &status["present_interval_ms"];
    assert_eq!(told["max"].as_f64(), Some(longest), "{status}");
    assert_eq!(told["mean"].as_f64(), Some(mean), "{status}");

    // When it stands still and what was on its way has arrived, nothing is unaccounted for.
    stage.daemon.client(["pause"]).unwrap().ok().unwrap();
    wait_until("no more pictures", GENEROUS, || {
        let before = stage.mock.commits().len();
        std::thread::sleep(Duration::from_millis(200));
        stage.mock.commits().len() == before
    })
    .unwrap();
    stage.mock.refresh(OUTPUT, time + Duration::from_secs(1));
    let status = counted(&mut stage, OUTPUT).unwrap();
    let frames = |name: &str| status["frames"][name].as_u64().unwrap();
    assert!(frames("shown") >= 50 && discarded >= 7, "{status}");
    assert_eq!(frames("due"), frames("shown") + frames("missed"), "{status}");
    // Missed is what was committed and never shown, and what never came so far.
    let missed = stage.mock.discarded(OUTPUT) as u64 + frames("dropped");
    assert_eq!(frames("missed"), missed, "{status}");
}

#[test]
fn each_output_has_its_own_rate_and_none_waits_for_another() {
    let clip = clips::moving(320, 180, 60, 2.0).unwrap();
    let rates = [("DP-1", 60.0), ("DP-2", 144.0), ("DP-3", 30.0), ("DP-4", 59.94)];
    let outputs = rates.map(|(name, hertz)| MockOutput::new(name, 320, 180).hertz(hertz));
    let mut stage = stage(&outputs, Releases::AtRefresh, &clip).unwrap();
    // One that is off besides.
    stage
        .mock
        .change("DP-4", |output| output.pace = Pace::Discard)
        .unwrap();
    stage.daemon.wait_frames("DP-2", 180).unwrap();
    let mut shown = Vec::new();
    for (name, hertz) in &rates[..3] {
        let times = stage.mock.presented(name);
        let period = 1.0 / hertz;
        let shortest = times.windows(2).map(|two| (two[1] - two[0]).as_secs_f64());
        assert!(shortest.fold(1.0, f64::min) > period * 0.999, "{name}");
        let lasted = (times[times.len() - 1] - times[0]).as_secs_f64();
        shown.push((times.len() - 1) as f64 / lasted);
    }
    eprintln!("{shown:.1?} frames a second at 60, 144 and 30 Hz");
    // 60 frames a second are due; a busy machine drops some of them, for all outputs alike.
    let due = shown[1];
    assert!(due > 30.0, "{shown:?}");
    assert!(shown[0] > 0.9 * due.min(60.0), "{shown:?}");
    assert!(shown[2] > 0.9 * due.min(30.0), "{shown:?}");
}

#[test]
fn an_output_that_shows_nothing_stops_no_other() {
    let clip = clips::moving(320, 180, 30, 2.0).unwrap();
    let outputs = ["DP-1", "DP-2"].map(|name| MockOutput::new(name, 320, 180));
    let mut stage = stage(&outputs, Releases::WhenReplaced, &clip).unwrap();
    for name in ["DP-1", "DP-2"] {
        stage.daemon.wait_frames(name, 10).unwrap();
    }
    stage
        .mock
        .change("DP-2", |output| output.pace = Pace::ByHand)
        .unwrap();
    stage.daemon.wait_frames("DP-1", 60).unwrap();
    let status = stage.daemon.output("DP-1").unwrap();
    let frames = |name: &str| status["frames"][name].as_u64().unwrap();
    assert!(frames("missed") * 5 <= frames("due"), "{status}");
    assert_eq!(stage.mock.complaints(), Vec::<String>::new());
}

#[test]
fn budget_two_outputs_are_drawn_once() {
    let clip = clips::moving(1280, 720, 30, 4.0).unwrap();
    let output = |name: &str| MockOutput::new(name, 1280, 720);
    let mut stage = stage(&[output(OUTPUT)], Releases::WhenReplaced, &clip).unwrap();
    stage.daemon.wait_frames(OUTPUT, 30).unwrap();
    let used = |stage: &Stage| {
        let process = stage.daemon.process();
        let before = process.run_time().unwrap();
        let frames = stage.mock.pictures(OUTPUT);
        std::thread::sleep(Duration::from_secs(3));
        let frames = stage.mock.pictures(OUTPUT) - frames;
        (process.run_time().unwrap() - before).as_secs_f64() / frames as f64
    };
    let mut ratios = Vec::new();
    for _ in 0..ATTEMPTS {
        let one = used(&stage);
        stage.mock.plug(output("DP-2"));
        stage
            .daemon
            .wait_output("DP-2", "frames", |output| {
                output["frames"]["shown"].as_u64() > Some(10)
            })
            .unwrap();
        let first = stage.mock.commits().len();
        let two = used(&stage);
        // The memory that is shown on one is shown on the other: nothing is converted twice.
        let of = |name: &str| {
            let part = stage.mock.parts(name)[0].id;
            let commits = stage.mock.commits().split_off(first);
            let commits = commits.into_iter().filter(|commit| commit.surface == part);
            commits.filter_map(|commit| commit.memory).collect::<Vec<_>>()
        };
        let (left, right) = (of(OUTPUT), of("DP-2"));
        let same = left
            .iter()
            .zip(&right)
            .filter(|(left, right)| left == right)
            .count();
        assert!(
            left.len() > 30 && same + 1 >= left.len().min(right.len()),
            "{left:?} {right:?}"
        );
        assert!(left.iter().collect::<BTreeSet<_>>().len() <= 4);
        stage.mock.unplug("DP-2").unwrap();
        ratios.push(two / one);
        eprintln!(
            "{:.3} and {:.3} ms of CPU a frame: {:.3}",
            one * 1e3,
            two * 1e3,
            two / one
        );
        if two / one <= 1.15 {
            break;
        }
    }
    let best = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(best <= 1.15, "{ratios:?}");
    assert_eq!(stage.daemon.log().matches("video decoder:").count(), 1);
}

/// The longest interval in each second from the middle of the clip to its middle: the end of a clip of one second is in
/// each.
fn longest_by_loop(times: &[Duration]) -> Vec<f64> {
    let start = times[0] + Duration::from_millis(500);
    let mut longest = Vec::new();
    for two in times.windows(2).filter(|two| two[1] >= start) {
        let at = (two[1] - start).as_secs() as usize;
        longest.resize(longest.len().max(at + 1), 0.0f64);
        longest[at] = longest[at].max((two[1] - two[0]).as_secs_f64());
    }
    // The last second is not over.
    longest.pop();
    longest
}

#[test]
fn budget_loop_gap_by_presentation_times() {
    for (fps, hertz) in [(30, 60.0), (60, 60.0), (24, 60.0)] {
        let clip = clips::moving(320, 180, fps, 1.0).unwrap();
        let limit = 1.0 / f64::from(fps) + 1.0 / hertz + 0.0005;
        let mut medians = Vec::new();
        for _ in 0..ATTEMPTS {
            let output = MockOutput::new(OUTPUT, 320, 180).hertz(hertz);
            let mut stage = stage(&[output], Releases::AtRefresh, &clip).unwrap();
            stage
                .daemon
                .wait_output(OUTPUT, "loops", |output| output["loops"].as_u64() >= Some(6))
                .unwrap();
            let mut longest = longest_by_loop(&stage.mock.presented(OUTPUT));
            eprintln!("{fps} fps at {hertz} Hz: {longest:.4?} s");
            // A neighbour on this machine delays a picture of some loops; a gap in the loop is in all.
            longest.sort_by(f64::total_cmp);
            medians.push(longest[longest.len() / 2]);
            if medians.last() <= Some(&limit) {
                break;
            }
        }
        let best = medians.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(
            best <= limit,
            "{fps} fps at {hertz} Hz: {medians:?}, {limit:.4} at most"
        );
    }
}

#[test]
fn budget_wake_ups_at_every_rate() {
    for (fps, rates) in [
        (30, &[60.0][..]),
        (60, &[60.0]),
        (30, &[144.0]),
        (60, &[144.0]),
        (30, &[60.0, 144.0]),
        (24, &[60.0]),
        (60, &[59.94]),
    ] {
        let clip = clips::moving(320, 180, fps, 4.0).unwrap();
        let outputs: Vec<MockOutput> = rates
            .iter()
            .enumerate()
            .map(|(at, hertz)| MockOutput::new(&format!("DP-{}", at + 1), 320, 180).hertz(*hertz))
            .collect();
        let mut stage = stage(&outputs, Releases::AtRefresh, &clip).unwrap();
        stage.daemon.wait_frames(OUTPUT, 30).unwrap();
        let process = stage.daemon.process();
        let mut each = Vec::new();
        for _ in 0..ATTEMPTS {
            let pictures = stage.mock.pictures(OUTPUT);
            let switches = process.main_thread().unwrap().voluntary_switches;
            // Nobody asks in between; a good 90 frames.
            std::thread::sleep(Duration::from_secs_f64(100.0 / f64::from(fps)));
            let switches = process.main_thread().unwrap().voluntary_switches - switches;
            let pictures = stage.mock.pictures(OUTPUT) - pictures;
            each.push(switches as f64 / pictures.max(1) as f64);
            eprintln!("{fps} fps at {rates:?} Hz: {switches} wake-ups for {pictures} frames");
            if pictures >= 80 && each.last() <= Some(&1.1) {
                break;
            }
        }
        let best = each.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(
            best <= 1.1,
            "{fps} fps at {rates:?} Hz: {each:?} wake-ups a frame"
        );
    }
}
