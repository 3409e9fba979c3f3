//! Where videos are, remembered for the next start.
//!
//! Noted when something happens to a video anyway: it is paused or ends. Nothing is asked regularly, so a daemon that is
//! killed remembers the place of the last such moment.

use super::{app::App, screen::Feed};
use std::time::Duration;

impl App {
    /// Notes where all videos are.
    fn note_positions(&mut self) {
        for (id, screen) in &self.screens {
            let Feed::Stream(stream) = screen.feed else {
                continue;
            };
            let name = self.name(*id);
            // What is shown may be something else than what is remembered.
            if screen.spec.as_ref() != self.assignments.on(&name) {
                continue;
            }
            let playing = self
                .streams
                .get(&stream)
                .and_then(|stream| stream.playing.as_ref());
            if let Some(position) = playing.and_then(|playing| playing.player.position()) {
                self.assignments.note_position(&name, position);
            }
        }
    }

    /// Notes where all videos are, and saves it where that is news.
    pub(super) fn remember_positions(&mut self) {
        let before = self.assignments.clone();
        self.note_positions();
        if self.assignments != before {
            self.save();
        }
    }

    /// Where the video of an output is to go on; `None` is its beginning.
    pub(super) fn noted_position(&self, name: &str) -> Option<Duration> {
        self.assignments.position(name)
    }
}
