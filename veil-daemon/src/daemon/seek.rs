//! `seek`: going to a place in a video.

use super::{
    app::{App, Done},
    screen::Feed,
};
use std::{collections::BTreeSet, sync::Arc, time::Instant};
use veil_ipc::{Answer, Response, protocol::SeekTo, server::Responder};
use veil_playback::Player;

/// Names a seek until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeekId(u64);

impl App {
    /// Goes to a place in the videos of these outputs, and answers when the pictures of that place are there.
    pub(super) fn seek(&mut self, names: &[String], to: SeekTo, responder: Responder) {
        let outputs = match self.resolve(names) {
            Ok(outputs) => outputs,
            Err(reason) => return responder.respond(Response::error(reason)),
        };
        let mut streams = BTreeSet::new();
        for output in &outputs {
            match self.screens.get(output).map(|screen| screen.feed) {
                Some(Feed::Stream(stream)) => {
                    streams.insert(stream);
                }
                Some(Feed::Released { .. }) => {
                    let name = self.name(*output);
                    let reason = format!(
                        "the video on {name} has stood still for long, and is not open; resume it first"
                    );
                    return responder.respond(Response::error(reason));
                }
                // Among all outputs it is enough that some show a video.
                _ if names.is_empty() => {}
                _ => {
                    let reason = format!("{} shows no video", self.name(*output));
                    return responder.respond(Response::error(reason));
                }
            }
        }
        let players: Vec<Arc<Player>> = streams
            .iter()
            .filter_map(|stream| self.streams.get(stream)?.playing.as_ref())
            .map(|playing| Arc::clone(&playing.player))
            .collect();
        if players.is_empty() {
            return responder.respond(Response::error("no output shows a video"));
        }
        for screen in self.screens.values_mut() {
            if matches!(screen.feed, Feed::Stream(stream) if streams.contains(&stream)) {
                screen.stats.presented.interrupted();
            }
        }
        let id = SeekId(self.next_number());
        self.seeks.insert(id, responder);
        self.control.submit(
            move || Done::Sought(id, go(&players, to)),
            move |reason| Done::Sought(id, Err(reason)),
        );
    }

    /// The pictures of the place are in the mailboxes, or never will be.
    pub(super) fn sought(&mut self, id: SeekId, result: Result<f64, String>) {
        self.take_pictures(Instant::now());
        let Some(responder) = self.seeks.remove(&id) else {
            return;
        };
        responder.respond(match result {
            Ok(position) => Response::Ok(Answer::Seek { position }),
            Err(reason) => Response::error(reason),
        });
    }
}

/// Goes there; gives the place of the first, in seconds. May block.
fn go(players: &[Arc<Player>], to: SeekTo) -> Result<f64, String> {
    let mut first = None;
    for player in players {
        if player.is_still() {
            return Err("it is a single picture and has no places to go to".to_owned());
        }
        let position = player.position().unwrap_or_default();
        let place = to
            .place(position, player.duration())
            .map_err(|error| error.to_string())?;
        player.seek_and_wait(place).map_err(|error| error.to_string())?;
        let now = player.position().unwrap_or(place);
        first.get_or_insert(now.as_secs_f64());
    }
    Ok(first.unwrap_or_default())
}
