//! What the compositor's events mean: outputs come, change and go, surfaces get their sizes, commits reach the screen.

use super::{
    app::{App, Done},
    assignments::Spec,
    change::Origin,
    privacy::without_name,
    screen::{Feed, Screen},
};
use crate::media::load::{Drawing, LoadError, draw_again};
use drm_fourcc::DrmFormat;
use veil_frame::{FitMode, Presentable, Rgb, Shown};
use veil_ipc::Source;
use veil_wayland::{Content, Event, Layer, OutputId, SurfaceId};

/// The layer surfaces' namespace; documented, since compositors' rules name it.
pub(crate) const NAMESPACE: &str = "veil-wallpaper";

/// How often in a row a surface may be taken away before anything was seen on it.
const CLOSES: u32 = 3;

impl App {
    pub(super) fn desktop_event(&mut self, event: Event) {
        match event {
            Event::OutputAdded(id) => self.output_added(id),
            Event::OutputChanged(id) => {
                self.revive_surface(id);
                self.output_changed(id);
            }
            Event::OutputRemoved(id) => self.output_removed(id),
            Event::SurfaceConfigured(SurfaceId::Wallpaper(id), size) => {
                tracing::debug!("{}: the surface has {size} logical pixels", self.name(id));
                self.output_changed(id);
            }
            Event::SurfaceClosed(SurfaceId::Wallpaper(id)) => self.surface_closed(id),
            Event::Presented {
                surface: SurfaceId::Wallpaper(id),
                token,
                shown,
            } => self.presented(id, token, shown),
            Event::SupportChanged(SurfaceId::Wallpaper(id)) => self.support_changed(id),
            Event::BufferRejected { surface, format } => self.buffer_rejected(surface, format),
            // The daemon makes no window.
            Event::SurfaceConfigured(SurfaceId::Window, _)
            | Event::SurfaceClosed(SurfaceId::Window)
            | Event::SupportChanged(SurfaceId::Window)
            | Event::Presented {
                surface: SurfaceId::Window,
                ..
            } => {}
        }
    }

    /// The compositor takes other dmabufs on this output than before.
    fn support_changed(&mut self, id: OutputId) {
        if let Some(Feed::Stream(stream)) = self.screens.get(&id).map(|screen| &screen.feed) {
            let stream = *stream;
            self.followers_changed(stream);
        }
    }

    /// The compositor refused a buffer that it should take. It is another change of what is taken, which is told too.
    fn buffer_rejected(&mut self, surface: SurfaceId, format: DrmFormat) {
        if let SurfaceId::Wallpaper(id) = surface {
            tracing::warn!(
                "{}: the compositor does not take dmabufs of {} with modifier {:#x}, which it had listed; going on without",
                self.name(id),
                format.code,
                u64::from(format.modifier)
            );
        }
    }

    /// The output's name; its number if it is gone.
    pub(super) fn name(&self, id: OutputId) -> String {
        match self.display.desktop_ref().output(id) {
            Some(output) => output.name.clone(),
            None => format!("output {}", id.0),
        }
    }

    pub(super) fn output_added(&mut self, id: OutputId) {
        if !self.is_wanted(id) {
            return;
        }
        let name = self.name(id);
        self.meet_monitor(id);
        tracing::info!("{name}: output appeared");
        self.screens.insert(id, Screen::default());
        let background = self.wanted_on(id).map_or(Rgb::BLACK, |spec| spec.background);
        self.make_surface(id, background);
    }

    /// What is remembered for a monitor goes with it to another connector.
    fn meet_monitor(&mut self, id: OutputId) {
        let desktop = self.display.desktop_ref();
        let Some(output) = desktop.output(id) else { return };
        let own = monitor(&output.name, &output.description);
        let elsewhere = |name: &str| {
            let mut others = desktop.outputs().filter(|other| other.name == name);
            !others.any(|other| monitor(&other.name, &other.description) == own)
        };
        self.assignments.meet(&output.name, own, elsewhere);
    }

    pub(super) fn output_removed(&mut self, id: OutputId) {
        let Some(screen) = self.screens.remove(&id) else {
            return;
        };
        tracing::info!("an output vanished; {} left", self.screens.len());
        let finished: Vec<_> = self
            .changes
            .iter_mut()
            .filter_map(|(number, change)| change.forget(id).then_some(*number))
            .collect();
        for number in finished {
            let somewhere = self
                .changes
                .get(&number)
                .is_some_and(|change| !change.outputs.is_empty());
            if somewhere {
                self.finish_change(number);
            } else {
                // It was the last one, and has never shown it.
                self.store_change(number, "the output is gone");
            }
        }
        self.arm_playlists();
        // Its wallpaper stays ready, standing still, until the output is back or gets another.
        if let Feed::Stream(stream) = screen.feed {
            self.followers_changed(stream);
        }
    }

    fn surface_closed(&mut self, id: OutputId) {
        let name = self.name(id);
        let Some(screen) = self.screens.get_mut(&id) else {
            return;
        };
        screen.closes += 1;
        if screen.closes > CLOSES {
            tracing::warn!(
                "{name}: the compositor keeps closing the surface; giving up until the output or its wallpaper changes"
            );
            return;
        }
        tracing::info!("{name}: the compositor closed the surface; making it again");
        let background = screen.spec.as_ref().map_or(Rgb::BLACK, |spec| spec.background);
        self.make_surface(id, background);
    }

    fn make_surface(&mut self, id: OutputId, background: Rgb) {
        self.display
            .desktop()
            .create_surface(id, Layer::Background, NAMESPACE, background);
    }

    /// Asks once more for a surface that the compositor kept closing.
    pub(super) fn revive_surface(&mut self, id: OutputId) {
        if let Some(screen) = self.screens.get_mut(&id) {
            screen.closes = 0;
            let background = screen.spec.as_ref().map_or(Rgb::BLACK, |spec| spec.background);
            self.make_surface(id, background);
        }
    }

    /// Its size, scale or surface is another than before.
    fn output_changed(&mut self, id: OutputId) {
        let Some(screen) = self.screens.get(&id) else {
            return;
        };
        match screen.feed {
            Feed::Nothing => self.restore(id),
            Feed::Still { .. } => {
                self.show(id);
                self.redraw_if_resized(id);
            }
            Feed::Stream(stream) => {
                self.show(id);
                self.followers_changed(stream);
            }
            Feed::Failed | Feed::Ended | Feed::Released { .. } => {
                self.show(id);
            }
        }
    }

    /// Shows what belongs on an output that shows nothing yet.
    pub(super) fn restore(&mut self, id: OutputId) {
        self.restore_for(id, Origin::Restored);
    }

    /// The same, for whoever wants it.
    pub(super) fn restore_for(&mut self, id: OutputId, origin: Origin) {
        if self.changes.values().any(|change| change.outputs.contains(&id)) {
            return;
        }
        if self.display.desktop_ref().surface_size(id).is_none() {
            return;
        }
        let Some(spec) = self.wanted_on(id) else {
            return;
        };
        if self.initial.is_some() {
            self.begin_change(spec, vec![id], self.named_on_command_line(), Origin::CommandLine);
            return;
        }
        let name = self.name(id);
        let cursor = self.cursor(&spec, &origin);
        let showing = cursor.current().unwrap_or(&spec.source);
        let position = self.assignments.position(&name, showing);
        self.begin_change_at((position, 0), spec, vec![id], vec![name], origin);
    }

    fn presented(&mut self, id: OutputId, token: u64, shown: Shown) {
        if let Some(screen) = self.screens.get_mut(&id) {
            screen.stats.presented.note(token, shown);
            if shown != Shown::Never {
                // Not when it is configured: a compositor may do so and close it all the same, for ever.
                screen.closes = 0;
            }
        }
        if shown == Shown::Never {
            return;
        }
        let finished: Vec<_> = self
            .changes
            .iter_mut()
            .filter_map(|(number, change)| change.presented(id, token).then_some(*number))
            .collect();
        for change in finished {
            self.finish_change(change);
        }
    }

    /// Has the still picture of an output drawn again, if it was drawn for another size.
    pub(super) fn redraw_if_resized(&mut self, id: OutputId) {
        let Some(pixels) = self.display.desktop_ref().output(id).map(|output| output.pixels) else {
            return;
        };
        let Some(Screen {
            feed: Feed::Still { drawn_for },
            spec: Some(spec),
            showing: Some(showing),
            ..
        }) = self.screens.get(&id)
        else {
            return;
        };
        if *drawn_for != pixels && !pixels.is_empty() {
            self.draw_again(id, spec.clone(), showing.clone());
        }
    }

    /// Has a still picture drawn for the present size of an output. Until then the compositor stretches the old one.
    fn draw_again(&mut self, id: OutputId, spec: Spec, source: Source) {
        let Some(size) = self.display.desktop_ref().output(id).map(|output| output.pixels) else {
            return;
        };
        let drawing = Drawing {
            size,
            mode: spec.mode,
            background: spec.background,
        };
        self.loading.submit(
            move || {
                let drawn = draw_again(&source, drawing);
                Done::Redrawn(id, (spec, source), drawing, drawn)
            },
            |reason| Done::Broken(None, reason),
        );
    }

    pub(super) fn redrawn(
        &mut self,
        id: OutputId,
        (spec, source): (&Spec, &Source),
        drawing: Drawing,
        result: Result<Presentable, LoadError>,
    ) {
        let pixels = self.display.desktop_ref().output(id).map(|output| output.pixels);
        let Some(screen) = self.screens.get_mut(&id) else {
            return;
        };
        // Meanwhile it may show something else, or have another size again.
        let current = matches!(screen.feed, Feed::Still { .. }) && {
            screen.spec.as_ref() == Some(spec) && screen.showing.as_ref() == Some(source)
        };
        if !current || pixels != Some(drawing.size) {
            return;
        }
        match result {
            Ok(presentable) => {
                screen.feed = Feed::Still {
                    drawn_for: drawing.size,
                };
                self.show_content(
                    id,
                    Content {
                        presentable,
                        mode: FitMode::Stretch,
                    },
                );
            }
            Err(error) => {
                let reason = error.to_string();
                tracing::warn!(
                    "keeping the picture at its former size: {}",
                    without_name(&reason, source)
                );
                screen.error = Some(reason);
            }
        }
    }
}

/// What an output's description says of the monitor alone: wlroots adds the connector's name in brackets.
fn monitor<'a>(name: &str, description: &'a str) -> &'a str {
    let connector = |rest: &'a str| rest.strip_suffix(')')?.strip_suffix(name)?.strip_suffix('(');
    connector(description).map_or(description, str::trim_end)
}
