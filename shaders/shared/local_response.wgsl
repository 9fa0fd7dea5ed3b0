// The parameter block that `params::LocalResponse` describes, and the denominators. Needs epilogue.wgsl and the
// kernel's `params` and `x`. Channel offsets are in quads.
struct Params {
    rows: u32,
    pixels: u32,
    // Stored channels, C, a multiple of 4.
    stored_channels: u32,
    // Number of neighboring channels included on each side.
    radius: u32,
    // Positive constant added to the weighted sum of squares.
    bias: f32,
    // Weight of the sum of squares.
    alpha: f32,
    // Exponent of the denominator.
    beta: f32,
    reserved: u32,
    // Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
    epilogue: Epilogue,
}

// First channel quad with a channel within the radius of quad `quad`.
fn first_neighbour(quad: u32) -> u32 {
    return (max(4u * quad, params.radius) - params.radius) / 4u;
}

// End of the channel quads with a channel within the radius of quad `quad`.
fn end_neighbour(quad: u32) -> u32 {
    return min((4u * quad + 3u + params.radius) / 4u + 1u, params.stored_channels / 4u);
}

// For each channel of quad `quad`: the sum of the `values` of quad `other` within the radius.
fn sum_within_radius(quad: u32, other: u32, values: vec4<f32>) -> vec4<f32> {
    let distance = vec4<i32>(0, 1, 2, 3) + 4 * (i32(quad) - i32(other));
    let radius = vec4<i32>(i32(params.radius));
    let zero = vec4<f32>(0.0);
    var sum = select(zero, vec4<f32>(values.x), abs(distance) <= radius);
    sum += select(zero, vec4<f32>(values.y), abs(distance - 1) <= radius);
    sum += select(zero, vec4<f32>(values.z), abs(distance - 2) <= radius);
    sum += select(zero, vec4<f32>(values.w), abs(distance - 3) <= radius);
    return sum;
}

// alpha·Σ x² around each channel of quad `quad`; the channels of the pixel begin at `start`.
fn excesses(start: u32, quad: u32) -> vec4<f32> {
    var squares = vec4<f32>(0.0);
    for (var other = first_neighbour(quad); other < end_neighbour(quad); other++) {
        let values = vec4<f32>(x[start + other]);
        squares += sum_within_radius(quad, other, values * values);
    }
    return params.alpha * squares;
}

// bias + alpha·Σ x².
fn denominators(start: u32, quad: u32) -> vec4<f32> {
    return params.bias + excesses(start, quad);
}

// denominator^beta. Drivers compute powers with logarithms and lose precision; the usual 3/4 takes two square roots.
fn power(denominator: vec4<f32>) -> vec4<f32> {
    if params.beta == 0.75 {
        let root = sqrt(denominator);
        return root * sqrt(root);
    }
    return pow(denominator, vec4<f32>(params.beta));
}

// value / (bias + excess)^beta, to half a unit in the last place in the usual case of bias 1 and a small excess: the
// term subtracted from the value is small and has the same relative precision.
fn divided(value: vec4<f32>, excess: vec4<f32>) -> vec4<f32> {
    if params.beta == 0.75 && params.bias == 1.0 {
        let root = sqrt(1.0 + excess);
        let a = excess / (root + 1.0);
        let b = a / (sqrt(root) + 1.0);
        let more = a + b + a * b;
        return fma(-value, more / (1.0 + more), value);
    }
    return value / power(params.bias + excess);
}
