// What a conversion is made of, apart from its planes and its target. `convert/parameters.rs` writes it.

struct Parameters {
    // R′G′B′ of the resampled components: three factors and a constant, a row a colour.
    matrix: array<vec4<f32>, 3>,
    // Light in BT.709's primaries: three factors a row. The fourth numbers are the weights of red, green and blue in
    // luminance.
    primaries: array<vec4<f32>, 3>,
    // Along each axis: samples from an output pixel to the next, and where the first one's centre lies among them.
    luma: vec4<f32>,
    chroma: vec4<f32>,
    // The last luma and the last chroma sample along each axis.
    last: vec4<i32>,
    // Where component i is in the texels of its plane. A row is a sequence of words, `1 << z` a texel: sample k is word
    // `x + k · y` of it. How the sample is in the word: see `code`.
    components: array<vec4<u32>, 4>,
    // Columns and rows that are drawn; the target may be several times as large.
    size: vec2<u32>,
    flags: u32,
    // What makes an alpha sample 0 to 1.
    alpha: f32,
}

// Component 1 is in the texel of component 0; 2 in that of 1; alpha in that of 0.
const TOGETHER_1: u32 = 1u;
const TOGETHER_2: u32 = 2u;
const TOGETHER_3: u32 = 4u;
// There is nothing but component 0.
const GRAY: u32 = 8u;
// Chroma samples of two columns, of two rows, make a pixel's.
const TWO_COLUMNS: u32 = 16u;
const TWO_ROWS: u32 = 32u;
// The target is larger than what is drawn, which is repeated.
const REPEATED: u32 = 64u;
// Hybrid log-gamma: the light of each channel depends on all three.
const HLG: u32 = 128u;

// The plane of component 0, 1, 2, and of alpha; the same one several times where they share it.
@group(0) @binding(0) var plane_0: texture_2d<f32>;
@group(0) @binding(1) var plane_1: texture_2d<f32>;
@group(0) @binding(2) var plane_2: texture_2d<f32>;
@group(0) @binding(3) var plane_3: texture_2d<f32>;
@group(0) @binding(5) var<uniform> parameters: Parameters;

fn is(flag: u32) -> bool {
    return (parameters.flags & flag) != 0u;
}
