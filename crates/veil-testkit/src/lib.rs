//! What veil's integration tests stand on: real compositors with a runtime directory of their own, clips made by
//! ffmpeg, screenshots that can be asked about, and a look into `/proc`.
//!
//! ```no_run
//! use veil_testkit::{Daemon, GENEROUS, Sway, clips, veil_bin};
//!
//! # fn main() -> anyhow::Result<()> {
//! let sway = Sway::builder().output("1920x1080").start()?;
//! let veil = veil_bin(option_env!("CARGO_BIN_EXE_veil"))?;
//! let daemon = Daemon::start(sway.session(), &veil, ["--input".as_ref(), clips::plain([200, 30, 30])?.as_os_str()])?;
//! sway.wait_for_picture("HEADLESS-1", "red", GENEROUS, |shot| shot.is_near(960, 540, [200, 30, 30], 3))?;
//! daemon.client(["stop"])?.ok()?;
//! # Ok(())
//! # }
//! ```
//!
//! Everything that is started here is ended when its value is dropped, and also when the thread that started it dies
//! without getting that far (a test that is killed for being slow): start things on the thread that keeps them.

pub mod clips;
mod desk;
mod group;
pub mod mock;
pub mod planes;
mod process;
pub mod reference;
mod screenshot;
mod session;
pub mod sw_sync;
mod sway;
mod veil;
mod wait;
mod weston;

pub use desk::Desk;
pub use group::Group;
pub use process::{Process, Thread};
pub use screenshot::{Rect, Shot};
pub use session::Session;
pub use sway::{Output, Sway, SwayBuilder};
pub use veil::{Daemon, Ran, find_bin, veil_bin, veilctl_bin};
pub use wait::{GENEROUS, wait_for, wait_until};
pub use weston::Weston;

pub use image::RgbImage;
pub use rustix::process::Signal;

use std::path::PathBuf;

/// The folder that holds the repository.
pub fn repository() -> PathBuf {
    let crate_folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_folder
        .ancestors()
        .nth(2)
        .map_or(crate_folder.clone(), Into::into)
}

/// Cargo's target folder: screenshots of failures and cached clips go below it.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => repository().join(folder),
        None => repository().join("target"),
    }
}
