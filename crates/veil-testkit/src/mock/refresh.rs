//! When an output shows what was committed: frame callbacks, presentation feedback, releases.

use std::time::{Duration, Instant};

use wayland_protocols::wp::presentation_time::server::{
    wp_presentation::{self, WpPresentation},
    wp_presentation_feedback::{self, Kind, WpPresentationFeedback},
};
use wayland_server::backend::ClientId;
use wayland_server::protocol::wl_output::WlOutput;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::output::Screen;
use super::record::SurfaceId;
use super::state::State;
use super::surface::surface_id;

/// When an output shows what was committed to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// At the refreshes of its mode, as a real one. The times that it tells are exact multiples of its period.
    #[default]
    Clock,
    /// Only when the test calls [`Mock::refresh`](super::Mock::refresh). Until then frame callbacks and feedback wait,
    /// as on an output that is off.
    ByHand,
    /// As [`Pace::Clock`], but feedback is `discarded`, and frame callbacks wait: also a way to be off.
    Discard,
    /// As [`Pace::Clock`], but frame callbacks wait until another pace.
    Silent,
    /// As [`Pace::Clock`], but feedback is `discarded` while frame callbacks come: what wlroots before 0.16 does on headless
    /// outputs.
    Deny,
}

/// When buffers that are not shown any more are given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Releases {
    /// At the output's next refresh, as with scan-out.
    #[default]
    AtRefresh,
    /// When another one replaces it.
    WhenReplaced,
    /// Not before the test calls [`Mock::release_held`](super::Mock::release_held).
    Never,
}

/// The refreshes of one output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    anchor: Instant,
    anchor_time: Duration,
    last: u64,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            anchor: Instant::now(),
            anchor_time: monotonic(),
            last: 0,
        }
    }
}

/// The presentation clock.
pub(super) fn monotonic() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn period(screen: &Screen) -> Duration {
    // An output without a rate still has to refresh somehow.
    let mhz = if screen.spec.refresh_mhz == 0 {
        60_000
    } else {
        screen.spec.refresh_mhz
    };
    Duration::from_nanos(1_000_000_000_000 / u64::from(mhz))
}

impl State {
    /// Lets outputs refresh whose time has come; says when the next one's will.
    pub(super) fn tick(&mut self) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let names: Vec<String> = self
            .screens
            .iter()
            .map(|screen| screen.spec.name.clone())
            .collect();
        for name in names {
            if !self.waits(&name) {
                continue;
            }
            let Some(screen) = self.screen_mut(&name) else {
                continue;
            };
            if screen.spec.pace == Pace::ByHand {
                continue;
            }
            let (period, clock) = (period(screen), &mut screen.clock);
            let passed = (clock.anchor.elapsed().as_nanos() / period.as_nanos()) as u64;
            if passed > clock.last {
                clock.last = passed;
                let time = clock.anchor_time + period * u32::try_from(passed).unwrap_or(u32::MAX);
                self.refresh(&name, time);
            } else {
                let due = clock.anchor + period * u32::try_from(clock.last + 1).unwrap_or(u32::MAX);
                next = Some(next.map_or(due, |next| next.min(due)));
            }
        }
        next
    }

    /// Whether a refresh of this output would tell anybody anything.
    fn waits(&self, name: &str) -> bool {
        let Some(screen) = self.screen(name) else {
            return false;
        };
        let told = |id: &SurfaceId| {
            self.surfaces.get(id).is_some_and(|node| {
                let shown = self.is_mapped(*id);
                let silent = matches!(screen.spec.pace, Pace::Discard | Pace::Silent);
                let callbacks = !node.callbacks.is_empty() && !silent;
                let released = !node.held.is_empty() && self.releases == Releases::AtRefresh;
                (shown && (callbacks || !node.feedback.is_empty())) || released
            })
        };
        self.on_output(name).iter().any(told)
    }

    /// An output shows what was committed to it, at this time of the presentation clock.
    pub(super) fn refresh(&mut self, name: &str, time: Duration) {
        let Some(screen) = self.screen(name) else { return };
        let (pace, refresh) = (screen.spec.pace, period(screen).as_nanos() as u32);
        let outputs = screen.resources.clone();
        for id in self.on_output(name) {
            let mapped = self.is_mapped(id);
            if let Some(node) = self.surfaces.get_mut(&id).filter(|_| mapped) {
                if !matches!(pace, Pace::Discard | Pace::Silent) {
                    for callback in node.callbacks.drain(..) {
                        callback.done(self.start.elapsed().as_millis() as u32);
                    }
                }
                let asked = std::mem::take(&mut node.feedback);
                if matches!(pace, Pace::Discard | Pace::Deny) {
                    self.discard(id, asked);
                } else {
                    for feedback in asked {
                        present(&feedback, &outputs, time, refresh);
                        self.answers.push((name.into(), Some(time)));
                    }
                }
            }
            if self.releases == Releases::AtRefresh {
                self.release_held(id);
            }
        }
    }

    /// These were never seen.
    pub(super) fn discard(&mut self, id: SurfaceId, asked: Vec<WpPresentationFeedback>) {
        let output = self.output_of(id).unwrap_or_default().to_owned();
        for feedback in asked {
            feedback.discarded();
            self.answers.push((output.clone(), None));
        }
    }

    /// What is committed on this output is never seen.
    pub(super) fn discard_all(&mut self, name: &str) {
        for id in self.on_output(name) {
            if let Some(node) = self.surfaces.get_mut(&id) {
                let asked = std::mem::take(&mut node.feedback);
                self.discard(id, asked);
            }
        }
    }
}

fn present(feedback: &WpPresentationFeedback, outputs: &[WlOutput], time: Duration, refresh: u32) {
    let client = |resource: Option<Client>| resource.map(|client| client.id());
    for output in outputs {
        if client(output.client()) == client(feedback.client()) {
            feedback.sync_output(output);
        }
    }
    let seconds = time.as_secs();
    feedback.presented(
        (seconds >> 32) as u32,
        seconds as u32,
        time.subsec_nanos(),
        refresh,
        0,
        0,
        Kind::Vsync,
    );
}

impl Dispatch<WpPresentation, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        _: &WpPresentation,
        request: wp_presentation::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let wp_presentation::Request::Feedback { surface, callback } = request {
            let feedback = init.init(callback, ());
            if let Some(node) = state.surfaces.get_mut(&surface_id(&surface)) {
                node.pending.feedback.push(feedback);
            }
        }
    }
}

impl Dispatch<WpPresentationFeedback, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WpPresentationFeedback,
        _: wp_presentation_feedback::Request,
        (): &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }

    fn destroyed(state: &mut Self, _: ClientId, feedback: &WpPresentationFeedback, (): &()) {
        for node in state.surfaces.values_mut() {
            node.feedback.retain(|known| known != feedback);
        }
    }
}
