//! `restore`: what is remembered is shown again.

use super::{app::App, change::Origin, screen::Feed};
use std::{cell::RefCell, rc::Rc};
use veil_ipc::{Answer, Response, server::Responder};
use veil_wayland::OutputId;

/// The right to answer a `restore`, shared by the changes that it began; the last one to end answers.
pub(crate) struct Restoration {
    responder: Option<Responder>,
    failures: RefCell<Vec<String>>,
}

impl Restoration {
    /// For this client.
    pub(super) fn new(responder: Responder) -> Self {
        Self {
            responder: Some(responder),
            failures: RefCell::default(),
        }
    }

    /// One of the changes has ended so.
    pub(super) fn ended(&self, response: Response) {
        if let Response::Error { reason } = response {
            self.failures.borrow_mut().push(reason.to_string());
        }
    }
}

impl Drop for Restoration {
    fn drop(&mut self) {
        let failures = self.failures.borrow();
        if let Some(responder) = self.responder.take() {
            responder.respond(match failures.as_slice() {
                [] => Response::Ok(Answer::Done),
                failures => Response::error(failures.join("; ")),
            });
        }
    }
}

impl App {
    /// Shows what is remembered on these outputs, where that is not what they show.
    pub(super) fn restore_all(&mut self, names: &[String], responder: Responder) {
        let outputs = match self.resolve(names) {
            Ok(outputs) => outputs,
            Err(reason) => return responder.respond(Response::error(reason)),
        };
        let all: Vec<String> = outputs.iter().map(|id| self.name(*id)).collect();
        self.assignments.bring_back(names, &all);
        for name in &all {
            self.rules.chosen.restore(name);
        }
        self.save();
        if self.initial.is_none()
            && !outputs.is_empty()
            && outputs.iter().all(|id| self.wanted_on(*id).is_none())
        {
            return responder.respond(Response::error("no wallpaper is remembered"));
        }
        let restoration = Rc::new(Restoration::new(responder));
        let behind: Vec<OutputId> = outputs.into_iter().filter(|id| self.is_behind(*id)).collect();
        for id in behind {
            self.restore_for(id, Origin::RestoredFor(Rc::clone(&restoration)));
        }
    }

    fn is_behind(&self, id: OutputId) -> bool {
        let wanted = self.wanted_on(id);
        self.screens.get(&id).is_some_and(|screen| {
            let shows = matches!(
                screen.feed,
                Feed::Still { .. } | Feed::Stream(_) | Feed::Released { .. } | Feed::Ended
            );
            wanted.is_some() && (!shows || screen.spec != wanted)
        })
    }
}
