//! From a pipeline that was put together to its first picture, or to the reason why there is none.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::assembly::Assembly;
use crate::decoder::DecoderInfo;
use crate::failure::{Failure, Origin};
use crate::inbox::Signal;
use crate::refusal::{OpenError, Refusal};

/// How long a picture may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// After so long without a word it is looked whether the pipeline does anything at all: parsebin swallows what a
/// demuxer says in the moment in which it is added.
pub(crate) const SILENCE: Duration = Duration::from_millis(300);

/// Why an attempt at a first picture failed.
pub(crate) enum Attempt {
    /// The file is not played.
    Refused(OpenError),
    /// It may be, with another decoder.
    DecoderFailed { element: String, reason: String },
}

/// Waits for the first picture.
pub(crate) fn preroll(
    assembly: &Arc<Assembly>,
    refusal: &mut Refusal<'_>,
    path: &Path,
) -> Result<DecoderInfo, Attempt> {
    let deadline = Instant::now() + PATIENCE;
    // Nothing links it to the sink yet, so the pipeline may start the reader first; a picture that came to an element
    // that has not started would end the reader without a word.
    let _ = assembly.endless.set_state(gst::State::Paused);
    // Where this fails, an element says why.
    let _ = assembly.pipeline.set_state(gst::State::Paused);
    loop {
        let Some(signal) = assembly.inbox.wait(deadline.min(Instant::now() + SILENCE)) else {
            if Instant::now() >= deadline {
                let seconds = PATIENCE.as_secs();
                return Err(Attempt::Refused(OpenError::Timeout {
                    path: path.to_owned(),
                    seconds,
                }));
            }
            if assembly.is_idle() {
                return Err(Attempt::Refused(refusal.silent(&assembly.other_streams())));
            }
            continue;
        };
        match signal {
            Signal::Prerolled => {
                if let Some(decoder) = assembly.decoder().filter(|_| assembly.has_prerolled()) {
                    return Ok(decoder.info);
                }
            }
            Signal::Failed(Failure {
                origin: Origin::Decoder(element),
                text,
                ..
            }) => {
                return Err(Attempt::DecoderFailed {
                    element,
                    reason: text,
                });
            }
            // Whatever led to this was told before, or is one of these.
            Signal::Failed(failure) if failure.is_aftermath() => {
                return Err(match assembly.decoder() {
                    Some(decoder) => Attempt::DecoderFailed {
                        element: decoder.info.element,
                        reason: failure.text,
                    },
                    None => Attempt::Refused(refusal.no_video(&assembly.other_streams())),
                });
            }
            Signal::Failed(failure) => return Err(Attempt::Refused(refusal.failed(failure))),
            Signal::Unreadable(caps) => refusal.unreadable(caps),
            Signal::NoVideo(streams) => return Err(Attempt::Refused(refusal.no_video(&streams))),
            Signal::NoDecoder(caps) => return Err(Attempt::Refused(refusal.no_decoder(&caps))),
            Signal::Barren | Signal::Ended => {
                let element = assembly
                    .decoder()
                    .map(|decoder| decoder.info.element)
                    .unwrap_or_default();
                let reason = String::from("no picture came out");
                return Err(Attempt::DecoderFailed { element, reason });
            }
            Signal::Stuck(reason) => {
                return Err(Attempt::Refused(OpenError::Damaged {
                    path: path.to_owned(),
                    reason,
                }));
            }
            Signal::Timeless => {
                return Err(Attempt::Refused(OpenError::Timeless {
                    path: path.to_owned(),
                }));
            }
            Signal::Still | Signal::Damaged => {}
        }
    }
}

/// Waits for the picture that was sought, or for whatever says that it will not come.
pub(crate) fn settle(assembly: &Assembly) {
    let deadline = Instant::now() + PATIENCE;
    let mut others = Vec::new();
    while let Some(signal) = assembly.inbox.wait(deadline) {
        if matches!(signal, Signal::Prerolled) {
            break;
        }
        let over = signal.is_end();
        others.push(signal);
        if over {
            break;
        }
    }
    others.into_iter().for_each(|signal| assembly.inbox.put(signal));
}
