//! A wallpaper on its way to the screen: from the request until its picture was presented, or cannot be.
//!
//! Until its first picture is there, what was on the screen stays. The request is answered, and the state saved, when
//! every output has presented it; where none can, when it was committed or stored, after a moment's wait.

use super::{assignments::Spec, restoring::Restoration, stream::StreamId};
use crate::media::playlist::Cursor;
use calloop::RegistrationToken;
use std::{collections::BTreeMap, rc::Rc, sync::Arc, time::Duration};
use veil_ipc::{Source, server::Responder};
use veil_wayland::OutputId;

/// How long a committed picture may take until somebody presents it. An output that is on takes one refresh.
pub(crate) const PRESENT_WITHIN: Duration = Duration::from_secs(2);

/// Names a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChangeId(pub(crate) u64);

/// Where a change comes from.
pub(crate) enum Origin {
    /// A client asked for it, and waits.
    Client(Responder),
    /// The command line of the daemon.
    CommandLine,
    /// What was shown before.
    Restored,
    /// The same, and a client waits for it.
    RestoredFor(Rc<Restoration>),
}

/// How far it is.
pub(crate) enum Stage {
    /// The media worker looks at the file.
    Loading,
    /// It is on these outputs; the first commit on each, if its surface could take one.
    Presenting(BTreeMap<OutputId, Option<u64>>),
}

/// A wallpaper on its way to the screen.
pub(crate) struct Change {
    /// What is to be shown.
    pub(crate) spec: Spec,
    /// The outputs that it is for.
    pub(crate) outputs: Vec<OutputId>,
    /// The outputs as they were named; none is all.
    pub(crate) named: Vec<String>,
    /// Names of outputs for which something newer was noted meanwhile.
    pub(crate) except: Vec<String>,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// Where it is in its list, should it be one.
    pub(crate) cursor: Cursor,
    /// Steps from there; 0 is none.
    pub(crate) steps: i64,
    /// Which one of a list it turned out to be.
    pub(crate) picked: Option<Cursor>,
    /// Lets whoever loads it see that it is still wanted.
    pub(crate) wanted: Arc<()>,
    /// Where a video begins, if not at its beginning.
    pub(crate) position: Option<Duration>,
    /// The stream that was made for it, in case that the file is one.
    pub(crate) stream: StreamId,
    /// How far it is.
    pub(crate) stage: Stage,
    /// Ends the wait for the screen.
    pub(crate) timer: Option<RegistrationToken>,
}

impl Change {
    /// Whether somebody asks for it, so that it does not just come back.
    pub(crate) fn is_wanted(&self) -> bool {
        // Another one of a list does not undo a pause.
        !matches!(self.origin, Origin::Restored) && self.steps == 0
    }

    /// What the outputs get to see: what was asked for, or one of that list.
    pub(crate) fn showing(&self) -> &Source {
        let picked = self.picked.as_ref().and_then(Cursor::current);
        picked.unwrap_or(&self.spec.source)
    }

    /// A commit was made on an output.
    pub(crate) fn committed(&mut self, output: OutputId, token: u64) {
        if let Stage::Presenting(waiting) = &mut self.stage
            && let Some(first @ None) = waiting.get_mut(&output)
        {
            *first = Some(token);
        }
    }

    /// A commit was presented. True if that was the last output that was waited for.
    pub(crate) fn presented(&mut self, output: OutputId, token: u64) -> bool {
        let Stage::Presenting(waiting) = &mut self.stage else {
            return false;
        };
        match waiting.get(&output) {
            Some(Some(first)) if token >= *first => {
                waiting.remove(&output);
                waiting.is_empty()
            }
            _ => false,
        }
    }

    /// This output is not waited for any more. True if that was the last one that was.
    pub(crate) fn forget(&mut self, output: OutputId) -> bool {
        self.outputs.retain(|id| *id != output);
        match &mut self.stage {
            Stage::Loading => false,
            Stage::Presenting(waiting) => waiting.remove(&output).is_some() && waiting.is_empty(),
        }
    }
}
