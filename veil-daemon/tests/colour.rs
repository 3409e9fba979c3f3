//! Colours: the same bars coded in several ways are one picture, and it is the right one.

use veil_testkit::{Desk, Rect, Shot, clips};

/// How near each coding must be to what all of them mean: their encoders have already rounded, each in its own way. Among
/// each other they are nearer.
const NEAR: u8 = 6;

/// The bars' middles, and what they must be.
const BARS: [(u32, [u8; 3]); 8] = [
    (80, [97, 100, 100]),
    (229, [186, 188, 188]),
    (367, [186, 200, 3]),
    (505, [12, 208, 183]),
    (643, [11, 221, 2]),
    (781, [172, 0, 181]),
    (919, [171, 0, 0]),
    (1057, [0, 0, 178]),
];

fn have_right_bars(shot: &Shot, tolerance: u8) -> bool {
    BARS.iter()
        .all(|(x, colour)| shot.is_near(*x, 200, *colour, tolerance))
}

#[test]
fn bars_are_the_same_however_they_are_coded() {
    let inputs = clips::inputs().unwrap();
    let desk = Desk::start("1280x720", ["--mode", "fill"]).unwrap();
    let mut shots: Vec<(&str, Shot)> = Vec::new();
    // Of the last one the size decides, which says BT.709.
    for name in [
        "bars709tv.mp4",
        "bars709pc.mp4",
        "bars601tv.mp4",
        "bars_unspec.mp4",
    ] {
        desk.set([inputs.join(name)]).unwrap().ok().unwrap();
        let shot = desk.wait_shot(name, |shot| have_right_bars(shot, NEAR)).unwrap();
        // Black and white of the lower third, not 16 and 235.
        assert_eq!(shot.mean(Rect::new(220, 600, 80, 60)), [0.0; 3], "{name}");
        assert!(
            shot.is_near(500, 630, [252, 254, 251], 4),
            "{name}: {:?}",
            shot.pixel(500, 630)
        );
        shots.push((name, shot));
    }
    for (name, shot) in &shots[1..] {
        for (x, _) in BARS {
            let (one, two) = (shots[0].1.pixel(x, 200), shot.pixel(x, 200));
            let apart = one.iter().zip(two).map(|(a, b)| a.abs_diff(b)).max();
            assert!(apart <= Some(4), "{name} at {x}: {two:?}, not {one:?}");
        }
    }
}

#[test]
fn bars_keep_their_colours_when_they_are_scaled_down() {
    let inputs = clips::inputs().unwrap();
    let desk = Desk::start("640x360", ["--mode", "fill"]).unwrap();
    for name in ["bars709tv.mp4", "bars709pc.mp4", "bars601tv.mp4"] {
        desk.set([inputs.join(name)]).unwrap().ok().unwrap();
        desk.wait_shot(&format!("half-of-{name}"), |shot| {
            BARS.iter()
                .all(|(x, colour)| shot.is_near(x / 2, 100, *colour, NEAR))
                && shot.is_near(130, 315, [0; 3], 0)
        })
        .unwrap();
    }
}

#[test]
fn high_dynamic_range_is_not_shown_raw() {
    // The same test picture: as it is, and with its values declared to be PQ or HLG in BT.2020. Those are other colours,
    // so whoever shows the values raw shows the first picture.
    let inputs = clips::inputs().unwrap();
    let desk = Desk::start("1280x720", ["--mode", "fill"]).unwrap();
    let hold = |name: &str| -> anyhow::Result<Option<Shot>> {
        let path = inputs.join(name);
        if !path.exists() {
            eprintln!("{name} is left out: this ffmpeg cannot make it");
            return Ok(None);
        }
        desk.set([&path])?.ok()?;
        desk.shot().map(Some)
    };
    let Some(plain) = hold("main10.mp4").unwrap() else {
        return;
    };
    for name in ["hdr10.mp4", "hlg.mkv"] {
        let Some(shot) = hold(name).unwrap() else { continue };
        let difference = shot.mean_difference(&plain);
        assert!(
            difference > 5.0,
            "{name} is shown as if it were SDR: {difference}"
        );
        let [red, green, blue] = shot.range(shot.all());
        assert!(
            red.1 > 128 && green.1 > 128 && blue.1 > 128,
            "{name} is dark: {red:?} {green:?} {blue:?}"
        );
    }
}
