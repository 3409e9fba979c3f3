//! What a mock has seen its clients do.

use std::time::Duration;

use anyhow::Result;

use super::{Commit, Layer, Mock, Role, Surface, refresh};
use crate::screenshot::Shot;
use crate::wait::{GENEROUS, wait_for};

/// What it has seen.
impl Mock {
    /// All surfaces that are there, in the order in which they were made.
    pub fn surfaces(&self) -> Vec<Surface> {
        self.shared.look(|state| {
            let ids = state.surfaces.keys();
            ids.filter_map(|id| state.look_at(*id)).collect()
        })
    }

    /// The layer surfaces on an output that were not closed, with what was asked for them.
    pub fn layers(&self, output: &str) -> Vec<(Surface, Layer)> {
        let all = self.surfaces().into_iter();
        all.filter_map(|surface| match &surface.role {
            Role::Layer(layer) if layer.output == output && !layer.closed => {
                let layer = layer.clone();
                Some((surface, layer))
            }
            _ => None,
        })
        .collect()
    }

    /// The subsurfaces on the layer surfaces of an output: in veil's case its picture.
    pub fn parts(&self, output: &str) -> Vec<Surface> {
        let children = self
            .layers(output)
            .into_iter()
            .flat_map(|(surface, _)| surface.children);
        self.shared
            .look(|state| children.filter_map(|id| state.look_at(id)).collect())
    }

    /// All commits so far, in order.
    pub fn commits(&self) -> Vec<Commit> {
        self.shared.look(|state| state.commits.clone())
    }

    /// How many commits with a buffer there were of the subsurfaces that are on this output now.
    pub fn pictures(&self, output: &str) -> usize {
        let parts = self.parts(output);
        self.shared.look(|state| {
            let of_parts = state.commits.iter().filter(|commit| {
                matches!(commit.attached, Some(Some(_))) && parts.iter().any(|part| part.id == commit.surface)
            });
            of_parts.count()
        })
    }

    /// The times at which what was committed on an output was presented, as its clients were told, in order.
    pub fn presented(&self, output: &str) -> Vec<Duration> {
        self.shared.look(|state| {
            let answers = state.answers.iter();
            answers
                .filter(|(name, _)| name == output)
                .filter_map(|(_, time)| *time)
                .collect()
        })
    }

    /// How many commits on an output were said never to have been seen.
    pub fn discarded(&self, output: &str) -> usize {
        self.shared.look(|state| {
            let answers = state.answers.iter();
            answers
                .filter(|(name, time)| name == output && time.is_none())
                .count()
        })
    }

    /// How many `wl_buffer`s there are.
    pub fn buffers(&self) -> usize {
        self.shared.look(|state| state.buffers.len())
    }

    /// By which requests of `zwp_linux_buffer_params_v1` buffers were asked for, in order: `create` or `create_immed`.
    pub fn created(&self) -> Vec<&'static str> {
        self.shared.look(|state| state.created.clone())
    }

    /// How many `create` wait for [`Mock::answer_creations`].
    pub fn creations(&self) -> usize {
        self.shared.look(|state| state.creations.len())
    }

    /// Which globals were bound, outputs apart, with their versions, in order.
    pub fn bound(&self) -> Vec<(String, u32)> {
        self.shared.look(|state| state.bound.clone())
    }

    /// What was wrong and did not end the client.
    pub fn complaints(&self) -> Vec<String> {
        self.shared.look(|state| state.complaints.clone())
    }

    /// An upright picture of an output, drawn from what the client's memory holds now. Scaling takes the nearest pixel.
    pub fn picture(&self, output: &str) -> Result<Shot> {
        self.shared.look(|state| state.picture(output))
    }

    /// Takes pictures of an output until one satisfies `condition`, and returns it. If none does in time, the last one
    /// is kept as `target/screenshots/NAME.png`.
    pub fn wait_for_picture(
        &self,
        output: &str,
        name: &str,
        mut condition: impl FnMut(&Shot) -> bool,
    ) -> Result<Shot> {
        let mut last = None;
        let found = wait_for(&format!("the picture \"{name}\" on {output}"), GENEROUS, || {
            // An output that was just removed has no picture.
            let Ok(shot) = self.picture(output) else {
                return Ok(None);
            };
            if condition(&shot) {
                return Ok(Some(shot));
            }
            last = Some(shot);
            Ok(None)
        });
        found.map_err(|error| match last.as_ref().map(|shot| shot.keep(name)) {
            Some(Ok(path)) => error.context(format!("what it showed is in {}", path.display())),
            _ => error,
        })
    }

    /// Waits until this many more pictures than now were committed on an output.
    pub fn wait_pictures(&self, output: &str, more: usize) -> Result<()> {
        let goal = self.pictures(output) + more;
        wait_for(&format!("{more} pictures on {output}"), GENEROUS, || {
            Ok((self.pictures(output) >= goal).then_some(()))
        })
    }

    /// The presentation clock: CLOCK_MONOTONIC.
    pub fn now(&self) -> Duration {
        refresh::monotonic()
    }
}
