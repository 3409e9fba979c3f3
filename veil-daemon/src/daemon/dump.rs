//! `dump`: the picture that an output shows, for whoever makes colours or a lock screen of it.

use super::app::{App, Done};
use crate::media::dump::{Dump, DumpError};
use veil_frame::Size;
use veil_ipc::{Answer, Response, WirePath, server::Responder};

/// Names a dump until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DumpId(u64);

impl App {
    /// Has the picture of an output written, and answers then.
    pub(super) fn dump(&mut self, output: Option<String>, file: WirePath, responder: Responder) {
        let outputs = match self.resolve(output.as_slice()) {
            Ok(outputs) => outputs,
            Err(reason) => return responder.respond(Response::error(reason)),
        };
        let found = outputs.iter().find_map(|id| {
            let screen = self.screens.get(id)?;
            let size = self.display.desktop_ref().output(*id)?.pixels;
            (!size.is_empty()).then_some((screen.content.clone()?, size, screen.spec.as_ref()?.background))
        });
        let Some((content, output, background)) = found else {
            let reason = match output {
                Some(name) => format!("{name} shows no picture"),
                None => "no output shows a picture".to_owned(),
            };
            return responder.respond(Response::error(reason));
        };
        let id = DumpId(self.next_number());
        self.dumps.insert(id, responder);
        let dump = Dump {
            content,
            output,
            background,
            file: file.0,
        };
        self.loading.submit(
            move || Done::Dumped(id, dump.run().map_err(|error: DumpError| error.to_string())),
            move |reason| Done::Dumped(id, Err(reason)),
        );
    }

    /// It was written, or cannot be.
    pub(super) fn dumped(&mut self, id: DumpId, result: Result<Size, String>) {
        let Some(responder) = self.dumps.remove(&id) else {
            return;
        };
        responder.respond(match result {
            Ok(size) => Response::Ok(Answer::Dump {
                size: (size.w, size.h),
            }),
            Err(reason) => Response::error(reason),
        });
    }
}
