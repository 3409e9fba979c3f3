//! Outputs: what a test says of them, and `wl_output` and `zxdg_output_v1`.

use wayland_protocols::xdg::xdg_output::zv1::server::{
    zxdg_output_manager_v1::{self, ZxdgOutputManagerV1},
    zxdg_output_v1::{self, ZxdgOutputV1},
};
use wayland_server::backend::{ClientId, GlobalId};
use wayland_server::protocol::wl_output::{self, WlOutput};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use super::refresh::{Clock, Pace};
use super::state::State;

/// How new layer surfaces and windows get their first size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Configures {
    /// The output's logical size, at once.
    #[default]
    WithSize,
    /// 0x0, at once: the client may choose.
    WithZero,
    /// The output's logical size, and then it is closed at once.
    ThenClosed,
    /// Only when the test calls [`Mock::configure`](super::Mock::configure).
    ByHand,
}

/// An output of a [`Mock`](super::Mock), with all its properties free to be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct MockOutput {
    /// The connector's name.
    pub name: String,
    /// The text for people.
    pub description: String,
    /// Pixels of its mode, before its transform; `None`: it says nothing of a mode, as nested and virtual outputs may.
    pub mode: Option<(u32, u32)>,
    /// Refresh rate of the mode in mHz.
    pub refresh_mhz: u32,
    /// Its scale. `wl_output.scale` says the next whole number.
    pub scale: f64,
    /// A number of `wl_output.transform`.
    pub transform: u32,
    /// How surfaces on it get their first size.
    pub configures: Configures,
    /// When it shows what was committed.
    pub pace: Pace,
}

impl MockOutput {
    /// One of this mode, at 60 Hz, scale 1, that behaves.
    pub fn new(name: &str, width: u32, height: u32) -> Self {
        Self {
            name: name.into(),
            description: format!("Mock {name}"),
            mode: Some((width, height)),
            refresh_mhz: 60_000,
            scale: 1.0,
            transform: 0,
            configures: Configures::default(),
            pace: Pace::default(),
        }
    }

    /// With another refresh rate, in Hz.
    pub fn hertz(mut self, hertz: f64) -> Self {
        self.refresh_mhz = (hertz * 1000.0).round() as u32;
        self
    }

    /// With another scale.
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// With another transform, a number of `wl_output.transform`.
    pub fn transform(mut self, transform: u32) -> Self {
        self.transform = transform;
        self
    }

    /// With another way to tell sizes.
    pub fn configures(mut self, configures: Configures) -> Self {
        self.configures = configures;
        self
    }

    /// With another pace.
    pub fn pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }

    /// Width and height of an upright picture of it. 1280x720 logical pixels if it has no mode.
    pub fn pixels(&self) -> (u32, u32) {
        let scaled = |logical: f64| (logical * self.scale).round() as u32;
        let (w, h) = self.mode.unwrap_or((scaled(1280.0), scaled(720.0)));
        if self.transform % 2 == 1 && self.mode.is_some() {
            (h, w)
        } else {
            (w, h)
        }
    }

    /// Its size in logical pixels, as sway computes it: rounded down.
    pub fn logical(&self) -> (u32, u32) {
        let (w, h) = self.pixels();
        let scaled = |pixels: u32| (f64::from(pixels) / self.scale) as u32;
        (scaled(w), scaled(h))
    }
}

/// An output that is there.
#[derive(Debug)]
pub(super) struct Screen {
    pub(super) spec: MockOutput,
    pub(super) global: GlobalId,
    pub(super) resources: Vec<WlOutput>,
    pub(super) xdg: Vec<ZxdgOutputV1>,
    pub(super) clock: Clock,
}

impl Screen {
    /// Tells everybody all about it.
    pub(super) fn announce(&self) {
        for xdg in &self.xdg {
            describe_logical(&self.spec, xdg);
        }
        for output in &self.resources {
            describe(&self.spec, output);
        }
    }
}

fn describe(spec: &MockOutput, output: &WlOutput) {
    let transform = wl_output::Transform::try_from(spec.transform).unwrap_or(wl_output::Transform::Normal);
    output.geometry(
        0,
        0,
        300,
        200,
        wl_output::Subpixel::Unknown,
        "veil".into(),
        "mock".into(),
        transform,
    );
    if let Some((w, h)) = spec.mode {
        output.mode(
            wl_output::Mode::Current,
            w as i32,
            h as i32,
            spec.refresh_mhz as i32,
        );
    }
    if output.version() >= 2 {
        output.scale(spec.scale.ceil() as i32);
    }
    if output.version() >= 4 {
        output.name(spec.name.clone());
        output.description(spec.description.clone());
    }
    if output.version() >= 2 {
        output.done();
    }
}

fn describe_logical(spec: &MockOutput, xdg: &ZxdgOutputV1) {
    let (w, h) = spec.logical();
    xdg.logical_position(0, 0);
    xdg.logical_size(w as i32, h as i32);
    if xdg.version() < 3 {
        xdg.done();
    }
}

/// The name of an output, as the data of its global and its objects.
#[derive(Clone, Debug)]
pub(super) struct Named(pub(super) String);

impl GlobalDispatch<WlOutput, Named> for State {
    fn bind(
        state: &mut Self,
        _: &DisplayHandle,
        _: &Client,
        resource: New<WlOutput>,
        name: &Named,
        init: &mut DataInit<'_, Self>,
    ) {
        let output = init.init(resource, name.clone());
        // A client may bind what has just gone: then the object never says anything.
        if let Some(screen) = state.screen_mut(&name.0) {
            describe(&screen.spec, &output);
            screen.resources.push(output);
        }
    }
}

impl Dispatch<WlOutput, Named> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WlOutput,
        _: wl_output::Request,
        _: &Named,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }

    fn destroyed(state: &mut Self, _: ClientId, output: &WlOutput, _: &Named) {
        for screen in &mut state.screens {
            screen.resources.retain(|known| known != output);
        }
    }
}

impl Dispatch<ZxdgOutputManagerV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &ZxdgOutputManagerV1,
        request: zxdg_output_manager_v1::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let zxdg_output_manager_v1::Request::GetXdgOutput { id, output } = request {
            let xdg = init.init(id, ());
            let screen = output.data::<Named>().and_then(|name| state.screen_mut(&name.0));
            if let Some(screen) = screen {
                describe_logical(&screen.spec, &xdg);
                if output.version() >= 2 {
                    output.done();
                }
                screen.xdg.push(xdg);
            }
        }
    }
}

impl Dispatch<ZxdgOutputV1, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &ZxdgOutputV1,
        _: zxdg_output_v1::Request,
        (): &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }

    fn destroyed(state: &mut Self, _: ClientId, xdg: &ZxdgOutputV1, (): &()) {
        for screen in &mut state.screens {
            screen.xdg.retain(|known| known != xdg);
        }
    }
}
