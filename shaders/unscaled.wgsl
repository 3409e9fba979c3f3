// Resampling where a pixel is a luma sample: chroma is interpolated linearly at its site.

fn resampled(at: vec2<u32>) -> vec4<f32> {
    let pixel = vec2<f32>(at);
    var result = luma(vec2<i32>(at) + vec2<i32>(round(parameters.luma.zw)));
    if has_chroma() {
        let position = pixel * parameters.chroma.xy + parameters.chroma.zw;
        let low = floor(position);
        let k = vec2<i32>(low);
        let second = position - low;
        let first = 1.0 - second;
        var row = chroma(k);
        if is(TWO_COLUMNS) {
            row = row * first.x + chroma(k + vec2<i32>(1, 0)) * second.x;
        }
        if is(TWO_ROWS) {
            var next = chroma(k + vec2<i32>(0, 1));
            if is(TWO_COLUMNS) {
                next = next * first.x + chroma(k + vec2<i32>(1, 1)) * second.x;
            }
            row = row * first.y + next * second.y;
        }
        result.y = row.x;
        result.z = row.y;
    }
    return result;
}
