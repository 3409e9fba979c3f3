//! docs/formats.md says what is so.

#![allow(clippy::unwrap_used)]

use gstreamer as gst;
use gstreamer_video as gst_video;

use gst_video::VideoFormat;
use std::collections::BTreeSet;
use veil_frame::PixelFormat;

/// The names in the rows of the table below a heading.
fn names(text: &str, heading: &str) -> BTreeSet<String> {
    let section = text
        .split("\n## ")
        .find(|part| part.starts_with(heading))
        .unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let words = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    words.map(str::to_owned).collect()
}

#[test]
fn the_list_of_formats_is_what_the_sink_does() {
    gst::init().unwrap();
    let text = include_str!("../../docs/formats.md");
    let described: BTreeSet<_> = PixelFormat::ALL
        .iter()
        .map(|format| format.info().name.to_owned())
        .collect();
    assert_eq!(names(text, "Read as they are"), described);
    let unpacked = names(text, "Unpacked first");
    for format in VideoFormat::iter_raw() {
        let name = format.to_str();
        assert_ne!(
            described.contains(name.as_str()),
            unpacked.contains(name.as_str()),
            "{name}"
        );
    }
    for (version, count) in [((1, 22), 111), ((1, 28), 139)] {
        let (major, minor, _, _) = gst::version();
        if (major, minor) == version {
            assert_eq!(VideoFormat::iter_raw().count(), count);
        }
        assert!(
            text.contains(&format!("{count} in")) && text.contains(&format!("{}.{}", version.0, version.1))
        );
    }
}
