// layer_norm_forward_shared: layer_norm_forward for real GPUs. Neighboring invocations load neighboring
// channels, 16 of them per token.
//
// B rows of T tokens, C stored channels, a multiple of 4; the first `channels` are in use.
// params: LayerNorm. x, y: (B, T, C). gamma, beta: (C). saved: (B, T) of mean and 1 / √(variance + epsilon).
// gamma, beta, saved f32, the others Stored.
// kernel "layer_norm_forward_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels",
//     "layer_norm", "token_sums"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> gamma: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> beta: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;
@group(0) @binding(5) var<storage, read_write> saved: array<vec2<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let token = invocation_number(workgroup, workgroups, local) / LANES;
    let tokens = params.rows * params.tokens;
    // An out-of-bounds token is clamped to the last one and not stored, so that all invocations reach the barriers.
    let start = min(token, tokens - 1u) * quads;
    let first = local % LANES;
    var sums = vec4<f32>(0.0);
    for (var quad = first; quad < quads; quad += LANES) {
        sums += vec4<f32>(x[start + quad]);
    }
    let mean = token_sums(local, vec2<f32>(sum_of_four(sums), 0.0)).x / f32(params.channels);
    var squares = vec4<f32>(0.0);
    for (var quad = first; quad < quads; quad += LANES) {
        let distance = known(quad, vec4<f32>(x[start + quad]) - mean);
        squares = fma(distance, distance, squares);
    }
    let variance = token_sums(local, vec2<f32>(sum_of_four(squares), 0.0)).x / f32(params.channels);
    let inverse_deviation = 1.0 / sqrt(variance + params.epsilon);
    if token >= tokens {
        return;
    }
    if first == 0u {
        saved[token] = vec2<f32>(mean, inverse_deviation);
    }
    for (var quad = first; quad < quads; quad += LANES) {
        let normalized = (vec4<f32>(x[start + quad]) - mean) * inverse_deviation;
        let value = known(quad, fma(normalized, gamma[quad], beta[quad]));
        y[start + quad] = rounded(apply_epilogue(value, 4u * (start + quad), params.epilogue));
    }
}
