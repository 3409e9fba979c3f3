//! The last step with AVX2; see `narrow::pack` for what is computed.

use super::{Avx2, blocks, load, store};
use crate::narrow::pack::{Chroma, Colors, Luma, Phase, terms_from};
use crate::source::Align;
use std::arch::x86_64::*;

impl Avx2 {
    /// See [`terms_from`].
    pub(crate) fn terms(self, colors: &Colors, chroma: [&[i16]; 2], out: [&mut [i16]; 3]) {
        let count = chroma[0].len();
        assert!(chroma[1].len() == count && out.iter().all(|row| row.len() >= count));
        // SAFETY: `self` proves that the processor has AVX2; all rows are as long as the first.
        unsafe { terms(colors, chroma, out) }
    }

    /// Pixels of luma and chroma of half its columns.
    pub(crate) fn pack_half(self, colors: &Colors, luma: Luma<'_>, chroma: Chroma<'_>, out: &mut [u8]) {
        let width = out.len() / 4;
        assert!(
            chroma
                .terms
                .iter()
                .all(|row| row.len() >= width.next_multiple_of(32) / 2 + 2)
        );
        // SAFETY: `self` proves that the processor has AVX2; terms go two samples beyond the last whole block, and
        // luma was checked to have a sample a pixel.
        unsafe {
            match luma {
                Luma::Bytes(row) => {
                    assert!(row.len() >= width);
                    half(colors, &Bytes(row), chroma, out);
                }
                Luma::Pairs(row, align) => {
                    assert!(row.len() >= width);
                    half(colors, &Pairs(row, align), chroma, out);
                }
                Luma::Line(row) => {
                    assert!(row.len() >= width);
                    half(colors, &Line(row), chroma, out);
                }
            }
        }
    }

    /// Pixels of luma and chroma on the same grid.
    pub(crate) fn pack_full(self, colors: &Colors, rows: [&[i16]; 3], out: &mut [u8]) {
        assert!(
            rows.iter()
                .all(|row| row.len() >= (out.len() / 4).next_multiple_of(32))
        );
        // SAFETY: `self` proves that the processor has AVX2; rows go to the end of the last whole block.
        unsafe { full(colors, rows, out) }
    }

    /// Pixels of red, green and blue.
    pub(crate) fn pack_rgb(self, scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], out: &mut [u8]) {
        assert!(
            rows.iter()
                .all(|row| row.len() >= (out.len() / 4).next_multiple_of(32))
        );
        // SAFETY: `self` proves that the processor has AVX2; rows go to the end of the last whole block.
        unsafe { rgb(scale, bias, rows, out) }
    }
}

/// # Safety
/// All rows are as long as the first of `chroma`.
#[target_feature(enable = "avx2")]
unsafe fn terms(colors: &Colors, [cb, cr]: [&[i16]; 2], [r, g, b]: [&mut [i16]; 3]) {
    let [cr_r, cb_g, cr_g, cb_b] =
        [colors.cr_r, colors.cb_g, colors.cr_g, colors.cb_b].map(|v| _mm256_set1_epi16(v));
    let bias = colors.bias.map(|v| _mm256_set1_epi16(v));
    let left = blocks(cb.len(), 16, |at| {
        // SAFETY: a block ends within the first row, and so within all.
        unsafe {
            let (u, v) = (load(cb, at), load(cr, at));
            let green = _mm256_add_epi16(_mm256_mulhrs_epi16(u, cb_g), _mm256_mulhrs_epi16(v, cr_g));
            store(r, at, _mm256_add_epi16(_mm256_mulhrs_epi16(v, cr_r), bias[0]));
            store(g, at, _mm256_add_epi16(green, bias[1]));
            store(b, at, _mm256_add_epi16(_mm256_mulhrs_epi16(u, cb_b), bias[2]));
        }
    });
    if left > 0 {
        terms_from(0, colors, [cb, cr], [r, g, b]);
    }
}

/// Where luma comes from, 32 samples of 16 bits at a time: those of even columns, and those of odd ones.
trait LumaRow {
    /// # Safety
    /// There are 32 samples from `at`.
    unsafe fn load(&self, at: usize) -> [__m256i; 2];
    /// The up to 31 samples from `at`, and others to make up 32.
    ///
    /// # Safety
    /// The processor has AVX2.
    unsafe fn load_last(&self, at: usize) -> [__m256i; 2];
}

struct Bytes<'a>(&'a [u8]);
struct Pairs<'a>(&'a [[u8; 2]], Align);
struct Line<'a>(&'a [i16]);

/// A copy of what is left from `at`, made up to 32 elements.
#[inline(always)]
fn padded<T: Copy + Default>(row: &[T], at: usize) -> [T; 32] {
    let mut all = [T::default(); 32];
    let rest = &row[at..];
    let count = rest.len().min(32);
    all[..count].copy_from_slice(&rest[..count]);
    all
}

impl LumaRow for Bytes<'_> {
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> [__m256i; 2] {
        // SAFETY: the caller promises 32 bytes, and is compiled for AVX2.
        unsafe {
            let x = load(self.0, at);
            [
                _mm256_slli_epi16::<8>(x),
                _mm256_and_si256(x, _mm256_set1_epi16(0xff00u16 as i16)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn load_last(&self, at: usize) -> [__m256i; 2] {
        // SAFETY: the copy has 32 bytes.
        unsafe { Bytes(&padded(self.0, at)).load(0) }
    }
}

/// Takes words of even and of odd columns apart, lane by lane as packing bytes puts them together again.
#[inline]
#[target_feature(enable = "avx2")]
fn apart(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let mask = _mm256_set1_epi32(0xffff);
    let even = _mm256_packus_epi32(_mm256_and_si256(a, mask), _mm256_and_si256(b, mask));
    let odd = _mm256_packus_epi32(_mm256_srli_epi32::<16>(a), _mm256_srli_epi32::<16>(b));
    [
        _mm256_permute4x64_epi64::<0xd8>(even),
        _mm256_permute4x64_epi64::<0xd8>(odd),
    ]
}

impl LumaRow for Pairs<'_> {
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> [__m256i; 2] {
        // SAFETY: the caller promises 32 pairs, and is compiled for AVX2.
        unsafe {
            let shift = _mm_cvtsi32_si128(i32::from(self.1.shift));
            let mask = _mm256_set1_epi16(self.1.mask as i16);
            apart(load(self.0, at), load(self.0, at + 16))
                .map(|x| _mm256_and_si256(_mm256_sll_epi16(x, shift), mask))
        }
    }

    #[inline(always)]
    unsafe fn load_last(&self, at: usize) -> [__m256i; 2] {
        // SAFETY: the copy has 32 pairs.
        unsafe { Pairs(&padded(self.0, at), self.1).load(0) }
    }
}

impl LumaRow for Line<'_> {
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> [__m256i; 2] {
        // SAFETY: the caller promises 32 samples, and is compiled for AVX2.
        unsafe { apart(load(self.0, at), load(self.0, at + 16)).map(|x| _mm256_slli_epi16::<1>(x)) }
    }

    #[inline(always)]
    unsafe fn load_last(&self, at: usize) -> [__m256i; 2] {
        // SAFETY: the copy has 32 samples.
        unsafe { Line(&padded(self.0, at)).load(0) }
    }
}

/// # Safety
/// `luma` has a sample a pixel; terms have half as many, up to a multiple of 16, and two more.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half<L: LumaRow>(colors: &Colors, luma: &L, chroma: Chroma<'_>, out: &mut [u8]) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match chroma.phase {
            Phase::On => half_in::<L, 0>(colors, luma, chroma.terms, out),
            Phase::OnOdd => half_in::<L, 1>(colors, luma, chroma.terms, out),
            Phase::Around => half_in::<L, 2>(colors, luma, chroma.terms, out),
            Phase::AroundOdd => half_in::<L, 3>(colors, luma, chroma.terms, out),
        }
    }
}

/// # Safety
/// As for [`half`].
#[target_feature(enable = "avx2")]
unsafe fn half_in<L: LumaRow, const PHASE: u8>(
    colors: &Colors,
    luma: &L,
    terms: [&[i16]; 3],
    out: &mut [u8],
) {
    let factor = _mm256_set1_epi16(colors.luma as i16);
    // Bytes of 8 even and 8 odd columns, alternating.
    let order = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
    ));
    let block = |at: usize, luma: [__m256i; 2]| {
        let [even, odd] = luma.map(|y| _mm256_mulhi_epu16(y, factor));
        let [r, g, b] = terms.map(|row| {
            // SAFETY: terms go two samples beyond the last whole block.
            let [e, o] = unsafe { pair::<PHASE>(row, at / 2) };
            let e = _mm256_srai_epi16::<5>(_mm256_add_epi16(even, e));
            let o = _mm256_srai_epi16::<5>(_mm256_add_epi16(odd, o));
            _mm256_shuffle_epi8(_mm256_packus_epi16(e, o), order)
        });
        let [a, b] = pixels(r, g, b);
        // Columns 0 to 15 are in the low halves, 16 to 31 in the high ones.
        [
            _mm256_permute2x128_si256::<0x20>(a[0], a[1]),
            _mm256_permute2x128_si256::<0x20>(b[0], b[1]),
            _mm256_permute2x128_si256::<0x31>(a[0], a[1]),
            _mm256_permute2x128_si256::<0x31>(b[0], b[1]),
        ]
    };
    let width = out.len() / 4;
    let mut at = 0;
    while at + 32 <= width {
        // SAFETY: luma and the output have 32 pixels from here.
        unsafe { put(out, at, block(at, luma.load(at))) };
        at += 32;
    }
    if at < width {
        // SAFETY: this function runs, so the processor has AVX2.
        put_last(out, at, block(at, unsafe { luma.load_last(at) }));
    }
}

/// What chroma adds to 16 even and 16 odd columns.
///
/// # Safety
/// `row` has 18 terms from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pair<const PHASE: u8>(row: &[i16], at: usize) -> [__m256i; 2] {
    // SAFETY: the caller promises 18 terms.
    let (b, c) = unsafe { (load(row, at + 1), load(row, at + 2)) };
    let middle = || _mm256_srai_epi16::<1>(_mm256_add_epi16(b, c));
    let quarter = |from, to| _mm256_add_epi16(from, _mm256_srai_epi16::<2>(_mm256_sub_epi16(to, from)));
    match PHASE {
        0 => [b, middle()],
        1 => [middle(), c],
        2 => {
            // SAFETY: the caller promises 18 terms.
            let a = unsafe { load(row, at) };
            [quarter(b, a), quarter(b, c)]
        }
        _ => [quarter(b, c), quarter(c, b)],
    }
}

/// Pixels of 32 bytes of each colour: of the lower and the upper 8 columns of each half, 4 and 4.
#[inline]
#[target_feature(enable = "avx2")]
fn pixels(r: __m256i, g: __m256i, b: __m256i) -> [[__m256i; 2]; 2] {
    let ones = _mm256_set1_epi8(-1);
    let mix = |bg, rx| [_mm256_unpacklo_epi16(bg, rx), _mm256_unpackhi_epi16(bg, rx)];
    [
        mix(_mm256_unpacklo_epi8(b, g), _mm256_unpacklo_epi8(r, ones)),
        mix(_mm256_unpackhi_epi8(b, g), _mm256_unpackhi_epi8(r, ones)),
    ]
}

/// Stores 32 pixels.
///
/// # Safety
/// `out` has 32 pixels from `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn put(out: &mut [u8], at: usize, pixels: [__m256i; 4]) {
    for (i, value) in pixels.into_iter().enumerate() {
        // SAFETY: the caller promises 128 bytes.
        unsafe { store(out, 4 * at + 32 * i, value) };
    }
}

/// Stores as many of 32 pixels as there is room for.
#[inline]
#[target_feature(enable = "avx2")]
fn put_last(out: &mut [u8], at: usize, pixels: [__m256i; 4]) {
    let mut all = [0u8; 128];
    // SAFETY: the copy has 32 pixels.
    unsafe { put(&mut all, 0, pixels) };
    let out = &mut out[4 * at..];
    let count = out.len();
    out.copy_from_slice(&all[..count]);
}

/// Calls `block` for every 32 pixels; it returns 16-bit colours of 16 and 16 of them.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn every_32(out: &mut [u8], block: impl Fn(usize) -> [[__m256i; 2]; 3]) {
    // SAFETY: the caller is compiled for AVX2; a whole block has 32 pixels.
    unsafe {
        let whole = |at: usize| {
            let [r, g, b] = block(at)
                .map(|c| _mm256_packus_epi16(_mm256_srai_epi16::<5>(c[0]), _mm256_srai_epi16::<5>(c[1])));
            // Packing put columns 0 to 7 and 16 to 23 into the low half.
            let [a, b] = pixels(r, g, b);
            [
                _mm256_permute2x128_si256::<0x20>(a[0], a[1]),
                _mm256_permute2x128_si256::<0x31>(a[0], a[1]),
                _mm256_permute2x128_si256::<0x20>(b[0], b[1]),
                _mm256_permute2x128_si256::<0x31>(b[0], b[1]),
            ]
        };
        let width = out.len() / 4;
        let mut at = 0;
        while at + 32 <= width {
            put(out, at, whole(at));
            at += 32;
        }
        if at < width {
            put_last(out, at, whole(at));
        }
    }
}

/// # Safety
/// Rows have a sample a pixel, up to a multiple of 32.
#[target_feature(enable = "avx2")]
unsafe fn full(colors: &Colors, [y, cb, cr]: [&[i16]; 3], out: &mut [u8]) {
    let [cr_r, cb_g, cr_g, cb_b] =
        [colors.cr_r, colors.cb_g, colors.cr_g, colors.cb_b].map(|v| _mm256_set1_epi16(v));
    let [bias_r, bias_g, bias_b] = colors.bias.map(|v| _mm256_set1_epi16(v));
    let factor = _mm256_set1_epi16(colors.luma as i16);
    let block = |at: usize| {
        let [a, b] = [at, at + 16].map(|at| {
            // SAFETY: a block of 32 begins within the pixels, and rows go to its end.
            let [y, u, v] = [y, cb, cr].map(|row| unsafe { load(row, at) });
            let y = _mm256_mulhi_epu16(_mm256_slli_epi16::<1>(y), factor);
            let green = _mm256_add_epi16(_mm256_mulhrs_epi16(u, cb_g), _mm256_mulhrs_epi16(v, cr_g));
            [
                _mm256_add_epi16(y, _mm256_add_epi16(_mm256_mulhrs_epi16(v, cr_r), bias_r)),
                _mm256_add_epi16(y, _mm256_add_epi16(green, bias_g)),
                _mm256_add_epi16(y, _mm256_add_epi16(_mm256_mulhrs_epi16(u, cb_b), bias_b)),
            ]
        });
        [[a[0], b[0]], [a[1], b[1]], [a[2], b[2]]]
    };
    // SAFETY: this function runs, so the processor has AVX2.
    unsafe { every_32(out, block) }
}

/// # Safety
/// Rows have a sample a pixel, up to a multiple of 32.
#[target_feature(enable = "avx2")]
unsafe fn rgb(scale: [u16; 3], bias: [i16; 3], rows: [&[i16]; 3], out: &mut [u8]) {
    let block = |at: usize| {
        [0, 1, 2].map(|i: usize| {
            let (factor, bias) = (_mm256_set1_epi16(scale[i] as i16), _mm256_set1_epi16(bias[i]));
            [at, at + 16].map(|at| {
                // SAFETY: a block of 32 begins within the pixels, and rows go to its end.
                let v = unsafe { load(rows[i], at) };
                _mm256_add_epi16(_mm256_mulhi_epu16(_mm256_slli_epi16::<1>(v), factor), bias)
            })
        })
    };
    // SAFETY: this function runs, so the processor has AVX2.
    unsafe { every_32(out, block) }
}
