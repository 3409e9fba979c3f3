// One picture: every invocation makes a pixel.

@compute @workgroup_size(8, 8)
fn convert(@builtin(global_invocation_id) id: vec3<u32>) {
    let canvas = textureDimensions(picture);
    if id.x >= canvas.x || id.y >= canvas.y {
        return;
    }
    var at = id.xy;
    if is(REPEATED) {
        at = id.xy % parameters.size;
    }
    let components = resampled(at);
    let m = parameters.matrix;
    let color = vec4<f32>(components.xyz, 1.0);
    let shown = shown(vec3<f32>(dot(m[0], color), dot(m[1], color), dot(m[2], color)));
    var alpha = 1.0;
    if ALPHA {
        alpha = saturate(components.w * parameters.alpha);
    }
    textureStore(picture, id.xy, vec4<f32>(shown * alpha, alpha));
}
