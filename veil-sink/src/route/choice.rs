//! Which route is wanted.

use gstreamer::glib;

/// The route that frames take to the compositor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, glib::Enum)]
#[repr(i32)]
#[enum_type(name = "GstVeilSinkRoute")]
pub enum RouteChoice {
    /// The cheapest that shows the right colours.
    #[default]
    #[enum_value(name = "The cheapest that shows the right colours", nick = "auto")]
    Auto,
    /// The decoder's memory is attached as it is, whatever colours the compositor makes of it.
    #[enum_value(
        name = "The decoder's memory as it is, even where its colours are a guess",
        nick = "direct"
    )]
    Direct,
    /// A GPU converts.
    #[enum_value(name = "Converted by a GPU", nick = "convert")]
    Convert,
    /// The CPU converts into shared memory.
    #[enum_value(name = "Converted by the CPU into shared memory", nick = "shm")]
    Shm,
}
