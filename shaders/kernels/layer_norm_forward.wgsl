// layer_norm_forward: y = epilogue((x - mean) / √(variance + epsilon)·gamma + beta), with mean and variance over the
// channels of each token. Ba, Kiros and Hinton, "Layer Normalization", 2016. One invocation per token.
//
// B rows of T tokens, C stored channels, a multiple of 4; the first `channels` are in use.
// params: LayerNorm. x, y: (B, T, C). gamma, beta: (C). saved: (B, T) of mean and 1 / √(variance + epsilon).
// gamma, beta, saved f32, the others Stored.
// kernel "layer_norm_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels",
//     "layer_norm"
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
    let token = invocation_number(workgroup, workgroups, local);
    if token >= params.rows * params.tokens {
        return;
    }
    let start = token * quads;
    var sums = vec4<f32>(0.0);
    for (var quad = 0u; quad < quads; quad++) {
        sums += vec4<f32>(x[start + quad]);
    }
    let mean = sum_of_four(sums) / f32(params.channels);
    var squares = vec4<f32>(0.0);
    for (var quad = 0u; quad < quads; quad++) {
        let distance = known(quad, vec4<f32>(x[start + quad]) - mean);
        squares = fma(distance, distance, squares);
    }
    let inverse_deviation = 1.0 / sqrt(sum_of_four(squares) / f32(params.channels) + params.epsilon);
    saved[token] = vec2<f32>(mean, inverse_deviation);
    for (var quad = 0u; quad < quads; quad++) {
        let normalized = (vec4<f32>(x[start + quad]) - mean) * inverse_deviation;
        let value = known(quad, fma(normalized, gamma[quad], beta[quad]));
        y[start + quad] = rounded(apply_epilogue(value, 4u * (start + quad), params.epilogue));
    }
}
