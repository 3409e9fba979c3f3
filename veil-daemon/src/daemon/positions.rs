//! Where videos are, remembered for the next start.
//!
//! Noted when something happens to a video anyway: it is paused or ends. Nothing is asked regularly, so a daemon that is
//! killed remembers the place of the last such moment.

use super::{app::App, screen::Feed};

impl App {
    /// Notes where all videos are.
    fn note_positions(&mut self) {
        for (id, screen) in &self.screens {
            let position = match screen.feed {
                Feed::Stream(stream) => {
                    let stream = self.streams.get(&stream);
                    let playing = stream.and_then(|stream| stream.playing.as_ref());
                    playing.and_then(|playing| playing.player.position())
                }
                Feed::Released { position } => position,
                _ => continue,
            };
            // What is shown may be something else than what belongs there.
            if screen.spec.is_none() || screen.spec != self.wanted_on(*id) {
                continue;
            }
            let Some(showing) = &screen.showing else { continue };
            let name = self.name(*id);
            if let Some(position) = position {
                self.assignments.note_position(&name, showing, position);
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
}
