//! `scripts/install`: what it puts where, and that it takes all of it away again.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use veil_testkit::{Ran, find_bin, repository, veil_bin, veilctl_bin};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A folder with the programs as `cargo build --release` leaves them. Their look is not what is tested.
fn built() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let plugin = find_bin("libgstveil.so", "VEIL_PLUGIN", None).unwrap();
    for (program, name) in [
        (veil_bin(None).unwrap(), "veil"),
        (veilctl_bin(None).unwrap(), "veilctl"),
        (plugin, "libgstveil.so"),
    ] {
        std::os::unix::fs::symlink(std::path::absolute(program).unwrap(), folder.path().join(name)).unwrap();
    }
    folder
}

fn install(destdir: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(repository().join("scripts/install"));
    command.arg("--destdir").arg(destdir).args(arguments);
    Ran::new(&mut command).unwrap()
}

#[test]
fn everything_is_installed_and_removed() {
    let (built, root) = (built(), tempfile::tempdir().unwrap());
    let from = built.path().to_str().unwrap();
    let prefix = "/opt/a b";
    install(root.path(), &["--prefix", prefix, "--from", from, "--autostart"])
        .ok()
        .unwrap();
    let at = |path: &str| root.path().join("opt/a b").join(path);
    for file in [
        "bin/veil",
        "bin/veilctl",
        "lib/gstreamer-1.0/libgstveil.so",
        "share/systemd/user/veil.service",
        "share/veil/veil.desktop",
        "etc/xdg/autostart/veil.desktop",
        "share/man/man1/veil.1",
        "share/man/man1/veilctl-set.1",
        "share/bash-completion/completions/veilctl",
        "share/zsh/site-functions/_veil",
        "share/fish/vendor_completions.d/veil.fish",
        "share/doc/veil/usage.md",
        "share/doc/veil/LICENSE-MIT",
    ] {
        let mode = std::fs::metadata(at(file)).map(|found| found.permissions().mode() & 0o777);
        let expected = if file.starts_with("bin/") { 0o755 } else { 0o644 };
        assert_eq!(mode.ok(), Some(expected), "{file}");
    }
    for file in ["share/systemd/user/veil.service", "share/veil/veil.desktop"] {
        let text = std::fs::read_to_string(at(file)).unwrap();
        assert!(text.contains("=\"/opt/a b/bin/veil\" daemon\n"), "{text}");
    }
    Ran::new(Command::new(at("bin/veil")).arg("--version"))
        .unwrap()
        .ok()
        .unwrap();
    // Somebody else's file in a folder that is not veil's alone.
    let other = at("share/man/man1/other.1");
    std::fs::write(&other, "").unwrap();
    install(root.path(), &["--uninstall", "--prefix", prefix])
        .ok()
        .unwrap();
    assert_eq!(files(root.path()), [other]);
    let again = install(root.path(), &["--uninstall", "--prefix", prefix]);
    assert_eq!(again.code(), 1);
    assert!(again.stderr.contains("nothing was installed"), "{}", again.stderr);
}

#[test]
fn the_systems_folders_are_those_of_the_system() {
    let (built, root) = (built(), tempfile::tempdir().unwrap());
    let arguments = ["--prefix=/usr", "--from", built.path().to_str().unwrap()];
    install(root.path(), &arguments).ok().unwrap();
    let below = |path: &str| root.path().join(path);
    assert!(below("usr/lib/systemd/user/veil.service").is_file());
    assert!(!below("etc").exists(), "autostart was not asked for");
    let plugins = files(&below("usr/lib"));
    let plugin = plugins.iter().find(|path| path.ends_with("libgstveil.so"));
    // Debian's folder, for one, has the machine's name in it.
    assert!(plugin.is_some_and(|path| path.parent().unwrap().ends_with("gstreamer-1.0")));
}

#[test]
fn systemd_understands_the_unit() {
    let (built, root) = (built(), tempfile::tempdir().unwrap());
    let prefix = root.path().join("usr");
    let arguments = [
        "--prefix",
        prefix.to_str().unwrap(),
        "--from",
        built.path().to_str().unwrap(),
    ];
    // In its last place, since the program must be where the unit says.
    let mut command = Command::new(repository().join("scripts/install"));
    Ran::new(command.env_remove("DESTDIR").args(arguments))
        .unwrap()
        .ok()
        .unwrap();
    let unit = prefix.join("share/systemd/user/veil.service");
    let mut command = Command::new("systemd-analyze");
    command
        .args(["--user", "--man=no", "verify"])
        .arg(&unit)
        .env("XDG_RUNTIME_DIR", root.path());
    match Ran::new(&mut command) {
        Ok(ran) => assert_eq!((ran.code(), ran.stderr.as_str()), (0, "")),
        Err(error) => eprintln!("not looked at: {error:#}"),
    }
}

#[test]
fn mistakes_are_told_and_nothing_is_touched() {
    let root = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&["--prefix", "relative"][..], "absolute"),
        (&["--prefix", "/a%b"], "without these"),
        (&["--prefix"], "needs a value"),
        (&["--what"], "what is --what"),
        (&["--from", "/nonexistent"], "is not"),
    ] {
        let ran = install(root.path(), arguments);
        assert!(ran.code() != 0 && ran.stderr.contains(words), "{ran:?}");
    }
    assert_eq!(files(root.path()), [""; 0].map(PathBuf::from));
}
