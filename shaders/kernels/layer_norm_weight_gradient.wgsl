// layer_norm_weight_gradient: dgamma = Σ dy·x̂ and dbeta = Σ dy over one part of the batch's tokens, where
// x̂ = (x - mean) / √(variance + epsilon). One invocation per four channels of a part.
//
// B rows of T tokens, C stored channels, a multiple of 4; the first `channels` are in use.
// params: LayerNorm. x, dy: (B, T, C). saved: (B, T) of mean and 1 / √(variance + epsilon).
// parts: (parts, part_stride): dgamma (C), and dbeta (C) from bias_offset on, unless there is no bias.
// saved, parts f32, the others Stored.
// kernel "layer_norm_weight_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels",
//     "layer_norm", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read> saved: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> parts: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let tokens = params.rows * params.tokens;
    let number = invocation_number(workgroup, workgroups, local);
    let part = number / quads;
    let first = part * params.tokens_per_part;
    if first >= tokens {
        return;
    }
    let quad = number % quads;
    var gamma_sum = vec4<f32>(0.0);
    var beta_sum = vec4<f32>(0.0);
    for (var token = first; token < min(first + params.tokens_per_part, tokens); token++) {
        let at = token * quads + quad;
        let gradient = known(quad, vec4<f32>(dy[at]));
        gamma_sum = fma(gradient, (vec4<f32>(x[at]) - saved[token].x) * saved[token].y, gamma_sum);
        beta_sum += gradient;
    }
    let start = part * params.part_stride / 4u + quad;
    parts[start] = gamma_sum;
    if params.bias_offset != NO_BIAS {
        parts[start + params.bias_offset / 4u] = beta_sum;
    }
}
