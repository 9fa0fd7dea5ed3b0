// Gradients of scores, for the gradient of queries. Needs attention_heads.wgsl and the kernel's `dy` and `y`.

// dy·y of a token, whose result begins at `start`.
fn mean_of(start: u32) -> f32 {
    var sum = 0.0;
    for (var n = 0u; n < params.head_size / 4u; n++) {
        sum += dot(vec4<f32>(dy[start + n]), vec4<f32>(y[start + n]));
    }
    return sum;
}

// Four queries.
struct Queries {
    tokens: vec4<u32>,
    log_sums: vec4<f32>,
    means: vec4<f32>,
}

// Gradients of the scores of four queries with a key, times the scale, given the products of the queries with the key,
// and of the results' gradients with the value.
fn slopes(scores: vec4<f32>, products: vec4<f32>, queries: Queries, key: u32) -> vec4<f32> {
    let probabilities = exp(params.scale * scores - queries.log_sums);
    let slopes = params.scale * probabilities * (products - queries.means);
    return select(vec4<f32>(0.0), slopes, attending(queries.tokens, key));
}
