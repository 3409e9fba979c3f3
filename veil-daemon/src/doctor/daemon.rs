//! The daemon of this session, if it runs, and what it remembers.

use super::report::Section;
use crate::{config::ConfigFile, daemon::assignments::StateFile};
use serde_json::json;
use std::time::Duration;
use veil_ipc::{Answer, Client, ClientError, Command, Location, Response};

/// How long it may take for its answer, which it has at hand.
const LIMIT: Duration = Duration::from_secs(5);

/// Looks at it.
pub(super) fn look(section: &mut Section) {
    if let Err(error) = StateFile::locate().and_then(|file| file.load()) {
        section.broken(error.to_string());
    }
    if let Some(Err(error)) = ConfigFile::locate(None).map(|file| file.load()) {
        section.broken(error.to_string());
    }
    let location = match Location::from_env() {
        Ok(location) => location,
        Err(error) => return section.broken(error.to_string()),
    };
    let asked = Client::connect(&location).and_then(|mut client| client.request(&Command::Status, LIMIT));
    let status = match asked {
        Ok(Response::Ok(Answer::Status(status))) => status,
        Ok(Response::Ok(_)) => {
            return section
                .broken("the daemon answers something else than it was asked: is it of another version?");
        }
        Ok(Response::Error { reason }) => return section.broken(reason.as_str()),
        Err(error @ ClientError::NotRunning { .. }) => {
            section.facts(json!({ "running": false }));
            return section.note(error.to_string());
        }
        Err(error) => return section.broken(error.to_string()),
    };
    let own = env!("CARGO_PKG_VERSION");
    section.ok(format!("veil {} runs (pid {})", status.version, status.pid));
    if status.version != own {
        section.note(format!("this program is veil {own}: start the daemon anew"));
    }
    for output in &status.outputs {
        let route = match (&output.route, &output.route_reason) {
            (Some(route), Some(reason)) => format!(", route {route} ({reason})"),
            (Some(route), None) => format!(", route {route}"),
            (None, _) => String::new(),
        };
        let decoder = output
            .decoder
            .as_ref()
            .map(|decoder| format!(", {}", decoder.element))
            .unwrap_or_default();
        section.ok(format!(
            "{}: {}, {}{decoder}{route}; {} frames due, {} missed",
            output.name, output.kind, output.state, output.frames.due, output.frames.missed
        ));
        if let Some(error) = &output.error {
            section.broken(format!("{}: {error}", output.name));
        }
    }
    section.facts(json!({ "running": true, "status": status }));
}
