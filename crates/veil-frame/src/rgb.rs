//! A solid colour, as people write it.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// An opaque sRGB colour, written `#RRGGBB`; `#RGB` and a missing `#` are understood too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rgb {
    /// Red, 0 to 255.
    pub r: u8,
    /// Green, 0 to 255.
    pub g: u8,
    /// Blue, 0 to 255.
    pub b: u8,
}

/// The text is not a colour.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is not a colour: write #RRGGBB, as in #204060")]
pub struct ParseRgbError(String);

impl Rgb {
    /// Black, the background where nobody asked for another.
    pub const BLACK: Self = Self { r: 0, g: 0, b: 0 };

    /// The colour as one XRGB8888 word: `0xFFRRGGBB`.
    pub const fn xrgb8888(self) -> u32 {
        0xff00_0000 | (self.r as u32) << 16 | (self.g as u32) << 8 | self.b as u32
    }
}

impl FromStr for Rgb {
    type Err = ParseRgbError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseRgbError(text.to_owned());
        let digits = text.strip_prefix('#').unwrap_or(text);
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(error());
        }
        let value = u32::from_str_radix(digits, 16).map_err(|_| error())?;
        let byte = |shift: u32| (value >> shift & 0xff) as u8;
        let nibble = |shift: u32| (value >> shift & 0xf) as u8 * 17;
        match digits.len() {
            6 => Ok(Self {
                r: byte(16),
                g: byte(8),
                b: byte(0),
            }),
            3 => Ok(Self {
                r: nibble(8),
                g: nibble(4),
                b: nibble(0),
            }),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }
}

impl TryFrom<String> for Rgb {
    type Error = ParseRgbError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Rgb> for String {
    fn from(color: Rgb) -> Self {
        color.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let blue = Rgb {
            r: 0x20,
            g: 0x40,
            b: 0x60,
        };
        assert_eq!("#204060".parse(), Ok(blue));
        assert_eq!("204060".parse(), Ok(blue));
        assert_eq!(
            "#fA0".parse(),
            Ok(Rgb {
                r: 0xff,
                g: 0xaa,
                b: 0
            })
        );
        assert_eq!(blue.to_string(), "#204060");
        assert_eq!(blue.xrgb8888(), 0xff20_4060);
        for bad in ["", "#", "#12", "#12345", "#1234567", "red", "#+12345", "#１２３"] {
            assert!(bad.parse::<Rgb>().is_err(), "{bad} was taken");
        }
    }
}
