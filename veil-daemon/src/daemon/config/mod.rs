//! The configuration, while the daemon runs: what it wants on each output, and what happens when it changes.
//!
//! The command line goes before the configuration, and the configuration before what is remembered. What a client sets goes before
//! all of them, until the daemon ends or the configuration wants something else for that output than before.

mod chosen;
mod watch;

pub(super) use watch::ConfigWatch;

use super::{
    app::App,
    assignments::Spec,
    change::Origin,
    screen::{Feed, Screen},
};
use crate::config::{ConfigError, ConfigFile};
use chosen::Chosen;
use std::collections::{BTreeMap, BTreeSet};
use veil_config::{Config, Defaults, OutputName, Selectors};
use veil_frame::Rgb;
use veil_ipc::{Answer, Response};
use veil_wayland::OutputId;

/// What the configuration says, and what has been chosen since.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// Where it stands; `None` where no variable leads to it.
    pub(super) file: Option<ConfigFile>,
    pub(super) config: Config,
    /// Outputs whose wallpaper was set or cleared in this run.
    pub(super) chosen: Chosen,
}

impl Rules {
    /// The configuration at the start. One that is wrong does not keep the daemon from starting, unless it was named.
    pub(super) fn at_start(file: Option<ConfigFile>) -> Result<Self, ConfigError> {
        let config = match file.as_ref().map(ConfigFile::load) {
            None => Config::default(),
            Some(Ok(config)) => config,
            Some(Err(error)) if file.as_ref().is_some_and(|file| file.named) => return Err(error),
            Some(Err(error)) => {
                warn_of(&error);
                tracing::warn!("going on as if there were no configuration");
                Config::default()
            }
        };
        Ok(Self {
            file,
            config,
            chosen: Chosen::default(),
        })
    }
}

/// Each problem is a line of its own in the log.
fn warn_of(error: &ConfigError) {
    for line in error.to_string().lines() {
        tracing::warn!("{line}");
    }
}

impl App {
    /// What an output is called; empty when it is gone.
    pub(super) fn output_name(&self, id: OutputId) -> OutputName<'_> {
        let output = self.display.desktop_ref().output(id);
        OutputName {
            name: output.map_or("", |output| &output.name),
            description: output.map_or("", |output| &output.description),
        }
    }

    /// Whether an output is to have a wallpaper at all.
    pub(super) fn is_wanted(&self, id: OutputId) -> bool {
        let name = self.output_name(id);
        if self.args.outputs.is_empty() {
            self.rules.config.outputs.select(name)
        } else {
            // The list of the command line is short, and this is asked when an output comes.
            Selectors(self.args.outputs.clone()).select(name)
        }
    }

    /// How a wallpaper is shown on an output, if it does not say itself.
    pub(super) fn look(&self, id: OutputId) -> Defaults {
        let said = Defaults {
            mode: self.args.mode,
            background: self.args.background,
            playback: self.args.playback,
            ..Defaults::default()
        };
        said.or(self.rules.config.look(self.output_name(id)))
    }

    /// What the configuration wants on an output.
    pub(super) fn ruled(&self, id: OutputId) -> Option<Spec> {
        let source = self.rules.config.source(self.output_name(id))?;
        let look = self.look(id);
        Some(Spec {
            source: source.clone(),
            mode: look.mode.unwrap_or_default(),
            background: look.background.unwrap_or(Rgb::BLACK),
            playlist: look.playlist(),
            playback: look.playback,
        })
    }

    /// What belongs on an output.
    pub(super) fn wanted_on(&self, id: OutputId) -> Option<Spec> {
        if self.initial.is_some() {
            return self.initial.clone();
        }
        let name = self.output_name(id).name;
        let ruled = match self.rules.chosen.contains(name) {
            true => None,
            false => self.ruled(id),
        };
        ruled.or_else(|| self.assignments.on(name).cloned())
    }

    /// Reads the configuration anew because a client asks for it.
    pub(super) fn reload(&mut self) -> Response {
        match self.read_config() {
            Ok(()) => Response::Ok(Answer::Done),
            Err(error) => Response::error(error.to_string()),
        }
    }

    /// Reads the configuration anew because it has changed.
    pub(super) fn config_changed(&mut self) {
        if let Err(error) = self.read_config() {
            warn_of(&error);
            tracing::warn!("keeping the configuration as it was before");
        }
    }

    fn read_config(&mut self) -> Result<(), ConfigError> {
        let Some(file) = &self.rules.file else {
            return Ok(());
        };
        let config = file.load()?;
        if config != self.rules.config {
            tracing::info!("the configuration has changed");
            self.apply(config);
        }
        Ok(())
    }

    /// From now on this is the configuration.
    fn apply(&mut self, config: Config) {
        let ids: Vec<OutputId> = self
            .display
            .desktop_ref()
            .outputs()
            .map(|output| output.id)
            .collect();
        let before: BTreeMap<OutputId, Option<Spec>> = ids.iter().map(|id| (*id, self.ruled(*id))).collect();
        let release_changed = self.rules.config.holds.release_after != config.holds.release_after;
        self.rules.config = config;
        if release_changed {
            self.release_time_changed();
        }
        for id in ids {
            match (self.screens.contains_key(&id), self.is_wanted(id)) {
                (true, false) => {
                    self.output_removed(id);
                    self.display.desktop().destroy_surface(id);
                }
                (false, true) => self.output_added(id),
                (true, true) if before.get(&id) != Some(&self.ruled(id)) => self.follow_rule(id),
                _ => {}
            }
        }
        self.tell_summary();
    }

    /// The configuration wants something else on an output than before.
    fn follow_rule(&mut self, id: OutputId) {
        let name = self.name(id);
        self.rules.chosen.remove(&name);
        let shown = self.screens.get(&id).and_then(|screen| screen.spec.as_ref());
        match self.wanted_on(id) {
            Some(wanted) if Some(&wanted) != shown => {
                self.begin_change(wanted, vec![id], vec![name], Origin::Restored);
            }
            Some(_) => {}
            None => self.take_away(&[id]),
        }
    }

    /// Takes the wallpaper from these outputs.
    pub(super) fn take_away(&mut self, outputs: &[OutputId]) {
        let mut left = BTreeSet::new();
        for id in outputs {
            let Some(screen) = self.screens.get_mut(id) else {
                continue;
            };
            if let Feed::Stream(stream) = screen.feed {
                left.insert(stream);
            }
            *screen = Screen::default();
            self.display.desktop().clear(*id);
        }
        for stream in left {
            self.followers_changed(stream);
        }
        self.close_unused_streams();
    }
}
