//! A look at a compositor without showing anything: what it offers, whatever veil can do with that.

use crate::{
    display::{ConnectError, Display},
    globals::Shell,
    output::Output,
    surface::SurfaceId,
};
use rustix::net::sockopt::socket_peercred;
use veil_frame::DmabufSupport;
use wayland_client::{
    Connection, Dispatch, QueueHandle,
    globals::{GlobalListContents, registry_queue_init},
    protocol::wl_registry::{self, WlRegistry},
};

/// What a compositor offers.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The name of its process, where the system tells.
    pub process: Option<String>,
    /// The interfaces that it offers, with their versions, in its order; one that is there more often, once.
    pub globals: Vec<(String, u32)>,
    /// Its outputs.
    pub outputs: Vec<Output>,
    /// What surfaces take in dmabufs unless their own feedback says otherwise; `None`: nothing.
    pub dmabuf: Option<DmabufSupport>,
}

impl Survey {
    /// Looks at the compositor that the environment names. Waits for it: not for an event loop.
    ///
    /// # Errors
    /// When none answers. One that lacks what veil needs is no error.
    pub fn take() -> Result<Self, ConnectError> {
        let connection = Connection::connect_to_env()?;
        let (list, _queue) = registry_queue_init::<Looker>(&connection)?;
        let mut survey = Self {
            process: process_of(&connection),
            globals: list.contents().with_list(|list| {
                let mut globals: Vec<(String, u32)> = Vec::new();
                for global in list {
                    if globals.iter().all(|(name, _)| *name != global.interface) {
                        globals.push((global.interface.clone(), global.version));
                    }
                }
                globals
            }),
            ..Self::default()
        };
        // Without layer-shell outputs and formats are told all the same.
        let display = Display::connect().or_else(|_| Display::connect_to(None, Shell::Window));
        if let Ok(display) = display {
            let desktop = display.desktop_ref();
            survey.outputs = desktop.outputs().cloned().collect();
            survey.dmabuf = desktop.dmabuf_support(SurfaceId::Window);
        }
        Ok(survey)
    }

    /// The version of an interface that it offers.
    pub fn version(&self, interface: &str) -> Option<u32> {
        let mut all = self.globals.iter();
        all.find(|(name, _)| name == interface)
            .map(|(_, version)| *version)
    }
}

fn process_of(connection: &Connection) -> Option<String> {
    let backend = connection.backend();
    let peer = socket_peercred(backend.poll_fd()).ok()?;
    let name = std::fs::read_to_string(format!("/proc/{}/comm", peer.pid.as_raw_nonzero())).ok()?;
    Some(name.trim_end().to_owned())
}

struct Looker;

impl Dispatch<WlRegistry, GlobalListContents> for Looker {
    fn event(
        _: &mut Self,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}
