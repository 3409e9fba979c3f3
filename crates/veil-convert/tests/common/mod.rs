//! The comparison with the reference.

#![allow(unreachable_pub, clippy::unwrap_used)]

use veil_convert::{Converter, Level, Spec};
pub use veil_testkit::planes::{Content, Picture, Random};
use veil_testkit::reference;

/// Converts with every level, and says how far the worst channel is from the reference. The bytes between rows must
/// stay as they are, and integers must give the same on every level.
pub fn worst_error(spec: &Spec, picture: &Picture, padding: usize) -> f64 {
    let planes = picture.planes();
    let expected = reference::convert(spec, &planes);
    let row = spec.size.w as usize * 4;
    let stride = row + padding;
    let mut worst = 0f64;
    for &level in Level::available() {
        let mut out = vec![0x5a; stride * (spec.size.h as usize - 1) + row];
        let mut converter = Converter::with_level(spec, level).unwrap();
        converter.convert(&planes, &mut out, stride).unwrap();
        for (y, line) in out.chunks(stride).enumerate() {
            assert!(
                line[row..].iter().all(|b| *b == 0x5a),
                "{level:?} wrote beyond a row: {spec:?}"
            );
            for (x, pixel) in line[..row].chunks_exact(4).enumerate() {
                let want = expected[y * spec.size.w as usize + x].map(f64::round);
                let got = [pixel[2], pixel[1], pixel[0], pixel[3]].map(f64::from);
                for i in 0..4 {
                    let error = (got[i] - want[i]).abs();
                    assert!(
                        error <= 2.0,
                        "{level:?} at {x},{y}: {got:?} instead of {want:?}: {spec:?}"
                    );
                    worst = worst.max(error);
                }
            }
        }
        // Once more into the same memory: nothing may be left over from the first frame.
        let before = out.clone();
        converter.convert(&planes, &mut out, stride).unwrap();
        assert!(
            out == before,
            "{level:?} converts a second frame differently: {spec:?}"
        );
    }
    worst
}
