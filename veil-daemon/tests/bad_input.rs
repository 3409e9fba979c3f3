//! Files that cannot be shown: refused with the reason, and nothing else changes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::Value;
use veil_testkit::{Daemon, Desk, GENEROUS, Ran, Sway, clips, veil_bin, wait_until};

const RED: [u8; 3] = [200, 30, 30];
const BLUE: [u8; 3] = [40, 60, 200];
const NEAR: u8 = 4;
const NO_ARGUMENTS: [&str; 0] = [];

/// Bad files, and what the reason must say.
fn bad_files(folder: &Path) -> Result<Vec<(PathBuf, &'static str)>> {
    let inputs = clips::inputs()?;
    let base = std::fs::read(inputs.join("base.mp4"))?;
    // Half a file whose index stands at its end; and one whose index stands at its beginning, but no picture follows.
    let cut = folder.join("cut");
    std::fs::write(&cut, &base[..base.len() / 2])?;
    let half_png = folder.join("half.png");
    let png = std::fs::read(clips::quadrants(640, 360)?)?;
    std::fs::write(&half_png, &png[..png.len() / 2])?;
    let only_a_head = folder.join("head.png");
    std::fs::write(&only_a_head, &png[..20])?;
    let random = folder.join("noise.mp4");
    let mut noise = 1u32;
    let bytes = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    });
    std::fs::write(&random, bytes.take(100_000).collect::<Vec<u8>>())?;
    let socket = folder.join("socket.mp4");
    let _ = std::os::unix::net::UnixListener::bind(&socket)?;
    let dangling = folder.join("dangling.mp4");
    std::os::unix::fs::symlink("nowhere", &dangling)?;
    let looping = folder.join("looping.mp4");
    std::os::unix::fs::symlink("looping.mp4", &looping)?;
    let mut files = vec![
        (folder.join("missing.mp4"), "no such file"),
        (folder.join("missing/missing.mp4"), "no such file"),
        (dangling, "no such file"),
        (looping, ""),
        (inputs.join("base.mp4/below.mp4"), ""),
        (socket, "socket"),
        (PathBuf::from("/dev/zero"), "device"),
        (PathBuf::from("/dev/null"), "device"),
        (PathBuf::from("/dev/tty"), "device"),
        (PathBuf::from("/"), "no picture and no video"),
        (cut, ""),
        (half_png, "PNG"),
        (only_a_head, "PNG"),
        (random, ""),
    ];
    for (name, reason) in [
        ("emptydir", "no picture and no video"),
        ("zero.mp4", "empty"),
        ("text.mp4", "text"),
        ("dir/text.mp4", "text"),
        ("fifo.mp4", "fifo"),
        ("trunc.mp4", ""),
        ("nohead.mp4", ""),
        ("audio_only.mp4", "no video"),
        ("trunc.jpg", "JPEG"),
        ("still.heic", "HEIF"),
        ("still.avif", "AVIF"),
        ("anim.avif", "AVIF"),
        ("still.jxl", "JPEG XL"),
    ] {
        let path = inputs.join(name);
        if path.exists() {
            files.push((path, reason));
        } else {
            eprintln!("{name} is left out: this ffmpeg cannot make it");
        }
    }
    Ok(files)
}

/// That a `set` was refused in the right form, naming the file and this reason.
fn assert_refused(ran: &Ran, file: &Path, reason: &str) {
    assert_eq!(ran.code(), 1, "{}: {ran:?}", file.display());
    assert!(
        ran.stdout.is_empty() && ran.stderr.lines().count() == 1,
        "{ran:?}"
    );
    let text = &ran.stderr;
    assert!(
        text.starts_with("error: ") && text.len() > "error: ".len() + 10,
        "{text}"
    );
    assert!(
        text.contains(&*file.to_string_lossy()),
        "{text} does not name {}",
        file.display()
    );
    assert!(text.contains(reason), "{reason:?} is not in {text}");
}

/// What must be as before.
#[derive(Debug, PartialEq)]
struct Held {
    descriptors: Vec<(u32, String)>,
    threads: usize,
    state: Value,
}

fn held(desk: &Desk) -> Result<Held> {
    let process = desk.daemon.process();
    Ok(Held {
        descriptors: process.descriptors()?,
        threads: process.threads()?.len(),
        state: desk.state()?,
    })
}

fn refuse_all(desk: &Desk, files: &[(PathBuf, &str)], colour: [u8; 3]) -> Result<()> {
    for (file, reason) in files {
        let ran = desk.set([file])?;
        assert_refused(&ran, file, reason);
        assert!(
            desk.shot()?.is_plain(colour, NEAR),
            "{} changed the picture",
            file.display()
        );
    }
    Ok(())
}

#[test]
fn bad_files_leave_a_still_as_it_was() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let good = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    desk.set(["--mode".as_ref(), "fit".as_ref(), good.as_os_str()])
        .unwrap()
        .ok()
        .unwrap();
    let files = bad_files(desk.sway.session().folder()).unwrap();
    // Once for what is loaded at the first use.
    refuse_all(&desk, &files, BLUE).unwrap();
    let alone = || held(&desk).is_ok_and(|held| held.threads == 1);
    wait_until("the loop to be alone", GENEROUS, alone).unwrap();
    let before = held(&desk).unwrap();
    assert_eq!(before.state["all"]["file"], good.to_str().unwrap());
    let rss = desk.daemon.process().rss_anon_kib().unwrap();
    for _ in 0..3 {
        refuse_all(&desk, &files, BLUE).unwrap();
    }
    wait_until("everything to be as before", GENEROUS, || {
        held(&desk).is_ok_and(|held| held == before)
    })
    .unwrap();
    let grown = desk.daemon.process().rss_anon_kib().unwrap().saturating_sub(rss);
    eprintln!("{grown} KiB more after {} refusals", 3 * files.len());
    assert!(
        grown <= 8 * files.len() as u64 * 3,
        "{grown} KiB more after {} refusals",
        3 * files.len()
    );
    let status = desk.first().unwrap();
    assert_eq!(status["path"], good.to_str().unwrap());
    assert_eq!(
        (&status["state"], &status["mode"]),
        (&"still".into(), &"fit".into())
    );
    assert!(
        status["error"].is_string(),
        "the status does not tell the last error: {status}"
    );
    desk.set([&good]).unwrap().ok().unwrap();
    assert!(desk.first().unwrap()["error"].is_null());
}

#[test]
fn bad_files_leave_a_video_playing() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let good = clips::plain(RED).unwrap();
    desk.set([&good]).unwrap().ok().unwrap();
    let files = bad_files(desk.sway.session().folder()).unwrap();
    let state = desk.state().unwrap();
    for (file, reason) in &files {
        assert_refused(&desk.set([file]).unwrap(), file, reason);
        desk.wait_frames("HEADLESS-1", 1).unwrap();
    }
    let status = desk.first().unwrap();
    assert_eq!(
        (&status["state"], &status["path"]),
        (&"playing".into(), &good.to_str().unwrap().into())
    );
    assert_eq!(desk.state().unwrap(), state);
    assert!(desk.shot().unwrap().is_plain(RED, NEAR));
}

#[test]
fn a_video_that_is_damaged_in_its_middle() {
    // Whether it can be shown is only known once it was decoded. It is refused, or plays and the log says what it is; a
    // daemon that dies, hangs or stands still without a word is wrong.
    let mut desk = Desk::start("640x360", NO_ARGUMENTS).unwrap();
    let good = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    desk.set([&good]).unwrap().ok().unwrap();
    let damaged = clips::inputs().unwrap().join("damaged.mp4");
    let ran = desk.set([&damaged]).unwrap();
    if ran.code() == 0 {
        desk.daemon.wait_log("damaged", GENEROUS).unwrap();
        desk.wait_first("the second round", |output| output["loops"].as_u64() > Some(0))
            .unwrap();
        desk.wait_frames("HEADLESS-1", 10).unwrap();
        assert!(desk.daemon.log().lines().count() < 100, "{}", desk.daemon.log());
    } else {
        assert_refused(&ran, &damaged, "damaged");
        assert!(desk.shot().unwrap().is_plain(BLUE, NEAR));
    }
    desk.set([&good]).unwrap().ok().unwrap();
}

#[test]
fn a_video_without_pictures_behind_its_head() {
    // The index at the beginning, and only a little of what it promises.
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let good = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    desk.set([&good]).unwrap().ok().unwrap();
    let clip = clips::moving(640, 360, 30, 2.0).unwrap();
    let folder = desk.sway.session().folder().to_owned();
    let whole = folder.join("whole.mp4");
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg
        .args(["-nostdin", "-v", "error", "-i"])
        .arg(&clip)
        .args(["-c", "copy", "-movflags", "+faststart"])
        .arg(&whole);
    Ran::new(&mut ffmpeg).unwrap().ok().unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let start = bytes.windows(4).position(|four| four == b"mdat").unwrap() + 4;
    for (name, length) in [("nothing.mp4", start), ("hardly.mp4", start + 100)] {
        let path = folder.join(name);
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert_refused(&desk.set([&path]).unwrap(), &path, "");
        assert!(desk.shot().unwrap().is_plain(BLUE, NEAR), "{name}");
    }
    assert_eq!(desk.state().unwrap()["all"]["file"], good.to_str().unwrap());
}

#[test]
fn a_codec_without_a_decoder_is_named_with_its_package() {
    let sway = Sway::start("320x180").unwrap();
    let without = [
        "avdec_h264",
        "openh264dec",
        "vah264dec",
        "vaapih264dec",
        "v4l2h264dec",
        "nvh264dec",
        "d3d11h264dec",
    ];
    let ranks = without.map(|name| format!("{name}:NONE")).join(",");
    let mut desk = Desk::with_env(sway, &[("GST_PLUGIN_FEATURE_RANK", &ranks)], NO_ARGUMENTS).unwrap();
    let good = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    desk.set([&good]).unwrap().ok().unwrap();
    let clip = clips::inputs().unwrap().join("base.mp4");
    for _ in 0..3 {
        let ran = desk.set([&clip]).unwrap();
        assert_refused(&ran, &clip, "no decoder for H.264");
        assert!(ran.stderr.contains("gstreamer1.0-libav"), "{}", ran.stderr);
        assert!(desk.shot().unwrap().is_plain(BLUE, NEAR));
    }
    // Another codec's decoder is still there.
    let other = clips::inputs().unwrap().join("odd1367x769.webm");
    if other.exists() {
        desk.set([&other]).unwrap().ok().unwrap();
        desk.wait_frames("HEADLESS-1", 3).unwrap();
    }
}

#[test]
fn an_unreadable_file_is_permission_denied() {
    let sway = Sway::start("320x180").unwrap();
    let veil = veil_bin(None).unwrap();
    let mut command = if rustix::process::geteuid().is_root() {
        // In a user namespace of its own root may read no more than its owner.
        let way = ["--user", "--map-user=65534", "--map-group=65534"];
        if !Command::new("unshare")
            .args(way)
            .arg("true")
            .status()
            .is_ok_and(|status| status.success())
        {
            eprintln!("left out: root may read everything here, and cannot give that up");
            return;
        }
        let mut command = sway.session().command("unshare");
        command.args(way).arg(&veil);
        command
    } else {
        sway.session().command(&veil)
    };
    command.arg("daemon");
    let daemon = Daemon::spawn(sway.session(), &command).unwrap();
    let set = |file: &Path| {
        daemon
            .client_of(&veil, ["set".as_ref(), file.as_os_str()])
            .unwrap()
    };
    let good = clips::plain(RED).unwrap();
    set(&good).ok().unwrap();
    let unreadable = clips::inputs().unwrap().join("noperm.mp4");
    assert_refused(&set(&unreadable), &unreadable, "permission denied");
    assert!(sway.screenshot("HEADLESS-1").unwrap().is_plain(RED, NEAR));
    // As is a file in a folder that may not be entered.
    let folder = sway.session().folder().join("closed");
    std::fs::create_dir(&folder).unwrap();
    let inside = clips::copy_as(&good, &folder, "inside.mp4").unwrap();
    let permissions = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(&folder, permissions(0)).unwrap();
    let ran = set(&inside);
    std::fs::set_permissions(&folder, permissions(0o700)).unwrap();
    assert_refused(&ran, &inside, "permission denied");
}

#[test]
fn a_bad_input_at_the_start_is_no_reason_to_end() {
    let good = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    let bad = clips::inputs().unwrap().join("zero.mp4");
    let mut desk = Desk::start("320x180", ["--input", bad.to_str().unwrap()]).unwrap();
    desk.wait_first("the reason", |output| {
        output["error"]
            .as_str()
            .is_some_and(|error| error.contains("empty"))
    })
    .unwrap();
    assert!(desk.daemon.log().contains("is empty"), "{}", desk.daemon.log());
    desk.set([&good]).unwrap().ok().unwrap();
    // What was there before is better than nothing, and stays what is remembered.
    desk.restart(["--input", bad.to_str().unwrap()]).unwrap();
    desk.wait_shot("the-good-one", |shot| shot.is_plain(BLUE, NEAR))
        .unwrap();
    assert_eq!(desk.state().unwrap()["all"]["file"], good.to_str().unwrap());
}

#[test]
fn a_file_that_is_cut_while_it_plays() {
    let mut desk = Desk::start("640x360", NO_ARGUMENTS).unwrap();
    let good = clips::picture("plain-blue", 64, 36, |_, _| BLUE).unwrap();
    let clip = clips::moving(640, 360, 30, 2.0).unwrap();
    let folder = desk.sway.session().folder().to_owned();
    for (number, length) in [0, 5000].into_iter().enumerate() {
        let copy = clips::copy_as(&clip, &folder, format!("cut while it plays {number}.mp4")).unwrap();
        desk.set([&copy]).unwrap().ok().unwrap();
        desk.wait_frames("HEADLESS-1", 5).unwrap();
        std::fs::File::options()
            .write(true)
            .open(&copy)
            .unwrap()
            .set_len(length)
            .unwrap();
        // It says so, and the last picture stays.
        let status = desk
            .wait_first("the end", |output| output["state"] == "released")
            .unwrap();
        assert!(status["error"].is_string(), "{status}");
        assert!(!desk.shot().unwrap().is_plain([0; 3], 10));
        assert!(desk.daemon.log().lines().count() < 100, "{}", desk.daemon.log());
        desk.set([&good]).unwrap().ok().unwrap();
        assert!(desk.shot().unwrap().is_plain(BLUE, NEAR));
    }
}
