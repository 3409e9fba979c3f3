// Wide gamuts and high dynamic range, shown in standard dynamic range: what `veil_frame::tone_map` defines.
//
// Where a colour is near the gamut's border its light is a small difference of large numbers, and the steep end of the
// last curve makes errors of 1e-6 visible. Vulkan does not ask for that much of `pow`, so the curves before the
// difference are tables, which are as good on every device; what comes after may be rough.

// The last step of each table. `convert/curves.rs` has it, too.
const STEPS: u32 = 16384u;

// Signal to light of the target (of the scene, for HLG); then, for HLG only, displayed light, of which 1 is the
// source's peak, to light of the target.
@group(0) @binding(6) var<storage, read> curves: array<f32>;

fn curve(table: u32, value: f32) -> f32 {
    let position = saturate(value) * f32(STEPS);
    let step = min(u32(position), STEPS - 1u);
    let at = table * (STEPS + 1u) + step;
    let low = curves[at];
    return low + (curves[at + 1u] - low) * (position - f32(step));
}

fn curve3(table: u32, value: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(curve(table, value.x), curve(table, value.y), curve(table, value.z));
}

fn shown(signal: vec3<f32>) -> vec3<f32> {
    let p = parameters.primaries;
    var light = curve3(0u, signal);
    if is(HLG) {
        // The OOTF of BT.2100. Its error is the same in all channels, so it does not matter in a difference.
        let luminance = dot(vec3<f32>(p[0].w, p[1].w, p[2].w), light);
        light = curve3(1u, light * pow(max(luminance, 1e-9), 0.2));
    }
    let mapped = vec3<f32>(dot(p[0].xyz, light), dot(p[1].xyz, light), dot(p[2].xyz, light));
    return saturate(pow(max(mapped, vec3<f32>(1e-9)), vec3<f32>(1.0 / 2.4)));
}
