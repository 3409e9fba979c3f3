// Samples: from texels to the numbers that were coded.

// The texel of sample `at` of a component.
fn texel(component: u32, at: vec2<i32>) -> vec2<i32> {
    let c = parameters.components[component];
    return vec2<i32>(i32((c.x + u32(at.x) * c.y) >> c.z), at.y);
}

// Which number of its texel a sample is.
fn channel(component: u32, at: vec2<i32>) -> u32 {
    let c = parameters.components[component];
    return (c.x + u32(at.x) * c.y) & ((1u << c.z) - 1u);
}

// The sample in a texel. Where its word has other bits too, `w` says where it is: the lowest bit in bits 0 to 7, the
// number of bits in 8 to 15, and bit 16 whether the bytes are to be swapped; the result is the code itself. Else `w` is
// 0, and 1 stands for the greatest code.
fn code(component: u32, at: vec2<i32>, texel: vec4<f32>) -> f32 {
    let value = texel[channel(component, at)];
    let w = parameters.components[component].w;
    if w == 0u {
        return value;
    }
    var word = u32(value * 65535.0 + 0.5);
    if (w & 0x10000u) != 0u {
        word = ((word << 8u) | (word >> 8u)) & 0xffffu;
    }
    return f32(extractBits(word, w & 0xffu, (w >> 8u) & 0xffu));
}

// Component 0, all that are together with it, and alpha, at a sample; what is elsewhere is 0.
fn luma(at: vec2<i32>) -> vec4<f32> {
    let k = clamp(at, vec2<i32>(0), parameters.last.xy);
    let first = textureLoad(plane_0, texel(0u, k), 0);
    var result = vec4<f32>(code(0u, k, first), 0.0, 0.0, 0.0);
    if is(TOGETHER_1) {
        result.y = code(1u, k, first);
        result.z = code(2u, k, first);
    }
    if ALPHA {
        if is(TOGETHER_3) {
            result.w = code(3u, k, first);
        } else {
            result.w = code(3u, k, textureLoad(plane_3, texel(3u, k), 0));
        }
    }
    return result;
}

// Components 1 and 2 at a sample.
fn chroma(at: vec2<i32>) -> vec2<f32> {
    let k = clamp(at, vec2<i32>(0), parameters.last.zw);
    let first = textureLoad(plane_1, texel(1u, k), 0);
    if is(TOGETHER_2) {
        return vec2<f32>(code(1u, k, first), code(2u, k, first));
    }
    let second = textureLoad(plane_2, texel(2u, k), 0);
    return vec2<f32>(code(1u, k, first), code(2u, k, second));
}

fn has_chroma() -> bool {
    return (parameters.flags & (GRAY | TOGETHER_1)) == 0u;
}
