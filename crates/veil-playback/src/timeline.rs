//! The arithmetic of an endless stream: every pass over the file is put behind the one before it on one time axis, so
//! that the decoder and the sink see a single stream that never ends, seeks or starts again.
//!
//! Within a pass, time is GStreamer's running time of that pass: it is what the demuxer's segments (edit lists
//! included) make of a buffer's timestamp. A pass starts where its first picture is due and ends where its last
//! picture has been on show for its duration, whatever the length of sound that lies beside it.

use std::collections::VecDeque;

use gstreamer as gst;
use gstreamer::ClockTime;

/// Where the endless time axis starts. Pictures before the start of a segment (those that only serve to decode later
/// ones) lie below it, where a decoder discards them; timestamps cannot be negative.
pub(crate) const ORIGIN: ClockTime = ClockTime::from_seconds(3600);

/// How many passes are remembered for [`Timeline::media_position`]: more than can lie between here and the sink.
const REMEMBERED: usize = 64;

/// What one pass over the file was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pass {
    /// Its number, from 1. A seek starts a new pass, too.
    pub(crate) number: u64,
    /// Coded pictures in it.
    pub(crate) frames: u64,
    /// From its first picture's time to its last picture's end.
    pub(crate) length: ClockTime,
    /// Some pictures lay before the start: needed for decoding, not to be shown.
    pub(crate) lead_in: bool,
}

/// A buffer's timestamps on the endless axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamps {
    pub(crate) pts: Option<ClockTime>,
    pub(crate) dts: Option<ClockTime>,
    /// The picture lies before the start: it is needed to decode others, not to be shown.
    pub(crate) decode_only: bool,
}

/// What is known of a pass while it lasts.
#[derive(Debug, Default)]
struct Course {
    frames: u64,
    /// Running time of the first picture that counts (ns), which is the pass's start.
    first: Option<i64>,
    /// The latest running time of a picture (ns).
    last: i64,
    /// The latest end of a picture (ns).
    end: i64,
    /// Pictures to be shown.
    shown: i64,
    /// How many pictures say when they are to be shown.
    timed: u64,
    /// Some do not.
    untimed: bool,
    /// Some pictures are not to be shown.
    lead_in: bool,
}

/// Where a pass lies on the endless axis, and where in the file it started.
#[derive(Debug, Clone, Copy)]
struct Mark {
    start: i64,
    media: i64,
    /// Loops made by then, this pass's beginning included.
    loops: u64,
}

/// Maps each pass's timestamps to the endless axis.
#[derive(Debug)]
pub(crate) struct Timeline {
    segment: gst::FormattedSegment<ClockTime>,
    /// Nominal time between two pictures (ns), where the caps say it.
    period: Option<i64>,
    /// Where on the axis (ns) the current pass starts.
    start: i64,
    number: u64,
    loops: u64,
    pass: Course,
    marks: VecDeque<Mark>,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Self {
            segment: gst::FormattedSegment::new(),
            period: None,
            start: nanoseconds(ORIGIN),
            number: 1,
            loops: 0,
            pass: Course::default(),
            marks: VecDeque::new(),
        }
    }

    /// The demuxer's segment for the buffers that follow.
    ///
    /// In the middle of a pass only a segment that follows on the one before counts (the next edit of an edit list). A
    /// demuxer that changes its mind about where the file starts would shift the rest of the pass.
    pub(crate) fn set_segment(&mut self, segment: &gst::FormattedSegment<ClockTime>) {
        if self.at_start() || segment.base() != self.segment.base() {
            self.segment = segment.clone();
        }
    }

    /// The time between two pictures, for streams whose buffers carry no duration.
    pub(crate) fn set_period(&mut self, period: Option<ClockTime>) {
        self.period = period.map(nanoseconds).filter(|period| *period > 0);
    }

    /// Whether the current pass has no picture yet.
    pub(crate) fn at_start(&self) -> bool {
        self.pass.frames == 0
    }

    /// The number of the current pass, from 1.
    pub(crate) fn pass(&self) -> u64 {
        self.number
    }

    /// Puts the next coded picture on the endless axis.
    pub(crate) fn stamp(
        &mut self,
        pts: Option<ClockTime>,
        dts: Option<ClockTime>,
        duration: Option<ClockTime>,
    ) -> Stamps {
        let mut pts_time = pts.and_then(|pts| self.running_time(pts));
        let dts_time = dts.and_then(|dts| self.running_time(dts));
        self.pass.frames += 1;
        // Where others have a time, one without (the last of an MPEG program stream) comes after them. Where none has,
        // or the first alone (AVI), the decoder makes them up.
        self.pass.timed += u64::from(pts_time.is_some());
        self.pass.untimed |= pts_time.is_none();
        if pts_time.is_none() && self.pass.timed > 1 {
            pts_time = Some(self.pass.end);
        }
        let Some(mut time) = pts_time.or(dts_time) else {
            return Stamps {
                pts: None,
                dts: None,
                decode_only: false,
            };
        };
        let length = duration.map_or(0, nanoseconds);
        // Rounded down by a container with coarse times.
        if time < 0 && time + length / 2 > 0 {
            time = 0;
        }
        if self.pass.first.is_none() {
            self.pass.first = Some(time.max(0));
            self.remember(pts.or(dts));
        }
        let decode_only = time < 0;
        let shift = if decode_only {
            self.pass.lead_in = true;
            nanoseconds(ORIGIN)
        } else {
            self.pass.shown += 1;
            self.pass.last = self.pass.last.max(time);
            self.pass.end = self.pass.end.max(time + length);
            self.start - self.pass.first.unwrap_or(0)
        };
        Stamps {
            pts: pts_time.map(|_| clock_time(time + shift)),
            dts: dts_time.map(|time| clock_time(time + shift)),
            decode_only,
        }
    }

    /// A segment that puts buffers on the endless axis (from 0) that keep their own timestamps. For the current pass, of
    /// which the first picture must have been seen. Time goes by at `speed`.
    pub(crate) fn segment(&self, speed: f64) -> gst::FormattedSegment<ClockTime> {
        let first = clock_time(self.pass.first.unwrap_or(0));
        let before = clock_time(self.start - nanoseconds(ORIGIN));
        let mut segment = self.segment.clone();
        let start = segment.start().unwrap_or(ClockTime::ZERO) + first;
        segment.set_start(start);
        segment.set_position(start);
        segment.set_stop(ClockTime::NONE);
        segment.set_time(before);
        // The base is the clock's time, all else the video's.
        let base = segment.base().unwrap_or(ClockTime::ZERO) + before;
        segment.set_rate(speed);
        segment.set_base(ClockTime::from_nseconds((base.nseconds() as f64 / speed) as u64));
        segment
    }

    /// Closes the pass: the next picture starts the next one, right behind it.
    pub(crate) fn end_pass(&mut self) -> Pass {
        let pass = std::mem::take(&mut self.pass);
        let first = pass.first.unwrap_or(0);
        let mut length = (pass.end - first).max(0);
        if pass.end <= pass.last && pass.first.is_some() {
            // The last picture has no duration: it gets the nominal one, or the mean of the others.
            let mean = (pass.last - first) / (pass.shown - 1).max(1);
            length = pass.last - first + self.period.unwrap_or(mean);
        }
        if let Some(period) = self.period.filter(|_| pass.untimed) {
            // The last of them is longest on its way.
            length = length.max(pass.shown.saturating_mul(period));
        }
        let summary = Pass {
            number: self.number,
            frames: pass.frames,
            length: clock_time(length),
            lead_in: pass.lead_in,
        };
        self.start += length;
        self.number += 1;
        summary
    }

    /// After a flush that reached the sink: the axis starts again, and with it a pass.
    pub(crate) fn restart(&mut self) {
        self.pass = Course::default();
        self.start = nanoseconds(ORIGIN);
        self.number += 1;
        self.marks.clear();
    }

    /// The pass that comes next is the file from its beginning again.
    pub(crate) fn add_loop(&mut self) {
        self.loops += 1;
    }

    /// How many loops have been made when `shown` of the endless axis (from its origin) has been shown.
    pub(crate) fn loops(&self, shown: ClockTime) -> Option<u64> {
        self.mark(shown).map(|mark| mark.loops)
    }

    /// The place in the file that is on show when `shown` of the endless axis (from its origin) has been shown.
    pub(crate) fn media_position(&self, shown: ClockTime) -> Option<ClockTime> {
        let mark = self.mark(shown)?;
        Some(clock_time(mark.media + (on_axis(shown) - mark.start).max(0)))
    }

    fn mark(&self, shown: ClockTime) -> Option<&Mark> {
        let shown = on_axis(shown);
        let mut latest = self.marks.iter().rev();
        latest.find(|mark| mark.start <= shown).or(self.marks.front())
    }

    fn remember(&mut self, timestamp: Option<ClockTime>) {
        // What lies before the segment is not shown: the pass begins with the segment then.
        let media = timestamp
            .max(self.segment.start())
            .and_then(|timestamp| self.segment.to_stream_time(timestamp));
        if self.marks.len() == REMEMBERED {
            self.marks.pop_front();
        }
        self.marks.push_back(Mark {
            start: self.start,
            media: media.map_or(0, nanoseconds),
            loops: self.loops,
        });
    }

    /// Running time of this pass (ns), negative before the segment's start.
    fn running_time(&self, timestamp: ClockTime) -> Option<i64> {
        Some(match self.segment.to_running_time_full(timestamp)? {
            gst::Signed::Positive(time) => nanoseconds(time),
            gst::Signed::Negative(time) => -nanoseconds(time),
        })
    }
}

fn on_axis(from_origin: ClockTime) -> i64 {
    nanoseconds(from_origin) + nanoseconds(ORIGIN)
}

fn nanoseconds(time: ClockTime) -> i64 {
    i64::try_from(time.nseconds()).unwrap_or(i64::MAX / 4)
}

fn clock_time(nanoseconds: i64) -> ClockTime {
    ClockTime::from_nseconds(u64::try_from(nanoseconds).unwrap_or(0))
}

#[cfg(test)]
mod tests;
