//! Plays a file into a sink that shows nothing, and says how evenly the pictures come, over the loops and elsewhere.
//!
//!     cargo run --release -p veil-playback --example loop-gaps -- FILE [SECONDS]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;
use veil_playback::{Player, Settings};

/// A picture's time in the stream, and when it was shown.
type Shown = Arc<Mutex<Vec<(gst::ClockTime, Instant)>>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().ok_or("which file?")?.into();
    let seconds = arguments
        .next()
        .and_then(|text| text.to_str()?.parse().ok())
        .unwrap_or(10);
    veil_playback::init()?;

    let sink = gst::ElementFactory::make("fakesink")
        .property("sync", true)
        .property("qos", true)
        .property("signal-handoffs", true)
        .property("enable-last-sample", false)
        .build()?;
    let shown = Shown::default();
    let record = Arc::clone(&shown);
    sink.connect("handoff", false, move |arguments| {
        if let Some(pts) = arguments
            .get(1)
            .and_then(|buffer| buffer.get::<gst::Buffer>().ok()?.pts())
        {
            record
                .lock()
                .map(|mut shown| shown.push((pts, Instant::now())))
                .ok();
        }
        None
    });

    let start = Instant::now();
    let player = Player::open(
        Settings {
            path,
            ..Settings::default()
        },
        sink,
    )?;
    println!(
        "opened in {:?}, {}, {:?}",
        start.elapsed(),
        player.decoder(),
        player.elements()
    );
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        std::thread::sleep(Duration::from_millis(100));
        player.dispatch(|event| println!("{event:?}"));
    }
    println!(
        "{:?}, at {:?} of {:?}",
        player.stats(),
        player.position(),
        player.duration()
    );
    drop(player);

    let shown = std::mem::take(&mut *shown.lock().map_err(|_| "the recorder panicked")?);
    let steps = || {
        shown
            .windows(2)
            .filter_map(|pair| Some(pair[1].0.checked_sub(pair[0].0)?.nseconds() / 1000))
    };
    let gaps = || shown.windows(2).map(|pair| (pair[1].1 - pair[0].1).as_micros());
    let back = shown.windows(2).filter(|pair| pair[1].0 < pair[0].0).count();
    println!("{} pictures shown, {back} went back in time", shown.len());
    println!("steps of time: {:?} to {:?} us", steps().min(), steps().max());
    let usual = steps()
        .max_by_key(|step| steps().filter(|other| other.abs_diff(*step) < 1100).count())
        .unwrap_or(0);
    let odd: Vec<_> = steps()
        .zip(1..)
        .filter(|(step, _)| step.abs_diff(usual) > 1100)
        .take(8)
        .collect();
    println!("odd steps of time (us, before picture): {odd:?}");
    let mut longest: Vec<_> = gaps()
        .enumerate()
        .map(|(number, gap)| (gap, number + 1))
        .collect();
    longest.sort_unstable();
    println!(
        "longest intervals (us, before picture): {:?}",
        longest.iter().rev().take(8).collect::<Vec<_>>()
    );
    Ok(())
}
