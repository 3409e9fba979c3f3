//! What is on the screen: the window, or the wallpapers, and the newest picture.

use super::{Command, Settings, StandaloneError, settings::color, shared::Shared};
use crate::{VeilSink, imp::CAT};
use calloop::ping::Ping;
use gstreamer::{self as gst, glib, prelude::*};
use std::sync::Arc;
use veil_frame::{Demand, DmabufSupport, FitMode, Picture, Presentable, Size};
use veil_wayland::{Content, Display, DisplayError, Event, OutputId, Placed, SurfaceId, WindowSettings};

/// Before a window has a size, pictures are drawn in their own: no larger than they are, for something so large.
const UNSIZED: (FitMode, Size) = (FitMode::Fit, Size::new(16_384, 16_384));

/// How often in a row a surface may be taken away before it was ever configured.
const CLOSES: u32 = 3;

pub(super) struct Scene {
    pub(super) display: Display,
    settings: Settings,
    shared: Arc<Shared>,
    sink: glib::WeakRef<VeilSink>,
    newest: Option<Presentable>,
    last_token: u64,
    closes: u32,
    /// The window shows nothing yet.
    opening: bool,
}

impl Scene {
    /// Asks for the surfaces. A window is asked for when its first picture says how large it is.
    pub(super) fn new(
        display: Display,
        settings: Settings,
        ping: Ping,
        sink: glib::WeakRef<VeilSink>,
    ) -> Result<Self, StandaloneError> {
        let uses = if settings.layer.layer().is_none() {
            vec![UNSIZED]
        } else {
            Vec::new()
        };
        let mut scene = Self {
            display,
            settings,
            shared: Arc::new(Shared::new(Demand { uses }, ping)),
            sink,
            newest: None,
            last_token: 0,
            closes: 0,
            opening: false,
        };
        if let Some(name) = &scene.settings.output {
            let outputs = scene.display.desktop_ref().outputs();
            let there: Vec<String> = outputs.map(|output| output.name.clone()).collect();
            if !there.contains(name) {
                let name = name.clone();
                return Err(StandaloneError::NoOutput { name, there });
            }
        }
        // The outputs came with the connection, and what dmabufs are taken.
        scene.take_events();
        scene.demand_changed();
        Ok(scene)
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Reads what the compositor says.
    pub(super) fn pump(&mut self) -> Result<(), DisplayError> {
        self.display.pump()?;
        self.take_events();
        Ok(())
    }

    fn take_events(&mut self) {
        while let Some(event) = self.display.desktop().next_event() {
            match event {
                Event::OutputAdded(id) => self.output_added(id),
                Event::OutputChanged(id) => self.show_on(id.into()),
                Event::OutputRemoved(id) => {
                    self.shared.statistics.remove(id.into());
                    self.demand_changed();
                }
                Event::SurfaceConfigured(id, size) => {
                    gst::debug!(CAT, "{id:?} has {size} logical pixels");
                    self.closes = 0;
                    self.show_on(id);
                }
                Event::SurfaceClosed(id) => self.closed(id),
                Event::SupportChanged(_) => self.demand_changed(),
                Event::BufferRejected { format, .. } => {
                    gst::warning!(CAT, "the compositor does not take {}", crate::drm::name(format));
                }
                Event::Presented {
                    surface,
                    token,
                    shown,
                } => {
                    self.opening = false;
                    self.shared.statistics.note(surface, token, shown);
                }
            }
        }
    }

    fn wants(&self, name: &str) -> bool {
        self.settings
            .output
            .as_deref()
            .is_none_or(|wanted| wanted == name)
    }

    fn output_added(&mut self, id: OutputId) {
        let Some(layer) = self.settings.layer.layer() else {
            return;
        };
        let Some(name) = self
            .display
            .desktop_ref()
            .output(id)
            .map(|output| output.name.clone())
        else {
            return;
        };
        if !self.wants(&name) {
            return;
        }
        self.shared.statistics.add(id.into(), &name);
        let (namespace, color) = (self.settings.namespace.clone(), self.settings.color());
        self.display
            .desktop()
            .create_surface(id, layer, &namespace, color);
        self.demand_changed();
    }

    fn closed(&mut self, id: SurfaceId) {
        match id {
            SurfaceId::Window => self.lose("the window was closed"),
            SurfaceId::Wallpaper(output) => {
                self.closes += 1;
                if self.closes > CLOSES {
                    self.lose("the compositor keeps closing the wallpaper");
                } else {
                    self.output_added(output);
                }
            }
        }
    }

    /// Nothing can be shown any more: says so, once.
    pub(super) fn lose(&self, reason: &str) {
        if self.shared.lose() {
            let Some(sink) = self.sink.upgrade() else { return };
            gst::info!(CAT, obj = sink, "nothing can be shown any more: {reason}");
            gst::element_error!(sink, gst::ResourceError::NotFound, ("{reason}"));
        }
    }

    /// The surface is new, or has changed.
    fn show_on(&mut self, id: SurfaceId) {
        self.show(id);
        self.demand_changed();
    }

    fn surfaces(&self) -> impl Iterator<Item = SurfaceId> {
        let desktop = self.display.desktop_ref();
        desktop
            .outputs()
            .map(|output| SurfaceId::Wallpaper(output.id))
            .chain([SurfaceId::Window])
            .filter(|id| desktop.has_surface(*id))
    }

    fn surface(&self, index: usize) -> Option<SurfaceId> {
        self.surfaces().nth(index)
    }

    fn demand_changed(&self) {
        let desktop = self.display.desktop_ref();
        let mode = FitMode::from(self.settings.mode);
        let mut uses: Vec<_> = self
            .surfaces()
            .filter_map(|id| Some((mode, desktop.surface_pixels(id)?)))
            .collect();
        if uses.is_empty() && self.settings.layer.layer().is_none() {
            uses.push(UNSIZED);
        }
        let mut dmabuf = DmabufSupport::all(self.surfaces().map(|id| desktop.dmabuf_support(id)));
        if self.surfaces().next().is_none() && self.settings.layer.layer().is_none() {
            dmabuf = desktop.dmabuf_support(SurfaceId::Window);
        }
        if self.shared.presenter.capabilities.set(Demand { uses }, dmabuf)
            && let Some(sink) = self.sink.upgrade()
        {
            // A sink that is paused draws its picture again, in a thread of its own: that may take a while.
            sink.call_async(|sink| {
                sink.redraw();
            });
        }
    }

    /// Takes what lies in the mailbox and shows it. Whether anything lay there.
    pub(super) fn take_picture(&mut self) -> bool {
        let Some(presentable) = self.shared.presenter.mailbox.take() else {
            return false;
        };
        if self.settings.layer.layer().is_none()
            && !self.shared.is_lost()
            && !self.display.desktop_ref().has_surface(SurfaceId::Window)
        {
            self.open_window(&presentable.plan.picture);
        }
        self.newest = Some(presentable);
        self.show_everywhere();
        true
    }

    fn show_everywhere(&mut self) {
        // By number, for want of a way to show while looking: nothing is allocated on the frame's way.
        let mut index = 0;
        while let Some(id) = self.surface(index) {
            index += 1;
            self.show(id);
        }
    }

    fn open_window(&mut self, picture: &Picture) {
        let (w, h) = picture.display_size();
        let application = glib::application_name()
            .or_else(glib::prgname)
            .map_or_else(|| String::from("veilsink"), |name| name.to_string());
        let settings = WindowSettings {
            title: self.settings.title.clone().unwrap_or_else(|| application.clone()),
            app_id: glib::prgname().map_or(application, |name| name.to_string()),
            // More is no window.
            size: Size::new(
                w.round().clamp(1.0, 16_384.0) as u32,
                h.round().clamp(1.0, 16_384.0) as u32,
            ),
            fullscreen: self.settings.fullscreen,
            color: self.settings.color(),
        };
        let on = self.chosen_output();
        self.opening = true;
        self.shared.statistics.add(SurfaceId::Window, "window");
        self.display.desktop().create_window(&settings, on);
    }

    fn chosen_output(&self) -> Option<OutputId> {
        let name = self.settings.output.as_deref()?;
        let mut outputs = self.display.desktop_ref().outputs();
        outputs.find(|output| output.name == name).map(|output| output.id)
    }

    fn show(&mut self, id: SurfaceId) {
        let Some(presentable) = &self.newest else { return };
        let content = Content {
            presentable: presentable.clone(),
            mode: self.settings.mode.into(),
        };
        self.last_token += 1;
        match self.display.desktop().show(id, &content, self.last_token) {
            Ok(Placed::Committed | Placed::Held) => self.shared.statistics.committed(id, self.last_token),
            Ok(Placed::Nowhere) => {}
            Err(error) => gst::warning!(CAT, "cannot show a picture: {error}"),
        }
    }

    /// Whether a picture's turn depends on what the compositor says: the next one's, or that of a new window's first.
    pub(super) fn waits_for_compositor(&self) -> bool {
        self.opening || self.display.desktop_ref().holds_pictures()
    }

    /// A property was changed, or the end has come, which is the loop's.
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Quit => {}
            Command::Mode(mode) => {
                self.settings.mode = mode;
                self.show_everywhere();
                self.demand_changed();
            }
            Command::Background(number) => {
                self.settings.background = number;
                let mut index = 0;
                while let Some(id) = self.surface(index) {
                    index += 1;
                    if let Err(error) = self.display.desktop().set_background(id, color(number)) {
                        gst::warning!(CAT, "cannot change the background: {error}");
                    }
                }
            }
            Command::Fullscreen(fullscreen) => {
                self.settings.fullscreen = fullscreen;
                let on = self.chosen_output();
                self.display.desktop().set_fullscreen(fullscreen, on);
            }
        }
    }

    /// Takes everything off the screen.
    pub(super) fn take_down(mut self) {
        self.newest = None;
        let surfaces: Vec<_> = self.surfaces().collect();
        for id in surfaces {
            self.display.desktop().destroy_surface(id);
        }
        // The compositor may be gone; then there is nothing left to take away.
        let _ = self.display.flush();
    }
}
