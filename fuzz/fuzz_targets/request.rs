//! What clients send: bytes in pieces, lines out of these, and requests.
//!
//! Nothing may panic, and what is understood must be written as something that is understood as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veil_ipc::{line::LineReader, parse_request, protocol::MAX_REQUEST};

fuzz_target!(|bytes: &[u8]| {
    let mut reader = LineReader::new(MAX_REQUEST);
    // The first byte says how long the pieces are.
    let piece = bytes.first().map_or(1, |first| usize::from(*first) + 1);
    for piece in bytes.get(1..).unwrap_or_default().chunks(piece) {
        reader.push(piece);
        while let Some(Ok(line)) = reader.next_line() {
            let Ok(command) = parse_request(&line) else {
                continue;
            };
            let written = command.to_line().expect("a request can be written");
            assert_eq!(parse_request(&written).expect("it is understood again"), command);
        }
    }
});
