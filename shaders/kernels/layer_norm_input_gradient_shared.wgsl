// layer_norm_input_gradient_shared: layer_norm_input_gradient for real GPUs. Neighboring invocations load neighboring
// channels, 16 of them per token.
//
// B rows of T tokens, C stored channels, a multiple of 4; the first `channels` are in use.
// params: LayerNorm. x, dy, dx: (B, T, C). saved: (B, T) of mean and 1 / √(variance + epsilon). gamma: (C).
// saved, gamma f32, the others Stored.
// kernel "layer_norm_input_gradient_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "channels", "layer_norm", "token_sums", "store_gradient"
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
    let token = invocation_number(workgroup, workgroups, local) / LANES;
    let tokens = params.rows * params.tokens;
    // An out-of-bounds token is clamped to the last one and not stored, so that all invocations reach the barriers.
    let start = min(token, tokens - 1u) * quads;
    let first = local % LANES;
    let normalizer = saved[min(token, tokens - 1u)];
    var sums = vec4<f32>(0.0);
    var products = vec4<f32>(0.0);
    for (var quad = first; quad < quads; quad += LANES) {
        let gradient = known(quad, vec4<f32>(dy[start + quad]) * gamma[quad]);
        sums += gradient;
        products = fma(gradient, (vec4<f32>(x[start + quad]) - normalizer.x) * normalizer.y, products);
    }
    let share = vec2<f32>(sum_of_four(sums), sum_of_four(products));
    let means = token_sums(local, share) / f32(params.channels);
    if token >= tokens {
        return;
    }
    for (var quad = first; quad < quads; quad += LANES) {
        let normalized = (vec4<f32>(x[start + quad]) - normalizer.x) * normalizer.y;
        let gradient = vec4<f32>(dy[start + quad]) * gamma[quad] - means.x - normalized * means.y;
        store_gradient(start + quad, known(quad, normalizer.y * gradient));
    }
}
