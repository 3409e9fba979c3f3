//! File names in JSON.

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path of any bytes: a JSON string where it is UTF-8, else an array of byte values, since JSON strings hold no
/// other bytes and a file's name may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WirePath(pub PathBuf);

impl WirePath {
    /// The path itself.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl<P: Into<PathBuf>> From<P> for WirePath {
    fn from(path: P) -> Self {
        Self(path.into())
    }
}

impl AsRef<Path> for WirePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Serialize for WirePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_seq(self.0.as_os_str().as_bytes()),
        }
    }
}

impl<'de> Deserialize<'de> for WirePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PathVisitor)
    }
}

struct PathVisitor;

impl<'de> Visitor<'de> for PathVisitor {
    type Value = WirePath;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path, as a string or as an array of byte values")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<WirePath, E> {
        Ok(WirePath(text.into()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<WirePath, E> {
        Ok(WirePath(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<WirePath, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = items.next_element::<u8>()? {
            bytes.push(byte);
        }
        Ok(WirePath(OsString::from_vec(bytes).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn utf8_is_a_string_and_the_rest_is_numbers() {
        let plain = WirePath::from("/a b/壁紙 \"q\".mp4");
        assert_eq!(
            serde_json::to_string(&plain).expect("JSON"),
            r#""/a b/壁紙 \"q\".mp4""#
        );
        let odd = WirePath(OsString::from_vec(b"/\xff".to_vec()).into());
        assert_eq!(serde_json::to_string(&odd).expect("JSON"), "[47,255]");
    }

    #[test]
    fn other_things_are_refused() {
        for bad in ["1", "null", "{}", "[256]", "[-1]", "[\"a\"]", "[1.5]"] {
            assert!(serde_json::from_str::<WirePath>(bad).is_err(), "{bad} was taken");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in any::<Vec<u8>>()) {
            let path = WirePath(OsString::from_vec(bytes).into());
            let json = serde_json::to_string(&path).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<WirePath>(&json).expect("a path"), path);
        }
    }
}
