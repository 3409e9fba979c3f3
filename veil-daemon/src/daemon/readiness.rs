//! When starting is over: the socket listens, and what can be shown is shown.
//!
//! That is at once where there is no output, or nothing to show. A wallpaper that cannot be shown is no reason to wait, and
//! one that takes very long, or an output that never says its size, is not waited for without end: whoever waits for veil
//! is the session.

use super::{app::App, screen::Feed};
use calloop::{
    RegistrationToken,
    timer::{TimeoutAction, Timer},
};
use std::time::Duration;

/// How long the wallpapers may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether starting is over.
#[derive(Debug, Default)]
pub(super) enum Readiness {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    /// Something is on its way to the screen; this ends the wait.
    Starting(RegistrationToken),
    /// It is, and was told.
    Ready,
}

impl App {
    /// Tells the service manager when starting is over. In every round; costs nothing once it was told.
    pub(super) fn tell_readiness(&mut self) {
        if matches!(self.readiness, Readiness::Ready) {
            return;
        }
        if !self.notify.is_wanted() || self.is_settled() {
            self.ready();
        } else if matches!(self.readiness, Readiness::Unknown) {
            let limit = Timer::from_duration(PATIENCE);
            let over = |_, (): &mut (), app: &mut Self| {
                // This very timer: it removes itself.
                app.readiness = Readiness::Unknown;
                app.ready();
                TimeoutAction::Drop
            };
            match self.handle.insert_source(limit, over) {
                Ok(timer) => self.readiness = Readiness::Starting(timer),
                Err(error) => {
                    tracing::error!("no timer: {error}");
                    self.ready();
                }
            }
        }
    }

    fn ready(&mut self) {
        if let Readiness::Starting(timer) = std::mem::replace(&mut self.readiness, Readiness::Ready) {
            self.handle.remove(timer);
        }
        self.notify.ready(&self.summary());
    }

    /// Tells the service manager what is shown, after that has changed.
    pub(super) fn tell_summary(&self) {
        if matches!(self.readiness, Readiness::Ready) && self.notify.is_wanted() {
            self.notify.status(&self.summary());
        }
    }

    /// Whether nothing is on its way to the screen, nor about to be.
    fn is_settled(&self) -> bool {
        let waits = self.screens.iter().any(|(id, screen)| {
            screen.feed == Feed::Nothing && screen.error.is_none() && self.wanted_on(*id).is_some()
        });
        self.changes.is_empty() && !waits
    }

    /// What is shown, without names: the journal keeps it.
    fn summary(&self) -> String {
        let shown = self
            .screens
            .values()
            .filter(|screen| screen.feed != Feed::Nothing);
        match self.screens.len() {
            _ if self.away.is_some() => "waiting for the compositor".to_owned(),
            0 => "no output".to_owned(),
            all => format!("wallpaper on {} of {all} outputs", shown.count()),
        }
    }
}
