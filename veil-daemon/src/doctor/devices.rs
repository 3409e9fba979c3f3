//! Device files that veil or its decoders open: whether this user may, and how that is mended.

use super::report::Section;
use rustix::fs::{Mode, OFlags, open};
use serde_json::{Value, json};
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// A rule that lets whoever sits at the machine use udmabuf.
const RULE: &str = "KERNEL==\"udmabuf\", TAG+=\"uaccess\"";

/// Looks at them.
pub(super) fn look(section: &mut Section) {
    let mut facts = Vec::new();
    let udmabuf = Path::new("/dev/udmabuf");
    let can_udmabuf = match try_open(udmabuf) {
        Ok(()) => {
            section.ok("/dev/udmabuf can be opened: decoders on the CPU write into memory that can be shown");
            true
        }
        Err(error) => {
            section.note(format!(
                "{}; a udev rule lets who sits at the machine use it: put {RULE} into /etc/udev/rules.d/70-udmabuf.rules \
                 and run udevadm trigger /dev/udmabuf. Until then frames of decoders on the CPU are copied once",
                why(udmabuf, &error, "load it with modprobe udmabuf")
            ));
            false
        }
    };
    facts.push(fact(udmabuf, can_udmabuf));
    for heap in entries("/dev/dma_heap", "") {
        let opened = try_open(&heap);
        facts.push(fact(&heap, opened.is_ok()));
        match opened {
            Ok(()) => section.ok(format!("{} can be opened", heap.display())),
            // The usual case, and udmabuf does as well.
            Err(_) if can_udmabuf => {}
            Err(error) => section.note(why(&heap, &error, "")),
        }
    }
    let nodes = entries("/dev/dri", "renderD");
    if nodes.is_empty() {
        section.note(
            "there is no /dev/dri/renderD*: no GPU's driver is loaded, so no hardware decodes or converts",
        );
    }
    for node in &nodes {
        let opened = try_open(node);
        facts.push(fact(node, opened.is_ok()));
        match opened {
            Ok(()) => section.ok(format!("{} can be opened", node.display())),
            Err(error) => section.note(format!(
                "{}; no hardware decodes or converts with this GPU",
                why(node, &error, "")
            )),
        }
    }
    section.facts(Value::Array(facts));
}

fn try_open(path: &Path) -> io::Result<()> {
    open(
        path,
        OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK,
        Mode::empty(),
    )?;
    Ok(())
}

/// Why a device cannot be opened, and who could.
fn why(path: &Path, error: &io::Error, missing: &str) -> String {
    let path_shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound if missing.is_empty() => format!("{path_shown} is not there"),
        io::ErrorKind::NotFound => format!("{path_shown} is not there: {missing}"),
        io::ErrorKind::PermissionDenied => {
            let Ok(found) = fs::metadata(path) else {
                return format!("{path_shown}: permission denied");
            };
            let mode = found.mode() & 0o777;
            let group = group_name(found.gid());
            if mode & 0o060 == 0o060 {
                format!(
                    "{path_shown}: permission denied; the group {group} may open it (usermod -aG {group} USER, and log in anew)"
                )
            } else {
                format!(
                    "{path_shown}: permission denied; its mode is {mode:03o}, so only its owner may open it"
                )
            }
        }
        _ => format!("{path_shown}: {error}"),
    }
}

/// The name of a group; its number where it has none.
fn group_name(gid: u32) -> String {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let named = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(gid)).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| gid.to_string())
}

fn entries(folder: &str, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
        })
        .collect();
    found.sort();
    found
}

fn fact(path: &Path, can: bool) -> Value {
    json!({ "path": path.to_string_lossy(), "can_be_opened": can })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn who_may_open_a_device_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).unwrap();
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let group = group_name(fs::metadata(&path).unwrap().gid());
        assert!(why(&path, &denied, "").contains(&format!("the group {group} may")));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(why(&path, &denied, "").contains("mode is 600"));
        let missing = io::Error::from(io::ErrorKind::NotFound);
        assert!(why(&path, &missing, "load it").ends_with("is not there: load it"));
        assert_eq!(group_name(0), "root");
        assert_eq!(group_name(u32::MAX), u32::MAX.to_string());
    }
}
