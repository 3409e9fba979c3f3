//! What clients ask for.

use super::{app::App, assignments::Spec, change::Origin};
use std::{collections::BTreeSet, time::Duration};
use veil_config::{Defaults, OutputSelector, Selectors};
use veil_frame::Rgb;
use veil_ipc::{
    Answer, Command, Response, Source,
    protocol::{Hold, PlaylistOptions},
    server::Responder,
};
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
                playlist,
                playback,
                start,
            } => {
                let said = Defaults {
                    mode,
                    background,
                    playback,
                    ..Defaults::default()
                };
                let start = start.map(|start| start.0);
                self.set((source, outputs), (said, playlist), start, responder);
            }
            Command::Next { outputs } => self.step(&outputs, 1, responder),
            Command::Previous { outputs } => self.step(&outputs, -1, responder),
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
            Command::Reload => responder.respond(self.reload()),
            Command::Subscribe => self.subscribe(responder),
        }
    }

    /// The outputs that these selectors mean; all of them for none.
    pub(super) fn resolve(&self, selectors: &[String]) -> Result<Vec<OutputId>, String> {
        let selectors = Selectors::parse(selectors).map_err(|error| error.to_string())?;
        let known = |name: &str| {
            let mut names = self.screens.keys().map(|id| self.output_name(*id));
            names.any(|output| name == output.name || name == output.description)
        };
        if let Some(missing) = selectors
            .0
            .iter()
            .filter_map(OutputSelector::exact)
            .find(|name| !known(name))
        {
            return Err(self.no_such_output(missing));
        }
        let ids = self.screens.keys().copied();
        let found: Vec<OutputId> = ids.filter(|id| selectors.select(self.output_name(*id))).collect();
        if found.is_empty() && !selectors.0.is_empty() {
            let wanted: Vec<String> = selectors.0.iter().map(ToString::to_string).collect();
            return Err(self.no_such_output(&wanted.join(" ")));
        }
        Ok(found)
    }

    /// The same, with their names for what is remembered; none for all, also those that come later.
    fn resolve_named(&self, selectors: &[String]) -> Result<(Vec<OutputId>, Vec<String>), String> {
        let outputs = self.resolve(selectors)?;
        let all = selectors
            .iter()
            .all(|selector| matches!(selector.as_str(), "*" | "all"));
        let named = match all {
            true => Vec::new(),
            false => outputs.iter().map(|id| self.name(*id)).collect(),
        };
        Ok((outputs, named))
    }

    /// The outputs that the command line speaks of, as they are named; none for all.
    pub(super) fn named_on_command_line(&self) -> Vec<String> {
        let exact = self.args.outputs.iter().filter_map(OutputSelector::exact);
        let mut named: BTreeSet<String> = exact.map(str::to_owned).collect();
        if !self.args.outputs.is_empty() {
            named.extend(self.screens.keys().map(|id| self.name(*id)));
        }
        named.into_iter().collect()
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
        (source, names): (Source, Vec<String>),
        (said, playlist): (Defaults, Option<PlaylistOptions>),
        start: Option<Duration>,
        responder: Responder,
    ) {
        let (outputs, names) = match self.resolve_named(&names) {
            Ok(found) => found,
            Err(reason) => return responder.respond(Response::error(reason)),
        };
        // What is not said stays as it is on these outputs; where they differ, as it is on the first.
        let present = outputs.iter().find_map(|id| self.screens.get(id)?.spec.clone());
        let present = present.or_else(|| self.assignments.on("").cloned());
        let present = present.map(|spec| Defaults {
            mode: Some(spec.mode),
            background: Some(spec.background),
            // How it plays was said of another video, and how it is gone through of another list.
            ..Defaults::default()
        });
        let look = said.or(present.unwrap_or_default()).or(outputs
            .first()
            .map_or(self.rules.config.defaults, |id| self.look(*id)));
        let spec = Spec {
            source,
            mode: look.mode.unwrap_or_default(),
            background: look.background.unwrap_or(Rgb::BLACK),
            playlist: playlist.unwrap_or_else(|| look.playlist()),
            playback: look.playback,
        };
        self.initial = None;
        self.begin_change_at((start, 0), spec, outputs, names, Origin::Client(responder));
    }

    fn pause(&mut self, names: &[String], pause: Pause) -> Response {
        let outputs = match self.resolve(names) {
            Ok(outputs) => outputs,
            Err(reason) => return Response::error(reason),
        };
        // Toggling brings them to one state: if any goes on, all stand still.
        let any_moving = outputs.iter().any(|id| {
            self.screens
                .get(id)
                .is_some_and(|screen| !screen.holds.contains(Hold::User))
        });
        let paused = match pause {
            Pause::On => true,
            Pause::Off => false,
            Pause::Toggle => any_moving,
        };
        self.put_hold(&outputs, Hold::User, paused);
        if paused {
            self.remember_positions();
        }
        Response::Ok(Answer::Done)
    }

    fn clear(&mut self, names: Vec<String>) -> Response {
        let (outputs, names) = match self.resolve_named(&names) {
            Ok(found) => found,
            Err(reason) => return Response::error(reason),
        };
        self.initial = None;
        self.supersede(&outputs, names.is_empty());
        let is_ruled = |id: &&OutputId| self.ruled(**id).is_some();
        let ruled: Vec<String> = outputs.iter().filter(is_ruled).map(|id| self.name(*id)).collect();
        // First: a video that belongs somewhere stays ready when it is taken away.
        self.assignments.clear(&names);
        self.rules.chosen.clear(&names, ruled);
        self.take_away(&outputs);
        for older in self.changes.values_mut() {
            older.except.extend(names.iter().cloned());
        }
        self.save();
        self.tell_summary();
        Response::Ok(Answer::Done)
    }
}
