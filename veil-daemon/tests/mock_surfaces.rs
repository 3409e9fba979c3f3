//! What veil asks of a compositor, seen from the compositor's side, and what it makes of its answers.

use std::path::Path;

use anyhow::Result;
use veil_testkit::mock::Mock;
use veil_testkit::{Daemon, clips, veil_bin};

const OUTPUT: &str = "DP-1";

fn daemon(mock: &Mock, file: &Path) -> Result<Daemon> {
    Daemon::start(
        mock.session(),
        &veil_bin(None)?,
        ["--input".as_ref(), file.as_os_str()],
    )
}

/// A picture and a clip of it.
fn both() -> Result<[std::path::PathBuf; 2]> {
    Ok([clips::quadrants(640, 360)?, clips::quadrants_video(640, 360)?])
}

#[test]
fn one_layer_surface_an_output_that_takes_no_input() {
    for file in both().unwrap() {
        let mock = Mock::start(OUTPUT, 640, 360).unwrap();
        let _daemon = daemon(&mock, &file).unwrap();
        mock.wait_for_picture(OUTPUT, "surfaces", |shot| {
            clips::is_quadrants(shot, shot.all(), 6)
        })
        .unwrap();
        let layers = mock.layers(OUTPUT);
        assert_eq!(layers.len(), 1);
        let (surface, layer) = &layers[0];
        assert_eq!(layer.namespace, "veil-wallpaper");
        assert_eq!(
            (layer.layer, layer.anchor, layer.exclusive_zone, layer.keyboard),
            (0, 15, -1, 0)
        );
        assert_eq!(layer.size, (0, 0));
        let parts = mock.parts(OUTPUT);
        assert_eq!(parts.len(), 1);
        // Clicks go to what is below: an empty region, not none, which would be everywhere.
        assert_eq!(surface.input, Some(Vec::new()));
        assert_eq!(parts[0].input, Some(Vec::new()));
        assert_eq!(parts[0].buffer, Some((640, 360)));
        assert_eq!(parts[0].destination, Some((640, 360)));
        // Nothing with a pixel before the size was known.
        let first = mock
            .commits()
            .into_iter()
            .find(|commit| commit.surface == surface.id)
            .unwrap();
        assert_eq!(first.attached, None);
        assert_eq!(mock.complaints(), Vec::<String>::new());
    }
}
