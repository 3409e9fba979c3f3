//! All that the mock knows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wayland_protocols::xdg::shell::server::xdg_toplevel;
use wayland_server::backend::{ClientId, GlobalId};
use wayland_server::protocol::{wl_buffer::WlBuffer, wl_surface::WlSurface};
use wayland_server::{Client, DisplayHandle};

use super::dmabuf::Dmabufs;
use super::globals::Global;
use super::node::{Handle, Node, format_of, memory_of, size_of};
use super::output::{Configures, Screen};
use super::params::Creation;
use super::record::{Commit, Role, Surface, SurfaceId};
use super::refresh::Releases;
use super::syncobj::release;

/// All that the mock knows.
#[derive(Debug)]
pub(super) struct State {
    pub(super) display: DisplayHandle,
    pub(super) clients: Vec<Client>,
    /// Clients that were ended and whose connections are still to be closed.
    pub(super) ended: Vec<ClientId>,
    pub(super) globals: Vec<(Global, GlobalId)>,
    pub(super) bound: Vec<(String, u32)>,
    /// Versions that are other than usual.
    pub(super) versions: BTreeMap<Global, u32>,
    pub(super) dmabufs: Dmabufs,
    /// What waits for [`Mock::answer_creations`](super::Mock::answer_creations).
    pub(super) creations: Vec<Creation>,
    /// By which requests buffers of dmabufs were asked for.
    pub(super) created: Vec<&'static str>,
    pub(super) screens: Vec<Screen>,
    pub(super) surfaces: BTreeMap<SurfaceId, Node>,
    pub(super) buffers: Vec<WlBuffer>,
    pub(super) commits: Vec<Commit>,
    /// What was answered to requests for presentation feedback, and on which output.
    pub(super) answers: Vec<(String, Option<Duration>)>,
    pub(super) complaints: Vec<String>,
    pub(super) releases: Releases,
    pub(super) reading: bool,
    last_surface: u32,
    /// When the clock of frame callbacks began: another than that of presentation, as the protocol allows.
    pub(super) start: Instant,
    last_serial: u32,
}

impl State {
    pub(super) fn new(display: DisplayHandle) -> Self {
        Self {
            display,
            clients: Vec::new(),
            ended: Vec::new(),
            globals: Vec::new(),
            bound: Vec::new(),
            versions: BTreeMap::new(),
            dmabufs: Dmabufs::default(),
            creations: Vec::new(),
            created: Vec::new(),
            screens: Vec::new(),
            surfaces: BTreeMap::new(),
            buffers: Vec::new(),
            commits: Vec::new(),
            answers: Vec::new(),
            complaints: Vec::new(),
            releases: Releases::default(),
            reading: true,
            last_surface: 0,
            start: Instant::now(),
            last_serial: 0,
        }
    }

    pub(super) fn serial(&mut self) -> u32 {
        self.last_serial += 1;
        self.last_serial
    }

    pub(super) fn next_surface(&mut self) -> SurfaceId {
        self.last_surface += 1;
        SurfaceId(self.last_surface)
    }

    pub(super) fn add_surface(&mut self, id: SurfaceId, resource: WlSurface) {
        self.surfaces.insert(id, Node::new(resource));
    }

    /// A surface is gone: what it had is let go.
    pub(super) fn remove_surface(&mut self, id: SurfaceId) {
        self.leave_parent(id);
        self.dmabufs.own.retain(|(known, _)| *known != id);
        let Some(node) = self.surfaces.remove(&id) else {
            return;
        };
        for feedback in node.feedback {
            // It has left its output by now: nobody counts it.
            feedback.discarded();
        }
        if self.releases != Releases::Never {
            let shown = node.buffer.map(|buffer| (buffer, node.release));
            node.held.into_iter().chain(shown).for_each(release);
        }
    }

    /// A subsurface ends: the surface stays.
    pub(super) fn leave_parent(&mut self, id: SurfaceId) {
        let Some(node) = self.surfaces.get_mut(&id) else {
            return;
        };
        if let Role::Subsurface { parent, .. } = node.role {
            node.role = Role::None;
            if let Some(parent) = self.surfaces.get_mut(&parent) {
                parent.children.retain(|child| *child != id);
            }
        }
    }

    pub(super) fn add_buffer(&mut self, buffer: WlBuffer) {
        self.buffers.push(buffer);
    }

    pub(super) fn forget_buffer(&mut self, buffer: &WlBuffer) {
        self.buffers.retain(|known| known != buffer);
        for node in self.surfaces.values_mut() {
            node.held.retain(|(known, _)| known != buffer);
        }
    }

    /// The output that a surface is on: its name.
    pub(super) fn output_of(&self, id: SurfaceId) -> Option<&str> {
        match &self.surfaces.get(&id)?.role {
            Role::Layer(layer) => Some(&layer.output),
            Role::Subsurface { parent, .. } => self.output_of(*parent),
            Role::Window { .. } => self.screens.first().map(|screen| screen.spec.name.as_str()),
            Role::None => None,
        }
    }

    /// Whether a surface can be seen: it and all above it have a buffer, and it was not closed.
    pub(super) fn is_mapped(&self, id: SurfaceId) -> bool {
        let Some(node) = self.surfaces.get(&id) else {
            return false;
        };
        node.buffer.is_some()
            && match &node.role {
                Role::Layer(layer) => !layer.closed,
                Role::Subsurface { parent, .. } => self.is_mapped(*parent),
                Role::Window { .. } => true,
                Role::None => false,
            }
    }

    /// The surfaces on an output, in the order in which they were made.
    pub(super) fn on_output(&self, name: &str) -> Vec<SurfaceId> {
        let ids = self.surfaces.keys().copied();
        ids.filter(|id| self.output_of(*id) == Some(name)).collect()
    }

    pub(super) fn screen(&self, name: &str) -> Option<&Screen> {
        self.screens.iter().find(|screen| screen.spec.name == name)
    }

    pub(super) fn screen_mut(&mut self, name: &str) -> Option<&mut Screen> {
        self.screens.iter_mut().find(|screen| screen.spec.name == name)
    }

    pub(super) fn configure_first(&mut self, id: SurfaceId) {
        let Some(screen) = self.output_of(id).and_then(|name| self.screen(name)) else {
            return;
        };
        match screen.spec.configures {
            Configures::WithSize => {
                let size = screen.spec.logical();
                self.configure(id, size);
            }
            Configures::WithZero => self.configure(id, (0, 0)),
            Configures::ThenClosed => {
                let (name, size) = (screen.spec.name.clone(), screen.spec.logical());
                self.configure(id, size);
                self.close(&name);
            }
            Configures::ByHand => {}
        }
    }

    /// Tells a surface its size.
    pub(super) fn configure(&mut self, id: SurfaceId, size: (u32, u32)) {
        self.configure_as(id, size, &[]);
    }

    /// Tells a surface its size, and a window its states.
    pub(super) fn configure_as(&mut self, id: SurfaceId, (w, h): (u32, u32), states: &[xdg_toplevel::State]) {
        let serial = self.serial();
        let Some(node) = self.surfaces.get_mut(&id) else {
            return;
        };
        match &node.handle {
            Some(Handle::Layer(layer)) => layer.configure(serial, w, h),
            Some(Handle::Window(surface, window)) => {
                // An array of numbers in the machine's order of bytes.
                let states = states.iter().flat_map(|state| (*state as u32).to_ne_bytes());
                window.configure(w as i32, h as i32, states.collect());
                surface.configure(serial);
            }
            None => return,
        }
        node.serials.push(serial);
    }

    /// A surface as the test sees it.
    pub(super) fn look_at(&self, id: SurfaceId) -> Option<Surface> {
        let node = self.surfaces.get(&id)?;
        Some(Surface {
            id,
            role: node.role.clone(),
            children: node.children.clone(),
            buffer: node.buffer.as_ref().and_then(size_of),
            memory: node.buffer.as_ref().and_then(memory_of),
            source: node.source,
            destination: node.destination,
            transform: node.transform,
            scale: node.scale,
            input: node.input.clone(),
            commits: node.commits,
            callbacks: node.callbacks.len(),
            feedback: node.feedback.len(),
            held: node.held.len(),
            format: node.buffer.as_ref().and_then(format_of),
            representation: node.representation,
            image: node.image,
            explicit: node.release.is_some(),
        })
    }
}
