//! The test kit's own test: the compositors start, can be changed and looked at, and leave nothing behind.

#![allow(clippy::unwrap_used)]

use veil_testkit::{Daemon, GENEROUS, Group, Process, Sway, Weston, clips, wait_until};

#[test]
fn sway_starts_with_outputs_and_can_be_looked_at() {
    let sway = Sway::builder()
        .output("1920x1080")
        .output("1280x720@75")
        .start()
        .unwrap();
    assert_eq!(sway.output_names().unwrap(), ["HEADLESS-1", "HEADLESS-2"]);
    let size = |name: &str| sway.screenshot(name).unwrap().size();
    assert_eq!(size("HEADLESS-1"), (1920, 1080));
    assert_eq!(size("HEADLESS-2"), (1280, 720));
    assert_eq!(
        sway.output("HEADLESS-2").state().unwrap()["current_mode"]["refresh"],
        75000
    );

    let third = sway.create_output("800x600").unwrap();
    assert_eq!(third, "HEADLESS-3");
    let output = sway.output(&third);
    output.mode("1366x768").unwrap();
    output.scale(1.5).unwrap();
    output.transform("90").unwrap();
    if sway.version().unwrap() >= (1, 8) {
        output.power(false).unwrap();
        output.power(true).unwrap();
        output.disable().unwrap();
        assert_eq!(sway.output_names().unwrap().len(), 2);
        output.enable().unwrap();
        assert_eq!(sway.output_names().unwrap().len(), 3);
    }
    assert!(sway.run("no such command").is_err());
    assert!(sway.version().unwrap() >= (1, 5));
}

#[test]
fn outputs_can_be_unplugged_to_the_last_and_come_back() {
    let sway = Sway::builder()
        .output("1920x1080")
        .output("1280x720")
        .pluggable()
        .start()
        .unwrap();
    let names = sway.output_names().unwrap();
    assert_eq!(sway.screenshot(&names[0]).unwrap().size(), (1920, 1080));
    assert_eq!(sway.screenshot(&names[1]).unwrap().size(), (1280, 720));
    for name in &names {
        sway.output(name).unplug().unwrap();
    }
    assert!(sway.output_names().unwrap().is_empty());
    let new = sway.create_output("800x600").unwrap();
    assert_eq!(sway.screenshot(&new).unwrap().size(), (800, 600));
}

#[test]
fn a_picture_is_waited_for_and_kept_when_it_does_not_come() {
    let sway = Sway::start("640x480").unwrap();
    sway.wait_for_picture("HEADLESS-1", "any", GENEROUS, |_| true)
        .unwrap();
    let short = std::time::Duration::from_millis(1);
    let error = sway
        .wait_for_picture("HEADLESS-1", "kept-by-the-test-kit", short, |_| false)
        .unwrap_err();
    let path = veil_testkit::target().join("screenshots/kept-by-the-test-kit.png");
    assert!(
        format!("{error:#}").contains(&*path.to_string_lossy()),
        "{error:#}"
    );
    assert!(path.is_file());
}

#[test]
fn what_was_started_ends_with_its_value() {
    let sway = Sway::start("320x240").unwrap();
    let (process, folder) = (sway.process(), sway.session().folder().to_owned());
    assert!(process.is_alive() && folder.exists());
    drop(sway);
    assert!(!process.is_alive() && !folder.exists());
}

#[test]
fn grandchildren_end_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "sleep 1000 & echo $!; wait"]);
    let group = Group::spawn(&shell, &folder.path().join("log")).unwrap();
    wait_until("the grandchild's number", GENEROUS, || {
        group.log().ends_with('\n')
    })
    .unwrap();
    let grandchild = Process::new(group.log().trim().parse().unwrap());
    assert!(grandchild.is_alive());
    drop(group);
    wait_until("the grandchild's end", GENEROUS, || !grandchild.is_alive()).unwrap();
}

#[test]
fn weston_has_no_layer_shell() {
    let weston = Weston::start().unwrap();
    let globals = weston.session().command("wayland-info").output().unwrap();
    let globals = String::from_utf8_lossy(&globals.stdout);
    assert!(globals.contains("wl_compositor"), "{globals}\n{}", weston.log());
    assert!(!globals.contains("zwlr_layer_shell_v1"), "{globals}");
}

#[test]
fn a_program_that_ends_at_once_is_reported_with_its_log() {
    let sway = Sway::start("320x240").unwrap();
    let mut command = sway.command("sh");
    command.args(["-c", "echo the reason; exit 3"]);
    let mut daemon = Daemon::spawn(sway.session(), &command).unwrap();
    assert_eq!(daemon.wait_exit(GENEROUS).unwrap().code(), Some(3));
    assert!(format!("{:#}", daemon.check_alive().unwrap_err()).contains("the reason"));
}

#[test]
fn frames_of_a_numbered_clip_are_told_apart() {
    let clip = clips::numbered(640, 360, 30, 1.0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("%03d.png");
    let status = std::process::Command::new("ffmpeg")
        .args(["-nostdin", "-v", "error", "-i"])
        .arg(&clip)
        .arg(&frames)
        .status()
        .unwrap();
    assert!(status.success());
    for number in 0..30u32 {
        let image = image::open(folder.path().join(format!("{:03}.png", number + 1))).unwrap();
        let shot = veil_testkit::Shot::from_image(image.into_rgb8());
        assert_eq!(clips::read_number(&shot, shot.all()), Some(number));
    }
    // The second time it is the same file, not a new one.
    let made = std::fs::metadata(&clip).unwrap().modified().unwrap();
    assert_eq!(
        std::fs::metadata(clips::numbered(640, 360, 30, 1.0).unwrap())
            .unwrap()
            .modified()
            .unwrap(),
        made
    );
}

#[test]
fn the_input_files_are_made() {
    let inputs = clips::inputs().unwrap();
    for name in [
        "base.mp4",
        "rot90.mp4",
        "exif6.jpg",
        "zero.mp4",
        "fifo.mp4",
        "dir/half.mp4",
    ] {
        assert!(inputs.join(name).exists(), "{name}");
    }
}
