//! What the tests of playback share: clips, a sink that takes notes, and waiting.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

pub(crate) mod broken;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;
use veil_playback::{Player, Settings};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// H.264, quickly made.
pub(crate) const H264: &[&str] = &["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"];

/// A folder for clips, with GStreamer started.
pub(crate) fn folder() -> tempfile::TempDir {
    veil_playback::init().unwrap();
    tempfile::tempdir().unwrap()
}

/// Has ffmpeg make a file with these arguments. `None` where this ffmpeg cannot.
pub(crate) fn ffmpeg(path: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-hide_banner", "-loglevel", "error", "-y"]);
    let output = command
        .args(arguments)
        .arg(path)
        .output()
        .expect("ffmpeg is needed for these tests");
    if !output.status.success() {
        println!(
            "ffmpeg makes no {}: {}",
            path.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        return None;
    }
    Some(path.to_owned())
}

/// A moving clip of 160x90 with 30 pictures a second.
pub(crate) fn clip(path: &Path, seconds: f64, arguments: &[&str]) -> Option<PathBuf> {
    let source = format!("testsrc2=s=160x90:r=30:d={seconds}");
    ffmpeg(path, &[&["-f", "lavfi", "-i", &source], arguments].concat())
}

/// A clip that every ffmpeg makes.
pub(crate) fn h264(path: &Path, seconds: f64) -> PathBuf {
    clip(path, seconds, H264).expect("ffmpeg lacks libx264")
}

/// What a sink was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    /// Running time of each picture.
    pub(crate) times: Arc<Mutex<Vec<gst::ClockTime>>>,
    /// Types of the events that came, with the orientation tag where one had it.
    pub(crate) events: Arc<Mutex<Vec<String>>>,
}

impl Notes {
    pub(crate) fn shown(&self) -> usize {
        self.times.lock().unwrap().len()
    }

    /// How far apart the pictures are, in order.
    pub(crate) fn steps(&self) -> Vec<Duration> {
        let times = self.times.lock().unwrap();
        times
            .windows(2)
            .map(|pair| Duration::from(pair[1].checked_sub(pair[0]).expect("time goes back")))
            .collect()
    }

    pub(crate) fn saw(&self, event: &str) -> bool {
        self.events.lock().unwrap().iter().any(|seen| seen == event)
    }
}

/// A sink that shows nothing, in real time (`sync`) or as fast as it goes.
pub(crate) fn sink(sync: bool) -> (gst::Element, Notes) {
    let sink = gst::ElementFactory::make("fakesink")
        .property("sync", sync)
        .property("enable-last-sample", false)
        .build()
        .unwrap();
    let notes = Notes::default();
    let kept = notes.clone();
    let pad = sink.static_pad("sink").unwrap();
    let interest =
        gst::PadProbeType::BUFFER | gst::PadProbeType::EVENT_DOWNSTREAM | gst::PadProbeType::EVENT_FLUSH;
    pad.add_probe(interest, move |pad, info| {
        match &info.data {
            Some(gst::PadProbeData::Buffer(buffer)) => {
                let segment = pad
                    .sticky_event::<gst::event::Segment>(0)
                    .unwrap()
                    .segment()
                    .clone();
                let segment = segment.downcast::<gst::ClockTime>().unwrap();
                let time = segment.to_running_time(buffer.pts());
                kept.times
                    .lock()
                    .unwrap()
                    .push(time.expect("a picture outside of its segment"));
            }
            Some(gst::PadProbeData::Event(event)) => {
                let mut events = kept.events.lock().unwrap();
                events.push(format!("{:?}", event.type_()));
                if let gst::EventView::Tag(tag) = event.view()
                    && let Some(orientation) = tag.tag().get::<gst::tags::ImageOrientation>()
                {
                    events.push(orientation.get().to_owned());
                }
            }
            _ => {}
        }
        gst::PadProbeReturn::Ok
    });
    (sink, notes)
}

/// Opens a file that must play.
pub(crate) fn open(path: &Path, sync: bool) -> (Player, Notes) {
    let (sink, notes) = sink(sync);
    let settings = Settings {
        path: path.to_owned(),
        ..Settings::default()
    };
    (
        Player::open(settings, sink).unwrap_or_else(|error| panic!("{error}")),
        notes,
    )
}

/// Waits for what must come.
pub(crate) fn wait_until(player: &Player, what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(
            Instant::now() < end,
            "waited in vain until {what}: {:?}",
            player.stats()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
