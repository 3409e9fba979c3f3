//! Which route is wanted.

use gstreamer::glib;
use std::str::FromStr;

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

/// A word is none of the routes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no route \"{0}\": it is auto, direct, convert or shm")]
pub struct UnknownRoute(String);

impl FromStr for RouteChoice {
    type Err = UnknownRoute;

    fn from_str(word: &str) -> Result<Self, UnknownRoute> {
        match word {
            "auto" => Ok(Self::Auto),
            "direct" => Ok(Self::Direct),
            "convert" => Ok(Self::Convert),
            "shm" => Ok(Self::Shm),
            other => Err(UnknownRoute(other.to_owned())),
        }
    }
}
