//! The configuration, which users write by hand and edit while it counts.
//!
//! Nothing may panic, and what is wrong must have a place in the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use veil_config::{Config, OutputName};

fuzz_target!(|text: &str| {
    let lines = text.split('\n').count();
    match Config::parse(text, Path::new("/etc"), Some(Path::new("/home/me"))) {
        Ok(config) => {
            let output = OutputName {
                name: "DP-1",
                description: "Dell Inc. DELL U2720Q",
            };
            let _ = (config.source(output), config.look(output), config.outputs.select(output));
        }
        Err(problems) => {
            assert!(!problems.0.is_empty());
            for problem in problems.0 {
                assert!((1..=lines).contains(&problem.line) && problem.column >= 1, "{problem}");
            }
        }
    }
});
