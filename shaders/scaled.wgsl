// Resampling by a tent that is as wide as two output pixels, and never narrower than two samples.

// The samples under a tent, and what its height is there.
struct Tent {
    position: vec2<f32>,
    radius: vec2<f32>,
    first: vec2<i32>,
    end: vec2<i32>,
}

fn tent(axes: vec4<f32>, at: vec2<u32>) -> Tent {
    let position = vec2<f32>(at) * axes.xy + axes.zw;
    let radius = max(axes.xy, vec2<f32>(1.0));
    return Tent(
        position,
        radius,
        vec2<i32>(ceil(position - radius)),
        vec2<i32>(floor(position + radius)) + vec2<i32>(1),
    );
}

fn height(sample: i32, position: f32, radius: f32) -> f32 {
    return max(0.0, 1.0 - abs(f32(sample) - position) / radius);
}

fn resampled(at: vec2<u32>) -> vec4<f32> {
    var result = vec4<f32>(0.0);
    let l = tent(parameters.luma, at);
    var weights = vec2<f32>(0.0);
    for (var y = l.first.y; y < l.end.y; y++) {
        var row = vec4<f32>(0.0);
        weights.x = 0.0;
        for (var x = l.first.x; x < l.end.x; x++) {
            let weight = height(x, l.position.x, l.radius.x);
            row += luma(vec2<i32>(x, y)) * weight;
            weights.x += weight;
        }
        let weight = height(y, l.position.y, l.radius.y);
        result += row * weight;
        weights.y += weight;
    }
    result /= weights.x * weights.y;
    if has_chroma() {
        let c = tent(parameters.chroma, at);
        var sum = vec2<f32>(0.0);
        weights = vec2<f32>(0.0);
        for (var y = c.first.y; y < c.end.y; y++) {
            var row = vec2<f32>(0.0);
            weights.x = 0.0;
            for (var x = c.first.x; x < c.end.x; x++) {
                let weight = height(x, c.position.x, c.radius.x);
                row += chroma(vec2<i32>(x, y)) * weight;
                weights.x += weight;
            }
            let weight = height(y, c.position.y, c.radius.y);
            sum += row * weight;
            weights.y += weight;
        }
        sum /= weights.x * weights.y;
        result.y = sum.x;
        result.z = sum.y;
    }
    return result;
}
