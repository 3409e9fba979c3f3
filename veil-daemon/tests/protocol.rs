//! A stranger who has read nothing but docs/protocol.md, and talks to the socket in plain JSON.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};
use veil_testkit::{Desk, clips};

const NO_ARGUMENTS: [&str; 0] = [];

/// The document's examples: each a list of lines that are sent or got.
fn examples(text: &str) -> Vec<Vec<&str>> {
    let blocks = text.split("```example\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().lines().collect())
        .collect()
}

/// Whether this is what the document says, which leaves out what `…` stands for.
fn is_like(got: &Value, said: &Value) -> bool {
    match (got, said) {
        (_, Value::String(any)) if any == "…" => true,
        (Value::Object(got), Value::Object(said)) => said
            .iter()
            .all(|(key, said)| got.get(key).is_some_and(|got| is_like(got, said))),
        (Value::Array(got), Value::Array(said)) => {
            got.len() == said.len() && got.iter().zip(said).all(|(got, said)| is_like(got, said))
        }
        _ => got == said,
    }
}

#[test]
fn what_the_document_says_is_what_happens() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol.md");
    let document = std::fs::read_to_string(document).unwrap();
    let home = tempfile::tempdir().unwrap();
    let video = clips::moving(320, 180, 30, 2.0).unwrap();
    clips::copy_as(&video, home.path(), "sea.mp4").unwrap();
    let picture = clips::quadrants(320, 180).unwrap();
    clips::copy_as(&picture, home.path(), "cat.png").unwrap();
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let (mut sent, mut commands) = (0, std::collections::BTreeSet::new());
    for example in examples(&document) {
        let mut socket = UnixStream::connect(desk.socket()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut answers = BufReader::new(socket.try_clone().unwrap());
        for line in example {
            let line = line.replace("/home/me", home.path().to_str().unwrap());
            if let Some(request) = line.strip_prefix("> ") {
                socket.write_all(request.as_bytes()).unwrap();
                socket.write_all(b"\n").unwrap();
                sent += 1;
                if let Ok(request) = serde_json::from_str::<Value>(request) {
                    commands.insert(request["command"].as_str().unwrap().to_owned());
                }
            } else {
                let said: Value = serde_json::from_str(line.strip_prefix("< ").unwrap()).unwrap();
                let mut got = String::new();
                answers.read_line(&mut got).unwrap();
                let got: Value = serde_json::from_str(&got).unwrap();
                assert!(is_like(&got, &said), "{got} is not like {said}");
            }
        }
    }
    assert!(
        sent >= 15 && commands.len() >= 9,
        "{sent} requests of {commands:?}"
    );
    assert!(home.path().join("now.png").exists());
}

#[test]
fn the_document_has_every_command_and_event() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol.md");
    let document = std::fs::read_to_string(document).unwrap();
    for command in veil_ipc::Command::NAMES {
        let row = |line: &str| line.starts_with('|') && line.contains(&format!("`{command}`"));
        assert!(document.lines().any(row), "{command}");
    }
    let events = "output-added output-removed wallpaper cleared playing paused held failed stopping";
    for event in events.split(' ') {
        assert!(document.contains(&format!("`{event}`")), "{event}");
    }
}
