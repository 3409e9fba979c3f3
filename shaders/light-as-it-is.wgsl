// Standard dynamic range with BT.709's primaries: only clipped.

fn shown(signal: vec3<f32>) -> vec3<f32> {
    return saturate(signal);
}
