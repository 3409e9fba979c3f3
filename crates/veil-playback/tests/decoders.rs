//! Which decoder plays, and what stands in the pipeline.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{folder, h264, open, wait_until};
use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;
use gstreamer::subclass::prelude::*;

/// A decoder better than all others, if it worked.
mod broken {
    use super::*;

    /// It starts, and fails at the first picture; otherwise it does not even start.
    pub(crate) static STARTS: AtomicBool = AtomicBool::new(false);

    pub(crate) struct Broken {
        src: gst::Pad,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Broken {
        const NAME: &'static str = "VeilTestBrokenDecoder";
        type Type = super::Broken;
        type ParentType = gst::Element;

        fn with_class(class: &Self::Class) -> Self {
            Self {
                src: gst::Pad::from_template(&class.pad_template("src").unwrap()),
            }
        }
    }

    impl ObjectImpl for Broken {
        fn constructed(&self) {
            self.parent_constructed();
            let element = self.obj();
            let sink = gst::Pad::builder_from_template(&element.pad_template("sink").unwrap())
                .chain_function(|_, parent, _| {
                    let element = parent
                        .and_then(|parent| parent.downcast_ref::<gst::Element>())
                        .unwrap();
                    gst::element_error!(element, gst::StreamError::Decode, ["the device went away"]);
                    Err(gst::FlowError::Error)
                })
                .build();
            element.add_pad(&sink).unwrap();
            element.add_pad(&self.src).unwrap();
        }
    }

    impl GstObjectImpl for Broken {}

    impl ElementImpl for Broken {
        fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
            static METADATA: std::sync::LazyLock<gst::subclass::ElementMetadata> =
                std::sync::LazyLock::new(|| {
                    gst::subclass::ElementMetadata::new(
                        "Broken",
                        "Codec/Decoder/Video/Hardware",
                        "Fails",
                        "Tests",
                    )
                });
            Some(&METADATA)
        }

        fn pad_templates() -> &'static [gst::PadTemplate] {
            static TEMPLATES: std::sync::LazyLock<Vec<gst::PadTemplate>> = std::sync::LazyLock::new(|| {
                let template = |name, direction, caps: &str| {
                    let caps = caps.parse::<gst::Caps>().unwrap();
                    gst::PadTemplate::new(name, direction, gst::PadPresence::Always, &caps).unwrap()
                };
                vec![
                    template("sink", gst::PadDirection::Sink, "video/x-h264"),
                    template("src", gst::PadDirection::Src, "video/x-raw"),
                ]
            });
            &TEMPLATES
        }

        fn change_state(
            &self,
            transition: gst::StateChange,
        ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
            if transition == gst::StateChange::NullToReady && !STARTS.load(Ordering::Relaxed) {
                gst::element_imp_error!(self, gst::ResourceError::OpenRead, ["no such device"]);
                return Err(gst::StateChangeError);
            }
            self.parent_change_state(transition)
        }
    }
}

glib::wrapper! {
    pub(crate) struct Broken(ObjectSubclass<broken::Broken>) @extends gst::Element, gst::Object;
}

/// Both ways to fail in one test, for the element is the process's.
#[test]
fn a_decoder_that_fails_is_replaced_by_the_next() {
    let folder = folder();
    let path = h264(&folder.path().join("x.mp4"), 0.4);
    let (player, _notes) = open(&path, true);
    let usual = player.decoder().clone();
    drop(player);

    gst::Element::register(
        None,
        "veil-test-broken",
        gst::Rank::PRIMARY + 1000,
        Broken::static_type(),
    )
    .unwrap();
    for starts in [false, true] {
        broken::STARTS.store(starts, Ordering::Relaxed);
        let (player, notes) = open(&path, true);
        assert_eq!(*player.decoder(), usual);
        assert!(
            player
                .elements()
                .iter()
                .all(|element| element != "veil-test-broken")
        );
        wait_until(&player, "it looped", || {
            player.stats().loops >= 2 && notes.shown() > 20
        });
    }
}

#[test]
fn nothing_converts_in_the_pipeline() {
    let folder = folder();
    let (player, _notes) = open(&h264(&folder.path().join("x.mkv"), 0.4), true);
    let elements = player.elements();
    for expected in [
        player.decoder().element.as_str(),
        "parsebin",
        "matroskademux",
        "fakesink",
    ] {
        assert!(
            elements.iter().any(|element| element == expected),
            "{expected} in {elements:?}"
        );
    }
    for element in &elements {
        let converts = ["convert", "scale", "wayland", "audio", "aac"]
            .iter()
            .any(|part| element.contains(part));
        assert!(!converts, "{element} in {elements:?}");
    }
}

/// Sound is left alone: no parser and no decoder for it.
#[test]
fn sound_is_not_decoded() {
    let folder = folder();
    let arguments = [&["-f", "lavfi", "-i", "sine=d=1"], common::H264, &["-c:a", "aac"]].concat();
    let path = common::clip(&folder.path().join("x.mp4"), 0.5, &arguments).unwrap();
    let (player, _notes) = open(&path, true);
    let elements = player.elements();
    assert!(
        !elements
            .iter()
            .any(|element| element.contains("aac") || element.contains("audio")),
        "{elements:?}"
    );
}

#[test]
fn the_decoder_is_named_as_in_the_log() {
    let folder = folder();
    let (player, _notes) = open(&h264(&folder.path().join("x.mp4"), 0.4), true);
    let decoder = player.decoder();
    let kind = if decoder.hardware { "hardware" } else { "software" };
    assert_eq!(decoder.to_string(), format!("{} ({kind})", decoder.element));
}

/// A phone's video is stored lying and says so.
#[test]
fn the_orientation_arrives_at_the_sink() {
    let folder = folder();
    let flat = h264(&folder.path().join("flat.mp4"), 0.4);
    let turned = folder.path().join("turned.mp4");
    let input = flat.to_str().unwrap();
    // As ffmpeg up to 5 puts it, and as it does since.
    common::ffmpeg(&turned, &["-display_rotation", "90", "-i", input, "-c", "copy"])
        .or_else(|| {
            common::ffmpeg(
                &turned,
                &["-i", input, "-c", "copy", "-metadata:s:v", "rotate=90"],
            )
        })
        .unwrap();
    let (player, notes) = open(&turned, true);
    wait_until(&player, "the tag came", || {
        notes.saw("rotate-270") || notes.saw("rotate-90")
    });
}
