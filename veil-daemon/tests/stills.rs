//! Still pictures: what counts as one, that it is drawn exactly, and which are refused.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use veil_testkit::{Desk, Rect, Sway, clips};

const RED: [u8; 3] = [220, 30, 40];
const NO_ARGUMENTS: [&str; 0] = [];

#[test]
fn content_decides_and_not_the_name() {
    let mut desk = Desk::start("640x360", NO_ARGUMENTS).unwrap();
    let folder = desk.sway.session().folder().to_owned();
    let still = clips::quadrants(320, 180).unwrap();
    let video = clips::quadrants_video(320, 180).unwrap();
    for (file, name, kind) in [
        (&still, "picture.mp4", "still"),
        (&video, "video.png", "video"),
        (&still, "picture", "still"),
        (&video, "video.txt", "video"),
        (&still, "picture.heic", "still"),
    ] {
        let copy = clips::copy_as(file, &folder, name).unwrap();
        desk.set([&copy]).unwrap().ok().unwrap();
        let status = desk.first().unwrap();
        assert_eq!(status["kind"], kind, "{name}");
        assert_eq!(status["path"], copy.to_str().unwrap());
        desk.wait_shot(name, |shot| clips::is_quadrants(shot, shot.all(), 5))
            .unwrap();
        desk.daemon.client(["clear"]).unwrap().ok().unwrap();
        desk.wait_first("nothing", |output| output["kind"] == "none")
            .unwrap();
    }
}

#[test]
fn every_format_that_is_promised() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let folder = desk.sway.session().folder().to_owned();
    let plain = DynamicImage::ImageRgb8(RgbImage::from_pixel(64, 36, Rgb(RED)));
    let formats = [
        ("png", ImageFormat::Png),
        ("jpeg", ImageFormat::Jpeg),
        ("webp", ImageFormat::WebP),
        ("bmp", ImageFormat::Bmp),
        ("tiff", ImageFormat::Tiff),
        ("pnm", ImageFormat::Pnm),
        ("qoi", ImageFormat::Qoi),
        ("ico", ImageFormat::Ico),
        ("gif", ImageFormat::Gif),
    ];
    for (name, format) in formats {
        // A name that says nothing.
        let path = folder.join(name);
        let picture = match format {
            ImageFormat::Ico | ImageFormat::Gif => DynamicImage::ImageRgba8(plain.to_rgba8()),
            _ => plain.clone(),
        };
        picture.save_with_format(&path, format).unwrap();
        desk.set([&path]).unwrap().ok().unwrap();
        let status = desk.first().unwrap();
        assert_eq!(
            (&status["kind"], &status["state"]),
            (&"still".into(), &"still".into()),
            "{name}"
        );
        desk.wait_shot(name, |shot| shot.is_plain(RED, 3)).unwrap();
        desk.daemon.client(["clear"]).unwrap().ok().unwrap();
    }
}

#[test]
fn pixels_are_exact_where_nothing_has_to_be_scaled() {
    let desk = Desk::start("641x359", NO_ARGUMENTS).unwrap();
    let colour = |x: u32, y: u32| [(x * 7) as u8, (y * 11) as u8, (x ^ y) as u8];
    let picture = clips::picture("every-pixel-differs", 641, 359, colour).unwrap();
    let exact = image::open(&picture).unwrap().into_rgb8();
    for mode in ["fill", "fit", "stretch", "center", "tile"] {
        desk.set(["--mode".as_ref(), mode.as_ref(), picture.as_os_str()])
            .unwrap()
            .ok()
            .unwrap();
        desk.wait_shot(mode, |shot| *shot.image() == exact).unwrap();
    }
}

#[test]
fn a_fine_pattern_stays_sharp_at_a_fractional_scale() {
    let sway = Sway::start("1920x1080").unwrap();
    sway.output("HEADLESS-1").scale(1.5).unwrap();
    let checker = clips::inputs().unwrap().join("checker1px.png");
    let desk = Desk::on(sway, ["--input".as_ref(), checker.as_os_str()]).unwrap();
    desk.wait_shot("checker-at-1.5", |shot| {
        let pixels = || shot.image().pixels();
        pixels().all(|pixel| pixel.0 == [0; 3] || pixel.0 == [255; 3])
            && pixels().filter(|pixel| pixel.0[0] == 255).count() == 1920 * 1080 / 2
    })
    .unwrap();
    let scale = desk.first().unwrap()["scale"].as_f64().unwrap();
    assert!((scale - 1.5).abs() < 0.01, "{scale}");
}

#[test]
fn transparent_parts_show_the_background() {
    let desk = Desk::start("320x180", ["--background", "#204060"]).unwrap();
    let path = desk.sway.session().folder().join("half.png");
    let image = RgbaImage::from_fn(320, 180, |x, _| {
        Rgba([255, 255, 255, if x < 160 { 0 } else { 51 }])
    });
    image.save(&path).unwrap();
    desk.set([&path]).unwrap().ok().unwrap();
    // A fifth of white over the background.
    desk.wait_shot("alpha", |shot| {
        shot.is_near(40, 90, [0x20, 0x40, 0x60], 1) && shot.is_near(280, 90, [77, 102, 128], 2)
    })
    .unwrap();
}

#[test]
fn a_photo_is_shown_upright() {
    let desk = Desk::start("640x480", ["--background", "#00ff00"]).unwrap();
    let photo = clips::inputs().unwrap().join("exif6.jpg");
    desk.set(["--mode".as_ref(), "center".as_ref(), photo.as_os_str()])
        .unwrap()
        .ok()
        .unwrap();
    // Stored 400x200, blue left and red right; upright it is 200x400 with blue above.
    desk.wait_shot("exif6", |shot| {
        shot.is_near(320, 100, [0, 0, 255], 10)
            && shot.is_near(320, 380, [255, 0, 0], 10)
            && shot.is_near(180, 240, [0, 255, 0], 1)
            && shot.is_near(460, 240, [0, 255, 0], 1)
    })
    .unwrap();
}

#[test]
fn of_an_animation_the_first_picture_is_shown() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    for name in ["anim.webp", "anim.apng"] {
        let path = clips::inputs().unwrap().join(name);
        if !path.exists() {
            eprintln!("{name} is left out: this ffmpeg cannot make it");
            continue;
        }
        let reference = desk.sway.session().folder().join("first.png");
        if name == "anim.apng" {
            image::open(&path).unwrap().into_rgb8().save(&reference).unwrap();
        }
        desk.set([&path]).unwrap().ok().unwrap();
        let status = desk.first().unwrap();
        assert_eq!(status["kind"], "still", "{name}");
        desk.wait_shot(name, |shot| {
            let [red, _, blue] = shot.range(shot.all());
            red.1 > 200 && blue.1 > 200 && red.0 < 50
        })
        .unwrap();
    }
}

/// The head of a PNG with this size and depth, and an empty rest.
fn png_head(width: u32, height: u32, depth: u8) -> Vec<u8> {
    let mut chunk = b"IHDR".to_vec();
    chunk.extend(width.to_be_bytes());
    chunk.extend(height.to_be_bytes());
    // RGB, and the usual compression, filter and interlacing.
    chunk.extend([depth, 2, 0, 0, 0]);
    let mut crc = !0u32;
    for byte in &chunk {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    png.extend(&chunk);
    png.extend((!crc).to_be_bytes());
    // An IDAT, so that a reader of heads is content.
    png.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    png
}

#[test]
fn pictures_beyond_the_limits_are_refused_before_they_are_decoded() {
    let desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let good = clips::picture("plain", 32, 18, |_, _| RED).unwrap();
    desk.set([&good]).unwrap().ok().unwrap();
    let folder = desk.sway.session().folder().to_owned();
    let real = clips::picture("too-wide", 16385, 2, |_, _| RED).unwrap();
    let files: [(Vec<u8>, &str); 6] = [
        (std::fs::read(real).unwrap(), "16384"),
        (png_head(2, 16385, 8), "16384"),
        (png_head(1_000_000, 1_000_000, 8), "16384"),
        // 768 MiB, and 768 MiB in another way.
        (png_head(16384, 16384, 8), "512 MiB"),
        (png_head(16384, 8192, 16), "512 MiB"),
        (b"P6 16384 16384 255\n".to_vec(), "512 MiB"),
    ];
    let before = desk.daemon.process().rss_kib().unwrap();
    for (number, (bytes, reason)) in files.iter().enumerate() {
        let path = folder.join(format!("large-{number}"));
        std::fs::write(&path, bytes).unwrap();
        let ran = desk.set([&path]).unwrap();
        assert_eq!(ran.code(), 1, "{number}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(reason), "{number}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    let after = desk.daemon.process().rss_kib().unwrap();
    assert!(
        after < before + 16 * 1024,
        "{before} KiB resident before, {after} after"
    );
    desk.wait_shot("as-before", |shot| shot.is_plain(RED, 0)).unwrap();
}

#[test]
fn the_longest_sides_that_are_allowed() {
    let desk = Desk::start("640x360", NO_ARGUMENTS).unwrap();
    for (width, height) in [(16384, 3), (3, 16384), (1, 1)] {
        let picture = clips::picture("longest", width, height, |_, _| RED).unwrap();
        desk.daemon.client(["clear"]).unwrap().ok().unwrap();
        for mode in ["fit", "fill", "stretch", "center", "tile"] {
            desk.set(["--mode".as_ref(), mode.as_ref(), picture.as_os_str()])
                .unwrap()
                .ok()
                .unwrap();
            desk.wait_shot(&format!("longest-{width}-{mode}"), |shot| {
                // In the middle there is a pixel of it in every mode.
                shot.mean(Rect::new(318, 178, 4, 4))[0] > 10.0
            })
            .unwrap();
        }
    }
}

#[test]
fn a_colour_is_a_wallpaper_and_comes_back() {
    let mut desk = Desk::start("320x180", NO_ARGUMENTS).unwrap();
    let red = |shot: &veil_testkit::Shot| shot.is_plain(RED, 0);
    desk.daemon
        .client(["set", "--color", "#dc1e28"])
        .unwrap()
        .ok()
        .unwrap();
    let status = desk.first().unwrap();
    assert_eq!(
        (&status["kind"], &status["state"]),
        (&"color".into(), &"still".into())
    );
    assert_eq!(
        (&status["path"], &status["source"]["color"]),
        (&serde_json::Value::Null, &"#dc1e28".into())
    );
    desk.wait_shot("red", red).unwrap();
    // An output of another size has it too.
    let name = status["name"].as_str().unwrap();
    desk.sway.output(name).mode("640x360").unwrap();
    desk.wait_shot("red, larger", |shot| shot.size() == (640, 360) && red(shot))
        .unwrap();
    desk.restart(NO_ARGUMENTS).unwrap();
    desk.wait_first("red again", |output| output["kind"] == "color")
        .unwrap();
    desk.wait_shot("red again", red).unwrap();
}
