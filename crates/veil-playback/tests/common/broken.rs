//! A decoder of H.264 that fails in the way that a test wants.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, LazyLock, Mutex};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;
use gstreamer::subclass::prelude::*;

/// The name of its factory.
pub(crate) const NAME: &str = "veil-test-broken";

/// It starts; otherwise it does not even do that.
pub(crate) static STARTS: AtomicBool = AtomicBool::new(false);
/// How many pictures it gives before it fails.
pub(crate) static PICTURES: AtomicU64 = AtomicU64::new(0);
/// It only complains, and goes on.
pub(crate) static GOES_ON: AtomicBool = AtomicBool::new(false);

/// It hangs on its way down while this is shut.
pub(crate) static EXIT: Gate = Gate {
    shut: Mutex::new(false),
    opened: Condvar::new(),
    waiting: AtomicUsize::new(0),
};

/// Whoever comes to it waits while it is shut.
pub(crate) struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
    waiting: AtomicUsize,
}

impl Gate {
    pub(crate) fn shut(&self) {
        *self.shut.lock().unwrap() = true;
    }

    pub(crate) fn open(&self) {
        *self.shut.lock().unwrap() = false;
        self.opened.notify_all();
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    fn pass(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let shut = self.shut.lock().unwrap();
        drop(self.opened.wait_while(shut, |shut| *shut).unwrap());
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Makes it the best decoder of this process.
pub(crate) fn register() {
    gst::Element::register(None, NAME, gst::Rank::PRIMARY + 1000, Broken::static_type()).unwrap();
}

glib::wrapper! {
    pub(crate) struct Broken(ObjectSubclass<imp::Broken>) @extends gst::Element, gst::Object;
}

mod imp {
    use super::*;

    pub(crate) struct Broken {
        src: gst::Pad,
        given: AtomicU64,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Broken {
        const NAME: &'static str = "VeilTestBrokenDecoder";
        type Type = super::Broken;
        type ParentType = gst::Element;

        fn with_class(class: &Self::Class) -> Self {
            Self {
                src: gst::Pad::from_template(&class.pad_template("src").unwrap()),
                given: AtomicU64::new(0),
            }
        }
    }

    impl ObjectImpl for Broken {
        fn constructed(&self) {
            self.parent_constructed();
            let element = self.obj();
            let sink = gst::Pad::builder_from_template(&element.pad_template("sink").unwrap())
                .chain_function(|_, parent, coded| {
                    let element = parent.and_then(|parent| parent.downcast_ref::<super::Broken>());
                    element.unwrap().imp().decode(&coded)
                })
                // Its own caps, and the segment after them, are sent with the first picture.
                .event_function(|pad, parent, event| {
                    let later = [gst::EventType::Caps, gst::EventType::Segment];
                    later.contains(&event.type_()) || gst::Pad::event_default(pad, parent, event)
                })
                .build();
            element.add_pad(&sink).unwrap();
            element.add_pad(&self.src).unwrap();
        }
    }

    impl Broken {
        fn decode(&self, coded: &gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
            let given = self.given.fetch_add(1, Ordering::Relaxed);
            if given >= PICTURES.load(Ordering::Relaxed) {
                gst::element_imp_error!(self, gst::StreamError::Decode, ["the device went away"]);
                if !GOES_ON.load(Ordering::Relaxed) {
                    return Err(gst::FlowError::Error);
                }
            }
            if given == 0 {
                let caps = "video/x-raw, format=GRAY8, width=4, height=4, framerate=30/1";
                let caps = caps.parse::<gst::Caps>().unwrap();
                self.src.push_event(gst::event::Caps::new(&caps));
                let sink = self.obj().static_pad("sink").unwrap();
                let segment = sink.sticky_event::<gst::event::Segment>(0);
                self.src.push_event(segment.unwrap().to_owned());
            }
            let mut picture = gst::Buffer::with_size(16).unwrap();
            picture.get_mut().unwrap().set_pts(coded.pts());
            self.src.push(picture)
        }
    }

    impl GstObjectImpl for Broken {}

    impl ElementImpl for Broken {
        fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
            static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
                let class = "Codec/Decoder/Video/Hardware";
                gst::subclass::ElementMetadata::new("Broken", class, "Fails", "Tests")
            });
            Some(&METADATA)
        }

        fn pad_templates() -> &'static [gst::PadTemplate] {
            static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
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
            if transition == gst::StateChange::PausedToReady {
                EXIT.pass();
            }
            self.parent_change_state(transition)
        }
    }
}
