// batch_norm_gradient_sums: dgamma = Σ g·x̂ and dbeta = Σ g over one part of the samples' pixels, where
// x̂ = (x - mean) / √(variance + epsilon), g = dy ⊙ activation'(gamma·x̂ + beta), and dy is the gradient of the
// activation's result.
//
// B rows of P pixels, C stored channels, a multiple of 4. One invocation per four channels of a part.
// params: BatchNorm. x, dy: (B, P, C). saved: (2, C): mean, 1 / √(variance + epsilon). gamma, beta: (C).
// parts: (parts, part_stride): dgamma (C), and dbeta (C) from bias_offset on.
// saved, gamma, beta, parts f32, the others Stored.
// kernel "batch_norm_gradient_sums", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "batch_norm_params", "gelu", "batch_norm_value"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read> saved: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> gamma: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> beta: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> parts: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let part = number / quads;
    if part >= params.parts {
        return;
    }
    let quad = number % quads;
    let by = normalizer(quad);
    var gamma_sum = vec4<f32>(0.0);
    var beta_sum = vec4<f32>(0.0);
    for (var pixel = first_pixel(part); pixel < first_pixel(part + 1u); pixel++) {
        let at = pixel * quads + quad;
        let value = normalized(vec4<f32>(x[at]), by);
        let gradient = vec4<f32>(dy[at]) * activation_slope(fma(value, by.gamma, by.beta));
        gamma_sum = fma(gradient, value, gamma_sum);
        beta_sum += gradient;
    }
    let start = part * params.part_stride / 4u + quad;
    parts[start] = gamma_sum;
    parts[start + params.bias_offset / 4u] = beta_sum;
}
