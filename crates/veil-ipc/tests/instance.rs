//! Who the daemon is: one for each display, and none is in the way after its end.

#![allow(clippy::unwrap_used, reason = "a test that fails here has failed")]

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use veil_ipc::Location;
use veil_ipc::server::{Instance, InstanceError};

fn at(runtime: &Path, display: &str) -> Location {
    Location::new(runtime, OsStr::new(display)).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_second_is_refused_and_told_whom_to_ask() {
    let folder = tempfile::tempdir().unwrap();
    let location = at(folder.path(), "wayland-1");
    let first = Instance::acquire(location.clone()).unwrap();
    let error = Instance::acquire(location.clone()).unwrap_err();
    assert!(matches!(&error, InstanceError::Running { pid: Some(pid), .. } if *pid == std::process::id()));
    let text = error.to_string();
    for words in [
        &format!("pid {}", std::process::id())[..],
        "wayland-1",
        "veil set",
        "veil stop",
    ] {
        assert!(text.contains(words), "{text}");
    }
    // By its full path it is the same display; another display is none of its business.
    let full = folder.path().join("wayland-1");
    assert!(Instance::acquire(at(folder.path(), full.to_str().unwrap())).is_err());
    Instance::acquire(at(folder.path(), "wayland-2")).unwrap();
    drop(first);
    Instance::acquire(location).unwrap();
}

#[test]
fn only_the_user_gets_in() {
    let folder = tempfile::tempdir().unwrap();
    let location = at(folder.path(), "wayland-1");
    fs::create_dir(location.folder()).unwrap();
    fs::set_permissions(location.folder(), Permissions::from_mode(0o777)).unwrap();
    let mut instance = Instance::acquire(location.clone()).unwrap();
    let _listener = instance.bind().unwrap();
    assert_eq!(mode(location.folder()), 0o700);
    assert_eq!(mode(location.socket()), 0o600);
    assert_eq!(mode(location.lock()), 0o600);
}

#[test]
fn a_stale_socket_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let location = at(folder.path(), "wayland-1");
    // As a daemon leaves them that was killed: a socket that nobody listens on, and a lock file with a number in it.
    fs::create_dir(location.folder()).unwrap();
    drop(UnixListener::bind(location.socket()).unwrap());
    fs::write(location.lock(), "4000000000000000000000000\n").unwrap();
    assert!(UnixStream::connect(location.socket()).is_err());

    let mut instance = Instance::acquire(location.clone()).unwrap();
    let listener = instance.bind().unwrap();
    UnixStream::connect(location.socket()).unwrap();
    assert_eq!(
        fs::read_to_string(location.lock()).unwrap(),
        format!("{}\n", std::process::id())
    );
    drop(listener);
    drop(instance);
    assert!(!location.socket().exists());
}

#[test]
fn only_its_own_socket_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let location = at(folder.path(), "wayland-1");
    let mut instance = Instance::acquire(location.clone()).unwrap();
    let _listener = instance.bind().unwrap();
    fs::remove_file(location.socket()).unwrap();
    let _other = UnixListener::bind(location.socket()).unwrap();
    drop(instance);
    assert!(location.socket().exists(), "somebody else's socket was removed");
    // One that never had a socket removes none.
    drop(Instance::acquire(location.clone()).unwrap());
    assert!(location.socket().exists());
}

#[test]
fn what_is_not_veils_stays() {
    let folder = tempfile::tempdir().unwrap();
    let location = at(folder.path(), "wayland-1");
    let mut instance = Instance::acquire(location.clone()).unwrap();
    fs::write(location.socket(), "mine").unwrap();
    let error = instance.bind().unwrap_err();
    assert!(
        matches!(&error, InstanceError::InTheWay(path) if path == location.socket()),
        "{error}"
    );
    drop(instance);
    assert_eq!(fs::read_to_string(location.socket()).unwrap(), "mine");

    let elsewhere = tempfile::tempdir().unwrap();
    let linked = at(elsewhere.path(), "wayland-1");
    symlink(folder.path(), linked.folder()).unwrap();
    assert!(matches!(Instance::acquire(linked), Err(InstanceError::Folder(_))));

    let gone = at(&folder.path().join("gone"), "wayland-1");
    let error = Instance::acquire(gone).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot create ") && error.contains("gone/veil"),
        "{error}"
    );
}

#[test]
fn a_link_in_place_of_the_lock_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let location = at(folder.path(), "wayland-1");
    fs::create_dir(location.folder()).unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, location.lock()).unwrap();
    assert!(matches!(
        Instance::acquire(location),
        Err(InstanceError::System { .. })
    ));
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
}

#[test]
fn the_lock_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let location = at(folder.path(), "wayland-1");
    let mut first = Instance::acquire(location.clone()).unwrap();
    let _listener = first.bind().unwrap();
    assert_eq!(first.location(), &location);
    assert!(Instance::acquire(location.clone()).is_err());
    drop(first);
    assert!(
        location.lock().exists(),
        "removing the lock's file lets two processes lock two files of one name"
    );
}
