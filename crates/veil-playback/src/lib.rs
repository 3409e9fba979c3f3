//! Plays a video file into a sink, for ever.
//!
//! [`Player::open`] builds a pipeline from a file to the sink element that the caller gives, picks a decoder, and returns
//! when the first picture is in the sink. From then on the file goes round without a stop until the player is dropped.
//! No sound is decoded, nothing converts pixels, and no string is parsed into a pipeline or a URI.
//!
//! # Threads
//!
//! [`init`], [`Player::open`], [`Player::play`], [`Player::pause`], [`Player::seek`] and dropping a player may block:
//! they are for a worker thread. Everything else is for an event loop: it watches the player's descriptor
//! ([`AsFd`](std::os::fd::AsFd), level-triggered) and then calls [`Player::dispatch`], which never blocks. A player has
//! no thread of its own and needs no GLib main loop. One streaming thread of GStreamer's reads, decodes and shows; loops
//! are made by a thread of GStreamer's pool, which exists for a second after each. Opening looks ahead in a thread of its
//! own, and another takes a pipeline down: nobody waits long for one that hangs.
//!
//! After the last player, GLib's pool threads end within a second of being idle (see [`init`]); GLib keeps one sleeping
//! thread (`pool-spawner`) for the life of the process once a pool was used.
//!
//! # Loops
//!
//! See [`Player`] for what is promised, and the module `endless` for how it is done.

mod assembly;
mod closing;
mod codec_names;
mod counters;
mod decoder;
mod decoding;
mod endless;
mod entry_point;
mod failure;
mod inbox;
mod looping;
mod manner;
mod messages;
mod nal;
mod opening;
mod player;
mod reader;
mod refusal;
mod scan;
mod source;
pub mod survey;
mod thinning;
mod timeline;

pub use codec_names::Package;
pub use counters::Stats;
pub use decoder::DecoderInfo;
pub use manner::Manner;
pub use player::{Player, PlayerEvent, SeekError, Settings};
pub use refusal::OpenError;
pub use source::{SourceError, check_file};

use gstreamer as gst;
use gstreamer::glib;

/// GStreamer cannot be used on this machine.
#[derive(Debug, thiserror::Error)]
#[error("GStreamer does not start: {0}")]
pub struct InitError(#[from] glib::Error);

/// How long a thread of GLib's pools stays when it has nothing to do (ms).
const IDLE_THREAD_MS: u32 = 1000;

/// Starts GStreamer, once for the process. The first start on a machine looks at all plugins, which takes seconds.
///
/// It also lets GLib's pool threads end after a second without work instead of fifteen, so that a still picture after a
/// video has the process for itself.
pub fn init() -> Result<(), InitError> {
    gst::init()?;
    glib::ThreadPool::set_max_idle_time(IDLE_THREAD_MS);
    Ok(())
}
