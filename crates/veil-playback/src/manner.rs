//! How a file is played.

/// How a file is played, beyond what is in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manner {
    /// Seconds of the video for a second on the clock: finite, and more than 0.
    pub speed: f64,
    /// The most pictures a second that reach the sink, on the clock: finite, and more than 0. `None` is all there are.
    pub max_fps: Option<f64>,
    /// Ends after the last picture instead of going round: see [`PlayerEvent::Ended`](crate::PlayerEvent::Ended).
    pub once: bool,
}

impl Default for Manner {
    /// As it is in the file, for ever.
    fn default() -> Self {
        Self {
            speed: 1.0,
            max_fps: None,
            once: false,
        }
    }
}
