// Probabilities, for the gradients of keys and values. Needs attention_heads.wgsl.

// Probabilities of four keys for a query, given their products and the log-sum-exp of the query's scores.
fn probabilities(scores: vec4<f32>, log_sum: f32, keys: vec4<u32>, query: u32) -> vec4<f32> {
    return select(vec4<f32>(0.0), exp(params.scale * scores - log_sum), attended(keys, query));
}
