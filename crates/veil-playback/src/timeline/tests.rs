//! Times of passes, added up.

use super::*;

const MS: u64 = 1_000_000;

fn ms(time: u64) -> Option<ClockTime> {
    Some(ClockTime::from_nseconds(time * MS))
}

fn timeline(start: u64) -> Timeline {
    gst::init().unwrap();
    let mut timeline = Timeline::new();
    let mut segment = gst::FormattedSegment::<ClockTime>::new();
    segment.set_start(ClockTime::from_nseconds(start * MS));
    timeline.set_segment(&segment);
    timeline
}

fn after_origin(stamps: Stamps) -> Option<u64> {
    Some((stamps.pts? - ORIGIN).nseconds() / MS)
}

#[test]
fn passes_follow_each_other_without_a_gap() {
    let mut timeline = timeline(0);
    let mut seen = Vec::new();
    for _ in 0..3 {
        for pts in [0, 80, 40] {
            seen.extend(after_origin(timeline.stamp(ms(pts), None, ms(40))));
        }
        assert_eq!(timeline.end_pass().length, ClockTime::from_mseconds(120));
    }
    assert_eq!(seen, [0, 80, 40, 120, 200, 160, 240, 320, 280]);
}

#[test]
fn a_segment_can_do_the_same() {
    let mut timeline = timeline(1000);
    for pass in 0..2 {
        timeline.stamp(ms(1040), None, ms(40));
        timeline.stamp(ms(1080), None, ms(40));
        let running = timeline
            .segment(1.0)
            .to_running_time(ClockTime::from_mseconds(1080));
        assert_eq!(running, ms(80 * pass + 40));
        timeline.end_pass();
    }
}

#[test]
fn a_late_first_picture_starts_the_pass() {
    let mut timeline = timeline(1000);
    timeline.stamp(ms(1040), None, ms(40));
    assert_eq!(timeline.end_pass().length, ClockTime::from_mseconds(40));
    assert_eq!(after_origin(timeline.stamp(ms(1040), None, ms(40))), Some(40));
}

#[test]
fn pictures_before_the_segment_are_only_decoded() {
    let mut timeline = timeline(100);
    for pass in 0..2 {
        let early = timeline.stamp(ms(60), None, ms(40));
        assert!(early.decode_only && early.pts < Some(ORIGIN));
        let shown = timeline.stamp(ms(100), None, ms(40));
        assert!(!shown.decode_only);
        assert_eq!(after_origin(shown), Some(40 * pass));
        assert_eq!(timeline.end_pass().length, ClockTime::from_mseconds(40));
    }
}

#[test]
fn a_place_between_key_frames_is_where_the_segment_starts() {
    let mut timeline = timeline(100);
    timeline.segment.set_time(ClockTime::from_mseconds(100));
    timeline.stamp(ms(0), None, ms(40));
    assert_eq!(timeline.media_position(ClockTime::ZERO), ms(100));
}

#[test]
fn a_picture_rounded_to_just_before_the_segment_is_shown() {
    let mut timeline = timeline(100);
    let first = timeline.stamp(Some(ClockTime::from_nseconds(100 * MS - 1)), None, ms(40));
    assert!(!first.decode_only);
    assert_eq!(after_origin(first), Some(0));
}

#[test]
fn edits_follow_each_other_but_a_changed_mind_does_not_count() {
    let mut timeline = timeline(100);
    timeline.stamp(ms(100), None, ms(40));
    let mut changed = gst::FormattedSegment::<ClockTime>::new();
    timeline.set_segment(&changed);
    assert_eq!(after_origin(timeline.stamp(ms(140), None, ms(40))), Some(40));
    changed.set_start(ClockTime::from_mseconds(500));
    changed.set_base(ClockTime::from_mseconds(80));
    timeline.set_segment(&changed);
    assert_eq!(after_origin(timeline.stamp(ms(500), None, ms(40))), Some(80));
}

#[test]
fn missing_durations_are_made_up() {
    let mut timeline = timeline(0);
    for pts in [0, 40, 80] {
        timeline.stamp(None, ms(pts), None);
    }
    assert_eq!(timeline.end_pass().length, ClockTime::from_mseconds(120));
    timeline.set_period(ms(50));
    timeline.stamp(None, ms(0), None);
    assert_eq!(timeline.end_pass().length, ClockTime::from_mseconds(50));
}

#[test]
fn only_the_first_has_a_time() {
    let mut timeline = timeline(0);
    timeline.stamp(ms(0), ms(0), ms(40));
    assert_eq!(after_origin(timeline.stamp(None, ms(40), ms(40))), None);
    assert_eq!(timeline.end_pass().length, ClockTime::from_mseconds(80));
}

#[test]
fn a_picture_without_a_time_comes_last() {
    let mut timeline = timeline(0);
    timeline.set_period(ms(40));
    timeline.stamp(ms(0), ms(0), ms(40));
    timeline.stamp(ms(40), ms(40), ms(40));
    assert_eq!(after_origin(timeline.stamp(None, ms(80), ms(40))), Some(80));
    assert_eq!(timeline.end_pass().length, ClockTime::from_mseconds(120));
}

#[test]
fn the_place_in_the_file_is_found_over_passes() {
    let mut timeline = timeline(0);
    for _ in 0..2 {
        timeline.stamp(ms(0), None, ms(500));
        timeline.end_pass();
        timeline.add_loop();
    }
    timeline.stamp(ms(0), None, ms(500));
    let at = |time| {
        timeline
            .media_position(ClockTime::from_mseconds(time))
            .unwrap()
            .mseconds()
    };
    assert_eq!([at(10), at(499), at(500), at(1300)], [10, 499, 0, 300]);
    let loops = |time| timeline.loops(ClockTime::from_mseconds(time)).unwrap();
    assert_eq!([loops(10), loops(499), loops(500), loops(1300)], [0, 0, 1, 2]);
}
