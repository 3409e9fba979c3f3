//! Commits: pending changes come into force, at once or with the parent's.

use std::time::Instant;

use wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_surface_v1;
use wayland_server::{Client, Resource};

use super::node::{Changes, Handle, memory_of, size_of};
use super::record::{Commit, Role, SurfaceId};
use super::refresh::Releases;
use super::state::State;
use super::syncobj::release;

impl State {
    /// `wl_surface.commit`.
    pub(super) fn commit(&mut self, id: SurfaceId) {
        let waits = self.is_synchronised(id);
        self.check_points(id);
        let Some(node) = self.surfaces.get_mut(&id) else {
            return;
        };
        node.commits += 1;
        let changes = std::mem::take(&mut node.pending);
        self.commits.push(Commit {
            at: Instant::now(),
            surface: id,
            attached: changes
                .buffer
                .as_ref()
                .map(|buffer| buffer.as_ref().and_then(size_of)),
            memory: changes
                .buffer
                .as_ref()
                .and_then(|buffer| memory_of(buffer.as_ref()?)),
            damage: changes.damage.clone(),
            source: changes.source,
            destination: changes.destination,
            transform: changes.transform,
            callbacks: changes.callbacks.len(),
            feedback: changes.feedback.len(),
            waits,
        });
        if waits {
            if let Some(replaced) = node.cached.merge(changes) {
                node.held.push(replaced);
            }
        } else {
            self.apply(id, changes);
        }
        self.after_commit(id);
    }

    /// Brings changes into force, and with them what the subsurfaces have committed.
    fn apply(&mut self, id: SurfaceId, changes: Changes) {
        let Some(node) = self.surfaces.get_mut(&id) else {
            return;
        };
        // Another content came before this one was on the screen.
        let superseded = std::mem::take(&mut node.feedback);
        node.feedback = changes.feedback;
        node.callbacks.extend(changes.callbacks);
        if let Some(buffer) = changes.buffer {
            if let Some(buffer) = &buffer
                && node.held.iter().any(|(held, _)| held == buffer)
            {
                self.complaints.push(format!(
                    "surface {}: a buffer is shown again before it was released",
                    id.0
                ));
                node.held.retain(|(held, _)| held != buffer);
            }
            let replaced = std::mem::replace(&mut node.buffer, buffer);
            let point = std::mem::replace(&mut node.release, changes.points.release);
            let replaced = replaced.filter(|replaced| Some(replaced) != node.buffer.as_ref());
            node.held.extend(replaced.map(|replaced| (replaced, point)));
        }
        node.transform = changes.transform.unwrap_or(node.transform);
        node.scale = changes.scale.unwrap_or(node.scale);
        node.source = changes.source.unwrap_or(node.source);
        node.destination = changes.destination.unwrap_or(node.destination);
        node.representation = changes.representation.unwrap_or(node.representation);
        node.image = changes.image.unwrap_or(node.image);
        if let Some(input) = changes.input {
            node.input = input;
        }
        self.discard(id, superseded);
        self.check(id);
        self.check_representation(id);
        if self.releases == Releases::WhenReplaced {
            self.release_held(id);
        }
        let children = self
            .surfaces
            .get(&id)
            .map(|node| node.children.clone())
            .unwrap_or_default();
        for child in children {
            let Some(node) = self.surfaces.get_mut(&child) else {
                continue;
            };
            if let (Role::Subsurface { position, .. }, Some(next)) =
                (&mut node.role, node.next_position.take())
            {
                *position = next;
            }
            if let Role::Subsurface {
                synchronised: true, ..
            } = node.role
            {
                let cached = std::mem::take(&mut node.cached);
                if !cached.is_empty() {
                    self.apply(child, cached);
                }
            }
        }
    }

    /// `wl_subsurface.set_desync`: what it had committed comes into force.
    pub(super) fn desynchronise(&mut self, id: SurfaceId) {
        let Some(node) = self.surfaces.get_mut(&id) else {
            return;
        };
        if let Role::Subsurface { synchronised, .. } = &mut node.role {
            *synchronised = false;
        }
        if !self.is_synchronised(id)
            && let Some(node) = self.surfaces.get_mut(&id)
        {
            let cached = std::mem::take(&mut node.cached);
            if !cached.is_empty() {
                self.apply(id, cached);
            }
        }
    }

    fn is_synchronised(&self, id: SurfaceId) -> bool {
        match self.surfaces.get(&id).map(|node| &node.role) {
            Some(Role::Subsurface {
                parent, synchronised, ..
            }) => *synchronised || self.is_synchronised(*parent),
            _ => false,
        }
    }

    pub(super) fn release_held(&mut self, id: SurfaceId) {
        if let Some(node) = self.surfaces.get_mut(&id) {
            node.held.drain(..).for_each(release);
        }
    }

    /// The rules whose breach ends a client on a real compositor.
    fn check(&mut self, id: SurfaceId) {
        let Some(node) = self.surfaces.get(&id) else {
            return;
        };
        if let (Some(Handle::Layer(layer)), Some(_), false) = (&node.handle, &node.buffer, node.acknowledged)
        {
            layer.post_error(
                zwlr_layer_surface_v1::Error::InvalidSurfaceState,
                "a buffer was committed before the first configure was acknowledged",
            );
        }
        if let (Some(_), Some((w, h))) = (&node.buffer, node.content_size())
            && let Some([x, y, width, height]) = node.source
        {
            let inside = x >= 0.0 && y >= 0.0 && x + width <= f64::from(w) && y + height <= f64::from(h);
            if !inside {
                let text = format!("out_of_buffer: {:?} of {w}x{h}", node.source);
                self.complaints.push(text.clone());
                node.resource
                    .post_error(wayland_server::protocol::wl_surface::Error::InvalidSize, text);
            }
        }
    }

    /// A surface that is seen for the first time hears on which output it is.
    fn enter(&mut self, id: SurfaceId) {
        let outputs = self.output_of(id).and_then(|name| self.screen(name));
        let outputs = outputs.map(|screen| screen.resources.clone()).unwrap_or_default();
        if !self.is_mapped(id) {
            return;
        }
        let Some(node) = self.surfaces.get_mut(&id).filter(|node| !node.entered) else {
            return;
        };
        node.entered = true;
        let client = |resource: Option<Client>| resource.map(|client| client.id());
        for output in outputs {
            if client(output.client()) == client(node.resource.client()) {
                node.resource.enter(&output);
            }
        }
    }

    fn after_commit(&mut self, id: SurfaceId) {
        self.enter(id);
        let Some(node) = self.surfaces.get(&id) else {
            return;
        };
        // The first commit of a layer surface or window, without a buffer, asks for its size.
        let first =
            node.handle.is_some() && node.serials.is_empty() && !node.acknowledged && node.buffer.is_none();
        if first {
            self.configure_first(id);
        }
    }
}
