//! What a mock can be told to do.

use std::time::Duration;
use wayland_protocols::xdg::shell::server::xdg_toplevel;

use anyhow::{Context, Result, bail};
use wayland_server::Resource;
use wayland_server::backend::DisconnectReason;

use super::state::State;
use super::{Configures, Global, Mock, MockDmabuf, MockOutput, Pace, Releases, SurfaceId};

/// What it can be told to do.
impl Mock {
    /// Plugs an output in.
    pub fn plug(&self, output: MockOutput) {
        self.shared.with(|state| state.add_screen(output));
    }

    /// Pulls an output's plug: its layer surfaces are closed, then it goes. What waits for its refresh waits for ever.
    pub fn unplug(&self, output: &str) -> Result<()> {
        self.remove(output, true)
    }

    /// As [`Mock::unplug`], but nobody closes the surfaces, and the client sees only the global go.
    pub fn unplug_silently(&self, output: &str) -> Result<()> {
        self.remove(output, false)
    }

    fn remove(&self, output: &str, close: bool) -> Result<()> {
        if self.shared.with(|state| state.remove_screen(output, close)) {
            Ok(())
        } else {
            bail!("there is no output {output}")
        }
    }

    /// Changes an output, tells the clients, and, unless that is left to the test, gives its surfaces their new size.
    pub fn change(&self, output: &str, change: impl FnOnce(&mut MockOutput)) -> Result<()> {
        self.shared.with(|state| {
            let screen = state
                .screen_mut(output)
                .with_context(|| format!("there is no output {output}"))?;
            let before = screen.spec.clone();
            change(&mut screen.spec);
            let visible = |spec: &MockOutput| MockOutput {
                pace: Pace::default(),
                configures: Configures::default(),
                ..spec.clone()
            };
            if visible(&before) == visible(&screen.spec) {
                return Ok(());
            }
            screen.announce();
            for id in state.on_output(output) {
                state.tell_scale(id);
            }
            let Some(screen) = state.screen(output) else {
                return Ok(());
            };
            let (logical, by_hand) = (
                screen.spec.logical(),
                screen.spec.configures != Configures::WithSize,
            );
            if before.logical() != logical && !by_hand {
                for id in state.on_output(output) {
                    state.configure(id, logical);
                }
            }
            Ok(())
        })
    }

    /// Sends the layer surfaces and windows on an output a size, which may be 0x0.
    pub fn configure(&self, output: &str, width: u32, height: u32) {
        self.shared.with(|state| {
            for id in state.on_output(output) {
                state.configure(id, (width, height));
            }
        });
    }

    /// Makes the windows on an output fill this size, as one that the user has maximized.
    pub fn maximize(&self, output: &str, width: u32, height: u32) {
        self.shared.with(|state| {
            for id in state.on_output(output) {
                state.configure_as(id, (width, height), &[xdg_toplevel::State::Maximized]);
            }
        });
    }

    /// Closes the layer surfaces and windows on an output.
    pub fn close(&self, output: &str) {
        self.shared.with(|state| state.close(output));
    }

    /// An output shows what was committed to it, at this time of the presentation clock: frame callbacks are done,
    /// feedback is presented, buffers are released if it is their time.
    pub fn refresh(&self, output: &str, at: Duration) {
        self.shared.with(|state| state.refresh(output, at));
    }

    /// Feedback of what was committed on an output is discarded: it was never seen.
    pub fn discard(&self, output: &str) {
        self.shared.with(|state| state.discard_all(output));
    }

    /// From now on releases buffers at another time.
    pub fn set_releases(&self, releases: Releases) {
        self.shared.with(|state| state.releases = releases);
    }

    /// Releases all buffers that are not shown any more.
    pub fn release_held(&self) {
        self.shared.with(|state| {
            for id in state.surfaces.keys().copied().collect::<Vec<_>>() {
                state.release_held(id);
            }
        });
    }

    /// Takes this in dmabufs from now on, and tells everybody who has nothing of its own.
    pub fn set_dmabuf(&self, dmabuf: MockDmabuf) {
        self.shared.with(|state| state.set_dmabuf(None, dmabuf));
    }

    /// Takes this in dmabufs on one surface from now on, and tells it.
    pub fn set_surface_dmabuf(&self, surface: SurfaceId, dmabuf: MockDmabuf) {
        self.shared.with(|state| state.set_dmabuf(Some(surface), dmabuf));
    }

    /// Answers all that was asked for by `zwp_linux_buffer_params_v1.create`.
    pub fn answer_creations(&self) {
        self.shared.with(State::answer_creations);
    }

    /// Does not read its clients' requests any more, while it goes on sending; or reads again.
    pub fn set_reading(&self, reading: bool) {
        self.shared.with(|state| state.reading = reading);
    }

    /// Releases every buffer that it knows, shown or not: with [`Mock::set_reading`] false, the way to have a client go
    /// on until its socket is full.
    pub fn release_blindly(&self) {
        self.shared.with(|state| {
            for node in state.surfaces.values_mut() {
                node.held.clear();
            }
            for buffer in &state.buffers {
                buffer.release();
            }
        });
    }

    /// Offers a global.
    pub fn offer(&self, global: Global) {
        self.shared.with(|state| state.add_global(global));
    }

    /// Offers a global no longer. Objects that were made of it live on.
    pub fn withdraw(&self, global: Global) {
        self.shared.with(|state| state.remove_global(global));
    }

    /// Ends every client that has bound an output with a protocol error.
    pub fn fail(&self, message: &str) {
        self.shared.with(|state| {
            for output in state.screens.iter().flat_map(|screen| &screen.resources) {
                output.post_error(0u32, message);
                state.ended.extend(output.client().map(|client| client.id()));
            }
            state.clients.retain(|client| !state.ended.contains(&client.id()));
        });
    }

    /// Closes every client's connection without a word, as a compositor that crashed.
    pub fn disconnect(&self) {
        self.shared.with(|state| {
            let handle = state.display.backend_handle();
            for client in state.clients.drain(..) {
                handle.kill_client(client.id(), DisconnectReason::ConnectionClosed);
                state.ended.push(client.id());
            }
        });
    }
}
