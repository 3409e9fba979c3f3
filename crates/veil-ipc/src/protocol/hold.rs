//! Why a wallpaper stands still.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A reason for which a wallpaper stands still. It goes on when none is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// The user asked for it; only the user lifts it.
    User,
    /// One that this client does not know: of a newer daemon.
    #[serde(other)]
    Other,
}

impl Hold {
    /// Those that there are.
    pub const ALL: &'static [Self] = &[Self::User];

    /// The name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_protocol() {
        for hold in Hold::ALL {
            assert_eq!(serde_json::to_value(hold).expect("JSON"), hold.name());
        }
        let newer: Vec<Hold> = serde_json::from_str(r#"["user","eclipse"]"#).expect("holds");
        assert_eq!(newer, [Hold::User, Hold::Other]);
    }
}
