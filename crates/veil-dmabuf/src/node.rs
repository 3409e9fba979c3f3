//! DRM nodes: a device has a primary node (`card0`) and most have a render node (`renderD128`), with numbers of their own.
//! That both are of one device says the kernel, in `/sys/dev/char/MAJOR:MINOR/device`.

use rustix::fs::{FileType, major, minor};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The number (`dev_t`) of a device node; `None` where there is no such node.
pub fn number(path: &Path) -> Option<u64> {
    let found = fs::metadata(path).ok()?;
    let is_node = FileType::from_raw_mode(found.mode()) == FileType::CharacterDevice;
    is_node.then(|| found.rdev())
}

/// Whether two nodes are of one device.
pub fn is_same_device(a: u64, b: u64) -> bool {
    a == b || device(a).is_some_and(|of_a| Some(of_a) == device(b))
}

/// Where the kernel has the device of a node.
fn device(node: u64) -> Option<PathBuf> {
    fs::canonicalize(format!("/sys/dev/char/{}:{}/device", major(node), minor(node))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_told_from_files() {
        let null = number(Path::new("/dev/null")).expect("a node");
        assert_eq!((major(null), minor(null)), (1, 3));
        assert!(number(Path::new("/dev")).is_none() && number(Path::new("/nowhere")).is_none());
        let zero = number(Path::new("/dev/zero")).expect("a node");
        assert!(is_same_device(null, null) && !is_same_device(null, zero));
    }

    #[test]
    #[ignore = "needs the test machine"]
    fn the_nodes_of_a_device_belong_together() {
        let of = |prefix: &str| {
            let mut nodes: Vec<_> = fs::read_dir("/dev/dri")
                .expect("DRM nodes")
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
                .filter_map(|entry| number(&entry.path()))
                .collect();
            nodes.sort_unstable();
            nodes
        };
        let (cards, renderers) = (of("card"), of("renderD"));
        assert!(
            cards.len() >= 2 && !renderers.is_empty(),
            "{cards:?} {renderers:?}"
        );
        for renderer in &renderers {
            let own: Vec<_> = cards
                .iter()
                .filter(|card| is_same_device(**card, *renderer))
                .collect();
            assert_eq!(own.len(), 1, "{cards:?} {renderers:?}");
        }
        assert!(!is_same_device(cards[0], cards[1]));
    }
}
