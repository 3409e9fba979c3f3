//! Alpha.

use crate::level::Cpu;

/// Puts alpha, samples of 15 bits of which 32 640 is 1, into pixels and multiplies their colours by it.
pub(crate) fn premultiply(cpu: Cpu, alpha: &[i16], out: &mut [u8]) {
    match cpu {
        Cpu::Portable => premultiply_any(alpha, out),
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(cpu) => cpu.premultiply(alpha, out),
    }
}

#[inline(always)]
pub(crate) fn premultiply_any(alpha: &[i16], out: &mut [u8]) {
    for (pixel, &a) in out.as_chunks_mut::<4>().0.iter_mut().zip(alpha) {
        // Of 65 535 now, which times a byte, by 65 536 and rounded, is that byte.
        let a = (a as u32 * 257) >> 7;
        let times = |v: u8| ((u32::from(v) * a + 0x8000) >> 16) as u8;
        *pixel = [times(pixel[0]), times(pixel[1]), times(pixel[2]), times(255)];
    }
}
