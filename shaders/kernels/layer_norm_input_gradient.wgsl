// layer_norm_input_gradient: dx = 1 / √(variance + epsilon)·(g - mean(g) - x̂·mean(g·x̂)) ⊙ slope(x), where
// x̂ = (x - mean) / √(variance + epsilon), g = dy ⊙ gamma, the means are over the channels of each token, and slope is
// the derivative of the epilogue that produced x. One invocation per token.
//
// B rows of T tokens, C stored channels, a multiple of 4; the first `channels` are in use.
// params: LayerNorm. x, dy, dx: (B, T, C). saved: (B, T) of mean and 1 / √(variance + epsilon). gamma: (C).
// saved, gamma f32, the others Stored.
// kernel "layer_norm_input_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels",
//     "layer_norm", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read> saved: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> gamma: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> dx: array<Stored4>;

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
    let mean = saved[token].x;
    let inverse_deviation = saved[token].y;
    var sums = vec4<f32>(0.0);
    var products = vec4<f32>(0.0);
    for (var quad = 0u; quad < quads; quad++) {
        let gradient = known(quad, vec4<f32>(dy[start + quad]) * gamma[quad]);
        sums += gradient;
        products = fma(gradient, (vec4<f32>(x[start + quad]) - mean) * inverse_deviation, products);
    }
    let gradient_mean = sum_of_four(sums) / f32(params.channels);
    let product_mean = sum_of_four(products) / f32(params.channels);
    for (var quad = 0u; quad < quads; quad++) {
        let normalized = (vec4<f32>(x[start + quad]) - mean) * inverse_deviation;
        let gradient = vec4<f32>(dy[start + quad]) * gamma[quad] - gradient_mean - normalized * product_mean;
        store_gradient(start + quad, known(quad, inverse_deviation * gradient));
    }
}
