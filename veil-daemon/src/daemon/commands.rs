//! What clients ask for.

use super::{app::App, assignments::Spec, change::Origin, screen::Feed, stream::StreamId};
use std::collections::BTreeSet;
use veil_frame::{FitMode, Rgb};
use veil_ipc::{Answer, Command, Response, Source, server::Responder};
use veil_wayland::OutputId;

/// What to do about pauses.
#[derive(Clone, Copy)]
enum Pause {
    On,
    Off,
    Toggle,
}

impl App {
    pub(super) fn command(&mut self, command: Command, responder: Responder) {
        match command {
            Command::Set {
                source,
                outputs,
                mode,
                background,
            } => {
                self.set(source, outputs, (mode, background), responder);
            }
            Command::Status => responder.respond(Response::Ok(Answer::Status(self.status()))),
            Command::Pause { outputs } => responder.respond(self.pause(&outputs, Pause::On)),
            Command::Resume { outputs } => responder.respond(self.pause(&outputs, Pause::Off)),
            Command::Toggle { outputs } => responder.respond(self.pause(&outputs, Pause::Toggle)),
            Command::Clear { outputs } => responder.respond(self.clear(outputs)),
            Command::Stop => {
                tracing::info!("ending: a client asked for it");
                responder.respond(Response::Ok(Answer::Done));
                self.stop();
            }
            Command::Outputs => responder.respond(Response::Ok(Answer::Outputs(self.outputs()))),
            Command::Seek { to, outputs } => self.seek(&outputs, to, responder),
            Command::Restore { outputs } => self.restore_all(&outputs, responder),
            Command::Dump { file, output } => self.dump(output, file, responder),
            Command::Subscribe => self.subscribe(responder),
        }
    }

    /// The outputs of these names; all of them for none.
    pub(super) fn resolve(&self, names: &[String]) -> Result<Vec<OutputId>, String> {
        if names.is_empty() {
            return Ok(self.screens.keys().copied().collect());
        }
        let mut found = BTreeSet::new();
        for name in names {
            match self.screens.keys().find(|id| self.name(**id) == *name) {
                Some(id) => {
                    found.insert(*id);
                }
                None => return Err(self.no_such_output(name)),
            }
        }
        Ok(found.into_iter().collect())
    }

    fn no_such_output(&self, name: &str) -> String {
        let known: Vec<String> = self.screens.keys().map(|id| self.name(*id)).collect();
        if known.is_empty() {
            return format!("there is no output “{name}”, nor any other at present");
        }
        format!("there is no output “{name}”; there is {}", known.join(", "))
    }

    fn set(
        &mut self,
        source: Source,
        names: Vec<String>,
        (mode, background): (Option<FitMode>, Option<Rgb>),
        responder: Responder,
    ) {
        let outputs = match self.resolve(&names) {
            Ok(outputs) => outputs,
            Err(reason) => return responder.respond(Response::error(reason)),
        };
        // What is not said stays as it is on these outputs; where they differ, as it is on the first.
        let present = outputs.iter().find_map(|id| self.screens.get(id)?.spec.clone());
        let present = present.or_else(|| self.assignments.on("").cloned());
        let mode = mode.or(present.as_ref().map(|spec| spec.mode)).or(self.args.mode);
        let background = background
            .or(present.map(|spec| spec.background))
            .or(self.args.background);
        let spec = Spec {
            source,
            mode: mode.unwrap_or_default(),
            background: background.unwrap_or(Rgb::BLACK),
        };
        self.initial = None;
        self.begin_change(spec, outputs, names, Origin::Client(responder));
    }

    fn pause(&mut self, names: &[String], pause: Pause) -> Response {
        let outputs = match self.resolve(names) {
            Ok(outputs) => outputs,
            Err(reason) => return Response::error(reason),
        };
        // Toggling brings them to one state: if any goes on, all stand still.
        let any_moving = outputs
            .iter()
            .any(|id| self.screens.get(id).is_some_and(|screen| !screen.paused));
        let paused = match pause {
            Pause::On => true,
            Pause::Off => false,
            Pause::Toggle => any_moving,
        };
        let mut streams = BTreeSet::new();
        for id in outputs {
            let Some(screen) = self.screens.get_mut(&id) else {
                continue;
            };
            screen.paused = paused;
            if let Feed::Stream(stream) = screen.feed {
                streams.insert(stream);
            }
        }
        for stream in streams {
            self.pauses_changed(stream);
        }
        if paused {
            self.remember_positions();
        }
        Response::Ok(Answer::Done)
    }

    fn pauses_changed(&mut self, stream: StreamId) {
        self.followers_changed(stream);
        let moving = self.streams.get(&stream).is_some_and(|stream| stream.running);
        self.settle_pauses(stream, moving);
    }

    fn clear(&mut self, names: Vec<String>) -> Response {
        let outputs = match self.resolve(&names) {
            Ok(outputs) => outputs,
            Err(reason) => return Response::error(reason),
        };
        self.initial = None;
        self.supersede(&outputs, names.is_empty());
        let mut left = BTreeSet::new();
        for id in outputs {
            let Some(screen) = self.screens.get_mut(&id) else {
                continue;
            };
            if let Feed::Stream(stream) = screen.feed {
                left.insert(stream);
            }
            *screen = super::screen::Screen::default();
            self.display.desktop().clear(id);
        }
        self.assignments.clear(&names);
        for older in self.changes.values_mut() {
            older.except.extend(names.iter().cloned());
        }
        self.save();
        for stream in left {
            self.followers_changed(stream);
        }
        self.close_unused_streams();
        self.tell_summary();
        Response::Ok(Answer::Done)
    }
}
