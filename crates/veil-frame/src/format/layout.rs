//! Layouts that several formats share, to write the table with.

use super::Component;

/// A component of bytes.
pub(super) const fn c(plane: u8, offset: u8, step: u8) -> Component {
    Component {
        plane,
        offset,
        step,
        word: 1,
        shift: 0,
        bits: 8,
        big_endian: false,
    }
}

/// A component of 16-bit words.
pub(super) const fn w(plane: u8, offset: u8, step: u8, shift: u8, bits: u8) -> Component {
    Component {
        plane,
        offset,
        step,
        word: 2,
        shift,
        bits,
        big_endian: false,
    }
}

/// A component that shares a 32-bit word with the others.
pub(super) const fn d(shift: u8, bits: u8) -> Component {
    Component {
        plane: 0,
        offset: 0,
        step: 4,
        word: 4,
        shift,
        bits,
        big_endian: false,
    }
}

/// Three planes of words.
pub(super) const fn planar(bits: u8) -> [Component; 3] {
    [w(0, 0, 2, 0, bits), w(1, 0, 2, 0, bits), w(2, 0, 2, 0, bits)]
}

/// Four planes of words.
pub(super) const fn planar_alpha(bits: u8) -> [Component; 4] {
    let [y, cb, cr] = planar(bits);
    [y, cb, cr, w(3, 0, 2, 0, bits)]
}

/// Planes of words in the order G, B, R.
pub(super) const fn gbr(bits: u8) -> [Component; 3] {
    let [g, b, r] = planar(bits);
    [r, g, b]
}

/// Planes of words in the order G, B, R, alpha.
pub(super) const fn gbr_alpha(bits: u8) -> [Component; 4] {
    let [g, b, r, a] = planar_alpha(bits);
    [r, g, b, a]
}

/// A plane of words for luma, and one where Cb and Cr alternate.
pub(super) const fn semi(shift: u8, bits: u8) -> [Component; 3] {
    [
        w(0, 0, 2, shift, bits),
        w(1, 0, 4, shift, bits),
        w(1, 2, 4, shift, bits),
    ]
}

/// Words Y, Cb, Y, Cr.
pub(super) const fn yuyv(shift: u8, bits: u8) -> [Component; 3] {
    [
        w(0, 0, 4, shift, bits),
        w(0, 2, 8, shift, bits),
        w(0, 6, 8, shift, bits),
    ]
}

/// Words Cb, Y, Cr, alpha.
pub(super) const fn uyva(shift: u8, bits: u8) -> [Component; 4] {
    [
        w(0, 2, 8, shift, bits),
        w(0, 0, 8, shift, bits),
        w(0, 4, 8, shift, bits),
        w(0, 6, 8, shift, bits),
    ]
}

/// Four words a pixel, at these places among them.
pub(super) const fn four(at: [u8; 4]) -> [Component; 4] {
    [
        w(0, 2 * at[0], 8, 0, 16),
        w(0, 2 * at[1], 8, 0, 16),
        w(0, 2 * at[2], 8, 0, 16),
        w(0, 2 * at[3], 8, 0, 16),
    ]
}

/// The same with big-endian words.
pub(super) const fn be<const N: usize>(mut components: [Component; N]) -> [Component; N] {
    let mut i = 0;
    while i < N {
        components[i].big_endian = true;
        i += 1;
    }
    components
}

/// The same with words in the machine's order of bytes.
pub(super) const fn native<const N: usize>(components: [Component; N]) -> [Component; N] {
    if cfg!(target_endian = "big") {
        be(components)
    } else {
        components
    }
}
