//! What clients that subscribed are told.
//!
//! Nobody who changes something tells of it. Once a round, while somebody listens, how things are is compared with what was
//! told last, and the differences are the events: so none is forgotten, and nothing is done while nobody listens.

use super::{app::App, hooks::Shown, screen::Screen};
use std::collections::BTreeMap;
use veil_ipc::{
    Response, Source,
    protocol::{Event, Hold, Kind, PlayState},
    server::{Responder, Subscriber},
};
use veil_wayland::OutputId;

/// How many may listen at once: each keeps a connection, and up to its limit of what it has not read.
const MOST: usize = 32;

/// Who listens, and what they know.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    list: Vec<Subscriber>,
    told: BTreeMap<OutputId, Told>,
}

/// What was told of an output.
#[derive(Clone, Debug, Default)]
struct Told {
    name: String,
    source: Option<Source>,
    state: PlayState,
    error: Option<String>,
}

impl Subscribers {
    /// Tells everybody, and forgets those who have gone.
    fn tell(&mut self, event: &Event) {
        self.list.retain(|subscriber| subscriber.tell(event));
    }
}

impl App {
    /// A client wants to be told of events. First it is told how things are.
    pub(super) fn subscribe(&mut self, responder: Responder) {
        self.subscribers.list.retain(Subscriber::is_connected);
        if self.subscribers.list.len() >= MOST {
            return responder.respond(Response::error(format!(
                "{MOST} clients have subscribed already, and no more can"
            )));
        }
        // The others must have been told all that this one begins with.
        self.tell_events();
        let subscriber = responder.subscribe();
        let mut known = BTreeMap::new();
        self.differences(&mut known, |event| {
            subscriber.tell(event);
        });
        self.subscribers.told = known;
        self.subscribers.list.push(subscriber);
    }

    /// Tells what has changed since the last time.
    pub(super) fn tell_events(&mut self) {
        let hook = self.rules.config.on_change.is_some();
        if self.subscribers.list.is_empty() && !hook {
            return;
        }
        let mut subscribers = std::mem::take(&mut self.subscribers);
        let mut told = std::mem::take(&mut subscribers.told);
        // An empty list takes no memory.
        let mut changed = Vec::new();
        self.differences(&mut told, |event| {
            subscribers.tell(event);
            changed.extend(shown(event).filter(|_| hook));
        });
        if subscribers.list.is_empty() && !hook {
            told.clear();
        }
        subscribers.told = told;
        self.subscribers = subscribers;
        for shown in changed {
            self.run_on_change(shown);
        }
    }

    /// Tells that the daemon ends.
    pub(super) fn tell_the_end(&mut self) {
        self.subscribers.tell(&Event::Stopping);
    }

    /// Brings `told` up to date, with an event for each difference.
    fn differences(&self, told: &mut BTreeMap<OutputId, Told>, mut tell: impl FnMut(&Event)) {
        told.retain(|id, told| {
            let stays = self.screens.contains_key(id);
            if !stays {
                let output = std::mem::take(&mut told.name);
                tell(&Event::OutputRemoved { output });
            }
            stays
        });
        for (id, screen) in &self.screens {
            let told = told.entry(*id).or_insert_with(|| {
                let name = self.name(*id);
                tell(&Event::OutputAdded { output: name.clone() });
                Told {
                    name,
                    ..Told::default()
                }
            });
            self.difference(screen, told, &mut tell);
        }
    }

    fn difference(&self, screen: &Screen, told: &mut Told, tell: &mut impl FnMut(&Event)) {
        let output = || told.name.clone();
        let (kind, state) = self.kind_and_state(screen);
        let source = screen.showing.as_ref();
        let mut state_before = told.state;
        if source != told.source.as_ref() {
            tell(&match source {
                Some(source) => Event::Wallpaper {
                    output: output(),
                    source: source.clone(),
                    kind,
                },
                None => Event::Cleared { output: output() },
            });
            told.source = source.cloned();
            state_before = PlayState::Empty;
        }
        if screen.error != told.error {
            if let Some(reason) = &screen.error {
                tell(&Event::Failed {
                    output: told.name.clone(),
                    reason: reason.as_str().into(),
                });
            }
            told.error.clone_from(&screen.error);
        }
        if state != state_before {
            let output = told.name.clone();
            match (kind, state) {
                (Kind::None, _) | (_, PlayState::Empty | PlayState::Still) => {}
                (_, PlayState::Playing) => tell(&Event::Playing { output }),
                (_, PlayState::Paused) if screen.holds.contains(Hold::User) => {
                    tell(&Event::Paused { output })
                }
                (_, PlayState::Paused | PlayState::Released) => tell(&Event::Held { output }),
            }
        }
        told.state = state;
    }
}

/// What an output shows since this event, if the event is about that.
fn shown(event: &Event) -> Option<Shown> {
    let (output, source, kind) = match event {
        Event::Wallpaper { output, source, kind } => (output, Some(source.clone()), *kind),
        Event::Cleared { output } => (output, None, Kind::None),
        _ => return None,
    };
    Some(Shown {
        output: output.clone(),
        source,
        kind,
    })
}
