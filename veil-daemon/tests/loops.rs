//! Videos start over at their end, without anybody seeing where that is.

use veil_testkit::{Desk, clips};

const OUTPUT: &str = "HEADLESS-1";

#[test]
fn the_frames_of_a_loop_follow_on_each_other() {
    // 15 frames, so a jump back by less than 15, or over the end, would be a picture lost or shown twice.
    let clip = clips::numbered(320, 180, 30, 0.5).unwrap();
    let mut desk = Desk::start("320x180", ["--background", "#ff00ff"]).unwrap();
    desk.set([&clip]).unwrap().ok().unwrap();
    let mut seen = [0u32; 15];
    desk.wait_shot("every-frame-of-a-loop", |shot| {
        let number = clips::read_number(shot, shot.all()).expect("a whole frame, never black");
        seen[number as usize] += 1;
        seen.iter().all(|times| *times > 0) && seen.iter().sum::<u32>() >= 60
    })
    .unwrap();
    let status = desk
        .wait_first("five loops", |output| output["loops"].as_u64() >= Some(5))
        .unwrap();
    let frames = |name: &str| status["frames"][name].as_u64().unwrap();
    // Each loop is 15 frames that were due: none more, none less. A loop is counted when its decoding begins, which is
    // some frames before its first one is due.
    let loops = status["loops"].as_u64().unwrap();
    assert!(
        frames("due") + 10 >= 15 * loops && frames("due") <= 15 * (loops + 1) + 5,
        "{status}"
    );
}

#[test]
fn loops_go_on_and_are_counted() {
    let inputs = clips::inputs().unwrap();
    for name in ["half.mp4", "tiny16.mp4", "odd1367x769.webm", "hlg.mkv"] {
        let path = inputs.join(name);
        if !path.exists() {
            eprintln!("{name} is left out: this ffmpeg cannot make it");
            continue;
        }
        let mut desk = Desk::start("320x180", ["--input".as_ref(), path.as_os_str()]).unwrap();
        let mut last = 0;
        for _ in 0..3 {
            let status = desk
                .wait_first("the next loop", |output| output["loops"].as_u64() > Some(last))
                .unwrap();
            last = status["loops"].as_u64().unwrap();
        }
        assert_eq!(desk.first().unwrap()["state"], "playing");
        assert_eq!(
            desk.daemon.log().matches("video decoder:").count(),
            1,
            "{name} was opened anew"
        );
    }
}

#[test]
fn longer_sound_does_not_lengthen_the_loop() {
    // Two seconds of pictures, five of sound.
    let clip = clips::inputs().unwrap().join("av_longer_audio.mp4");
    let mut desk = Desk::start("320x180", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    let first = desk
        .wait_first("a loop", |output| output["loops"].as_u64() >= Some(1))
        .unwrap();
    let third = desk
        .wait_first("two more", |output| output["loops"].as_u64() >= Some(3))
        .unwrap();
    let grown = |name: &str| {
        let of = |status: &serde_json::Value| status["frames"][name].as_u64().unwrap();
        of(&third) - of(&first)
    };
    // 60 frames each, and no pause of three seconds between them.
    assert!((110..=130).contains(&grown("due")), "{first} {third}");
    let longest = third["present_interval_ms"]["max"].as_f64().unwrap();
    assert!(longest < 1500.0, "{third}");
}

#[test]
fn a_single_frame_does_not_loop() {
    let clip = clips::inputs().unwrap().join("oneframe.mp4");
    let mut desk = Desk::start("320x180", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    desk.wait_first("the frame", |output| {
        output["frames"]["shown"].as_u64() >= Some(1)
    })
    .unwrap();
    let still = desk.shot().unwrap();
    let ticks = desk.daemon.process().cpu_ticks().unwrap();
    for _ in 0..10 {
        assert_eq!(desk.shot().unwrap(), still);
    }
    let status = desk.daemon.output(OUTPUT).unwrap();
    assert_eq!(status["loops"], 0, "{status}");
    // It does not turn in circles either.
    let used = desk.daemon.process().cpu_ticks().unwrap() - ticks;
    assert!(used <= 2, "{used} ticks");
    desk.daemon.check_alive().unwrap();
}

#[test]
fn a_long_film_is_not_read_to_its_end() {
    let clip = clips::inputs().unwrap().join("long2h.mp4");
    let mut desk = Desk::start("320x180", ["--input".as_ref(), clip.as_os_str()]).unwrap();
    desk.wait_frames(OUTPUT, 10).unwrap();
    assert_eq!(desk.first().unwrap()["loops"], 0);
}
