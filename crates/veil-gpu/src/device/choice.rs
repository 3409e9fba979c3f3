//! Which device: the compositor's, or the one that the user names; never simply the first.

use super::{DeviceError, DeviceInfo};
use std::{fmt, os::unix::fs::MetadataExt, path::Path};

/// Which device to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The one with this node (`dev_t`), primary or render: the compositor's feedback names it.
    Node(u64),
    /// The one whose name or driver has this text in it, in small letters or large, or whose node has this path.
    Named(String),
    /// The only one there is, those apart that are the CPU: where a compositor does not say.
    Only,
}

impl DeviceChoice {
    /// The index of the one that is meant.
    pub(super) fn among(&self, all: &[DeviceInfo]) -> Result<usize, DeviceError> {
        let fits: Vec<usize> = (0..all.len()).filter(|&i| self.fits(&all[i])).collect();
        let list = |indices: &mut dyn Iterator<Item = usize>| {
            let names: Vec<_> = indices.map(|i| all[i].to_string()).collect();
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        };
        let choice = self.to_string();
        match fits[..] {
            [one] => Ok(one),
            [] => Err(DeviceError::NotFound {
                choice,
                devices: list(&mut (0..all.len())),
            }),
            _ => Err(DeviceError::Ambiguous {
                choice,
                devices: list(&mut fits.into_iter()),
            }),
        }
    }

    fn fits(&self, device: &DeviceInfo) -> bool {
        let node = |node| device.render_node == Some(node) || device.primary_node == Some(node);
        match self {
            Self::Node(number) => !device.software && node(*number),
            Self::Named(path) if path.starts_with('/') => {
                Path::new(path).metadata().is_ok_and(|file| node(file.rdev()))
            }
            Self::Named(text) => {
                let text = text.to_lowercase();
                let has = |name: &str| name.to_lowercase().contains(&text);
                !text.is_empty() && (has(&device.name) || has(&device.driver))
            }
            Self::Only => !device.software,
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => {
                let (major, minor) = (rustix::fs::major(*node), rustix::fs::minor(*node));
                write!(f, "the compositor's (node {major}:{minor})")
            }
            Self::Named(text) => write!(f, "{text:?}"),
            Self::Only => f.write_str("a GPU"),
        }
    }
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.software {
            " (the CPU; only taken by name)"
        } else {
            ""
        };
        write!(f, "{}, {}{kind}", self.name, self.driver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::makedev;

    fn device(name: &str, minor: Option<u32>) -> DeviceInfo {
        DeviceInfo {
            name: name.to_owned(),
            driver: "Mesa".to_owned(),
            api_version: (1, 3),
            render_node: minor.map(|minor| makedev(226, 128 + minor)),
            primary_node: minor.map(|minor| makedev(226, minor)),
            uuid: [0; 16],
            software: minor.is_none(),
        }
    }

    fn machine() -> [DeviceInfo; 3] {
        [
            device("llvmpipe", None),
            device("First", Some(0)),
            device("Second", Some(1)),
        ]
    }

    #[test]
    fn either_node_is_the_device() {
        for minor in [1, 129] {
            let choice = DeviceChoice::Node(makedev(226, minor));
            assert_eq!(choice.among(&machine()).unwrap(), 2);
        }
        let missing = DeviceChoice::Node(makedev(226, 130)).among(&machine());
        let text = missing.unwrap_err().to_string();
        assert!(text.contains("226:130") && text.contains("Second"), "{text}");
    }

    #[test]
    fn a_name_is_taken_as_part_and_must_be_one_devices() {
        let named = |text: &str| DeviceChoice::Named(text.to_owned()).among(&machine());
        assert_eq!(named("sec").unwrap(), 2);
        assert!(matches!(named("mesa"), Err(DeviceError::Ambiguous { .. })));
        assert!(matches!(named(""), Err(DeviceError::NotFound { .. })));
        assert!(matches!(named("/nowhere"), Err(DeviceError::NotFound { .. })));
    }

    #[test]
    fn the_cpu_is_only_taken_by_name() {
        let named = DeviceChoice::Named("llvmpipe".to_owned());
        assert_eq!(named.among(&machine()).unwrap(), 0);
        assert_eq!(DeviceChoice::Only.among(&machine()[..2]).unwrap(), 1);
        assert!(DeviceChoice::Only.among(&machine()).is_err());
        assert!(DeviceChoice::Only.among(&machine()[..1]).is_err());
    }
}
