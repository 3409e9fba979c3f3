//! The element's own properties: where and how it shows pictures when it stands alone.
//!
//! What decides on the connection and its surfaces may change in NULL only (`mutable-ready` means up to READY in
//! GStreamer's words, but the connection is made on the way there); the others at any time.

use crate::{
    RouteChoice,
    imp::{VeilSink, lock},
    standalone::{Command, LayerKind, Mode},
};
use gstreamer::{self as gst, glib, prelude::*};
use std::sync::LazyLock;

/// Describes them.
pub(crate) fn all() -> &'static [glib::ParamSpec] {
    static ALL: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
        vec![
            glib::ParamSpecEnum::builder_with_default("layer", LayerKind::default())
                .nick("Layer")
                .blurb("Where pictures are shown: in a window, or on a layer of the desktop (zwlr_layer_shell_v1); changes take effect in NULL")
                .mutable_ready()
                .build(),
            glib::ParamSpecString::builder("output")
                .nick("Output")
                .blurb("Name of the output to show pictures on, like DP-1; unset: all outputs, or for a window any; changes take effect in NULL")
                .mutable_ready()
                .build(),
            glib::ParamSpecEnum::builder_with_default("mode", Mode::default())
                .nick("Mode")
                .blurb("How pictures are fitted to the window or output")
                .mutable_playing()
                .build(),
            glib::ParamSpecUInt::builder("background-color")
                .nick("Background colour")
                .blurb("Colour of the parts where no picture is, and under transparent pixels, as 0xRRGGBB")
                .maximum(0xff_ff_ff)
                .default_value(0)
                .mutable_playing()
                .build(),
            glib::ParamSpecBoolean::builder("fullscreen")
                .nick("Fullscreen")
                .blurb("Whether the window fills an output")
                .default_value(false)
                .mutable_playing()
                .build(),
            glib::ParamSpecString::builder("title")
                .nick("Title")
                .blurb("Title of the window; unset: the application's name; changes take effect in NULL")
                .mutable_ready()
                .build(),
            glib::ParamSpecString::builder("namespace")
                .nick("Namespace")
                .blurb("Namespace of the layer surfaces, which compositors' rules name; changes take effect in NULL")
                .default_value(Some(crate::standalone::NAMESPACE))
                .mutable_ready()
                .build(),
            glib::ParamSpecString::builder("display")
                .nick("Display")
                .blurb("Name or path of the compositor's socket; unset: the one that WAYLAND_DISPLAY names; changes take effect in NULL")
                .mutable_ready()
                .build(),
            glib::ParamSpecEnum::builder_with_default("route", RouteChoice::default())
                .nick("Route")
                .blurb("How frames get to the compositor; an error where the one that is named cannot be taken; changes take effect in NULL")
                .mutable_ready()
                .build(),
            glib::ParamSpecString::builder("device")
                .nick("Device")
                .blurb("The GPU that converts, by a part of its name or its render node; unset: VEIL_DEVICE, or the compositor's. A device that is the CPU is taken only when it is named; changes take effect in NULL")
                .mutable_ready()
                .build(),
            glib::ParamSpecBoxed::builder::<gst::Structure>("frame-stats")
                .nick("Frame statistics")
                .blurb("Counts of frames since the element was made, and of what was shown on each surface since NULL")
                .read_only()
                .build(),
        ]
    });
    &ALL
}

impl VeilSink {
    /// Sets one of [`all`].
    pub(crate) fn set_property_by_name(&self, name: &str, value: &glib::Value) {
        // The type was checked against the description.
        fn get<'a, T: glib::value::FromValue<'a>>(value: &'a glib::Value) -> Option<T>
        where
            T::Checker: glib::value::ValueTypeChecker<Error = glib::value::ValueTypeMismatchError>,
        {
            value.get().ok()
        }
        let mut settings = lock(&self.settings);
        let told = match name {
            "layer" => {
                settings.layer = get(value).unwrap_or_default();
                None
            }
            "output" => {
                settings.output = get::<Option<String>>(value)
                    .flatten()
                    .filter(|name| !name.is_empty());
                None
            }
            "title" => {
                settings.title = get::<Option<String>>(value).flatten();
                None
            }
            "namespace" => {
                let given = get::<Option<String>>(value).flatten();
                settings.namespace = given.unwrap_or_else(|| String::from(crate::standalone::NAMESPACE));
                None
            }
            "display" => {
                settings.display = get::<Option<String>>(value)
                    .flatten()
                    .filter(|name| !name.is_empty());
                None
            }
            "device" => {
                settings.device = get::<Option<String>>(value)
                    .flatten()
                    .filter(|name| !name.is_empty());
                None
            }
            "route" => {
                settings.route = get(value).unwrap_or_default();
                None
            }
            "mode" => {
                settings.mode = get(value).unwrap_or_default();
                Some(Command::Mode(settings.mode))
            }
            "background-color" => {
                settings.background = get(value).unwrap_or_default();
                Some(Command::Background(settings.background))
            }
            "fullscreen" => {
                settings.fullscreen = get(value).unwrap_or_default();
                Some(Command::Fullscreen(settings.fullscreen))
            }
            _ => None,
        };
        drop(settings);
        if let (Some(command), Some(standalone)) = (told, &*lock(&self.standalone)) {
            standalone.tell(command);
        }
    }

    /// Reads one of [`all`].
    pub(crate) fn property_by_name(&self, name: &str) -> glib::Value {
        let settings = lock(&self.settings);
        match name {
            "layer" => settings.layer.to_value(),
            "output" => settings.output.to_value(),
            "mode" => settings.mode.to_value(),
            "route" => settings.route.to_value(),
            "device" => settings.device.to_value(),
            "background-color" => settings.background.to_value(),
            "fullscreen" => settings.fullscreen.to_value(),
            "title" => settings.title.to_value(),
            "namespace" => settings.namespace.to_value(),
            "display" => settings.display.to_value(),
            // The only one left.
            _ => self.frame_stats().to_value(),
        }
    }

    /// What became of the frames. Times are nanoseconds.
    pub(crate) fn frame_stats(&self) -> gst::Structure {
        let sink = self.stats().snapshot();
        let surfaces = lock(&self.standalone)
            .as_ref()
            .map(|standalone| standalone.stats());
        let surfaces = surfaces.unwrap_or_default().into_iter().map(|surface| {
            let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            let mut structure = gst::Structure::builder("surface")
                .field("name", surface.name)
                .field("shown", surface.shown)
                .field("missed", surface.missed);
            if let Some((mean, longest)) = surface.intervals {
                structure = structure
                    .field("mean-interval", nanoseconds(mean))
                    .field("longest-interval", nanoseconds(longest));
            }
            structure.build().to_send_value()
        });
        gst::Structure::builder("frame-stats")
            .field("received", sink.received)
            .field("submitted", sink.submitted)
            .field("late", sink.late)
            .field("no-target", sink.no_target)
            .field("replaced", sink.replaced)
            .field("unseen", sink.unseen)
            .field("bytes-written", sink.bytes)
            .field("surfaces", gst::Array::from_values(surfaces))
            .build()
    }
}
