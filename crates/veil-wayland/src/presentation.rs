//! When a commit was on the screen.
//!
//! `wp_presentation` tells: each commit that should be known about asks for one feedback object, which answers once,
//! `presented` with a time of the presentation clock, or `discarded`. Not every compositor's answers are true: wlroots
//! before 0.16 discards every one of a headless output. There the frame callback must do, which is sent once the
//! compositor has drawn the surface. So both are asked for until the first `presented`, which settles it; or until
//! answers were `discarded` after the callback had come, several times, which settles it the other way. A surface that is
//! destroyed takes the answer with it. And since a nested wlroots of that age answers now truly, now falsely, belief is lost
//! again when nothing seems to be presented any more.

use crate::{
    desktop::{Desktop, Event},
    surface::SurfaceId,
};
use smithay_client_toolkit::dispatch2::Dispatch2;
use std::time::Duration;
use veil_frame::Shown;
use wayland_client::{
    Connection, QueueHandle,
    protocol::wl_callback::{self, WlCallback},
};
use wayland_protocols::wp::presentation_time::client::{
    wp_presentation::{self, WpPresentation},
    wp_presentation_feedback::{self, WpPresentationFeedback},
};

/// How often a discarded commit must have been drawn before feedback is not believed.
const CONTRADICTIONS: u8 = 4;

/// How many commits in a row may be discarded before callbacks are asked, too.
const DISCARDS: u8 = 8;

/// Whose word counts on one surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Witness {
    /// Not known yet: both are asked.
    Both {
        /// How often feedback denied what a callback had said.
        contradictions: u8,
        /// The newest commit that a callback has vouched for.
        drawn: u64,
        /// Feedback was believed once, and is not any more.
        relapsed: bool,
    },
    /// Feedback answers truly.
    Feedback {
        /// How often in a row it was `discarded`.
        discards: u8,
    },
    /// Only callbacks are to be had.
    Callbacks,
}

impl Witness {
    pub(crate) fn new(has_presentation: bool) -> Self {
        if has_presentation {
            Self::Both {
                contradictions: 0,
                drawn: 0,
                relapsed: false,
            }
        } else {
            Self::Callbacks
        }
    }

    pub(crate) fn asks_feedback(self) -> bool {
        self != Self::Callbacks
    }

    pub(crate) fn asks_callback(self) -> bool {
        !matches!(self, Self::Feedback { .. })
    }

    /// A callback came; whether it counts.
    fn drawn(&mut self, token: u64) -> bool {
        match self {
            Self::Both { drawn, .. } => {
                *drawn = token;
                true
            }
            Self::Feedback { .. } => false,
            Self::Callbacks => true,
        }
    }

    /// Feedback says that a commit was on the screen; whether that is news.
    fn presented(&mut self, token: u64) -> bool {
        let known = matches!(self, Self::Both { drawn, .. } if *drawn >= token);
        match self {
            Self::Both {
                contradictions,
                relapsed: true,
                ..
            } => *contradictions = 0,
            _ => *self = Self::Feedback { discards: 0 },
        }
        !known
    }

    /// Feedback says that a commit never was on the screen; whether that counts.
    fn discarded(&mut self, token: u64) -> bool {
        match self {
            Self::Both { drawn, .. } if *drawn < token => true,
            Self::Both { contradictions, .. } => {
                *contradictions += 1;
                if *contradictions >= CONTRADICTIONS {
                    tracing::debug!(
                        "the compositor denies having presented what it drew; frame callbacks count instead"
                    );
                    *self = Self::Callbacks;
                }
                false
            }
            Self::Feedback { discards } => {
                *discards += 1;
                if *discards >= DISCARDS {
                    *self = Self::Both {
                        contradictions: 0,
                        drawn: 0,
                        relapsed: true,
                    };
                }
                true
            }
            Self::Callbacks => false,
        }
    }
}

/// The global has nothing to tell veil: times are only compared with each other.
#[derive(Debug)]
pub(crate) struct PresentationGlobal;

/// Which commit an answer is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) surface: SurfaceId,
    pub(crate) token: u64,
}

impl Asked {
    fn tell(self, desktop: &mut Desktop, shown: Shown) {
        desktop.push(Event::Presented {
            surface: self.surface,
            token: self.token,
            shown,
        });
    }
}

impl Dispatch2<WpPresentation, Desktop> for PresentationGlobal {
    fn event(
        &self,
        _: &mut Desktop,
        _: &WpPresentation,
        _: wp_presentation::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
    }
}

impl Dispatch2<WpPresentationFeedback, Desktop> for Asked {
    fn event(
        &self,
        desktop: &mut Desktop,
        _: &WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        let Some(witness) = desktop.witness(self.surface) else {
            return;
        };
        match event {
            wp_presentation_feedback::Event::Presented {
                tv_sec_hi,
                tv_sec_lo,
                tv_nsec,
                ..
            } if witness.presented(self.token) => {
                let seconds = u64::from(tv_sec_hi) << 32 | u64::from(tv_sec_lo);
                self.tell(desktop, Shown::At(Duration::new(seconds, tv_nsec)));
            }
            wp_presentation_feedback::Event::Discarded if witness.discarded(self.token) => {
                self.tell(desktop, Shown::Never);
            }
            _ => {}
        }
    }
}

impl Dispatch2<WlCallback, Desktop> for Asked {
    fn event(
        &self,
        desktop: &mut Desktop,
        _: &WlCallback,
        event: wl_callback::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        let wl_callback::Event::Done { callback_data } = event else {
            return;
        };
        if desktop
            .witness(self.surface)
            .is_some_and(|witness| witness.drawn(self.token))
        {
            // Milliseconds of a clock that is not named.
            self.tell(desktop, Shown::Drawn(Duration::from_millis(callback_data.into())));
        }
        desktop.answered(self.surface, self.token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_feedback_is_believed_and_tells_nothing_twice() {
        let mut witness = Witness::new(true);
        assert!(witness.asks_feedback() && witness.asks_callback());
        assert!(witness.drawn(1), "until then the callback counts");
        assert!(!witness.presented(1), "the callback has told that");
        assert!(!witness.asks_callback() && witness.asks_feedback());
        assert!(!witness.drawn(2) && witness.presented(2) && witness.discarded(3));
    }

    #[test]
    fn false_feedback_is_not_asked_any_more() {
        let mut witness = Witness::new(true);
        for token in 1..=u64::from(CONTRADICTIONS) {
            assert!(witness.asks_feedback() && witness.drawn(token));
            assert!(!witness.discarded(token));
        }
        assert_eq!(witness, Witness::Callbacks);
        assert!(!witness.asks_feedback() && witness.drawn(9));
    }

    #[test]
    fn belief_is_lost_when_nothing_is_presented_any_more() {
        let mut witness = Witness::new(true);
        assert!(witness.presented(1));
        for token in 2..2 + u64::from(DISCARDS) {
            assert!(!witness.asks_callback() && witness.discarded(token));
        }
        assert!(witness.asks_callback() && witness.asks_feedback());
        assert!(witness.drawn(20) && !witness.presented(20) && witness.asks_callback());
    }

    #[test]
    fn what_was_never_drawn_is_missed() {
        let mut witness = Witness::new(true);
        assert!(witness.drawn(1) && witness.discarded(2));
        assert_eq!(Witness::new(false), Witness::Callbacks);
    }
}
