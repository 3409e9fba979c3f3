//! The file that remembers the wallpapers, which users and other programs may have written to.
//!
//! Nothing may panic, and what is understood must be saved as something that is understood as the same.

#![no_main]
#![allow(dead_code, reason = "only a part of these modules is for this")]

// The daemon is a program and no library, so its modules are taken as they are.
#[path = "../../veil-daemon/src/daemon/assignments.rs"]
mod assignments;
#[path = "../../veil-daemon/src/folders.rs"]
mod folders;

use assignments::Assignments;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(understood) = Assignments::parse(bytes) else {
        return;
    };
    let saved = serde_json::to_vec(&understood).expect("it can be saved");
    assert_eq!(Assignments::parse(&saved).expect("it is understood again"), understood);
});
