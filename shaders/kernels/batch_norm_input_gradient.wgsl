// batch_norm_input_gradient: dx = gamma / √(variance + epsilon)·(g - dbeta / n - x̂·dgamma / n) ⊙ slope(x), where n is
// the number of pixels in the statistics, x̂ = (x - mean) / √(variance + epsilon),
// g = dy ⊙ activation'(gamma·x̂ + beta), and slope is the derivative of the epilogue that produced x. Padding rows are
// not part of the statistics and get gradient zero.
//
// B rows of P pixels, C stored channels, a multiple of 4.
// params: BatchNorm. x, dy, dx: (B, P, C). saved: (2, C): mean, 1 / √(variance + epsilon). gamma, beta: (C).
// sums: (part_stride): dgamma (C), and dbeta (C) from bias_offset on, summed over all parts.
// saved, gamma, beta, sums f32, the others Stored.
// kernel "batch_norm_input_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "batch_norm_params", "gelu", "batch_norm_value", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read> saved: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> gamma: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> beta: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> sums: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> dx: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * params.pixels * quads {
        return;
    }
    let pixels = real_pixels();
    let quad = number % quads;
    let by = normalizer(quad);
    let value = normalized(vec4<f32>(x[number]), by);
    let gradient = vec4<f32>(dy[number]) * activation_slope(fma(value, by.gamma, by.beta));
    let means = (sums[params.bias_offset / 4u + quad] + value * sums[quad]) / f32(pixels_of_batch());
    let through = by.gamma * by.inverse_deviation * (gradient - means);
    store_gradient(number, select(vec4<f32>(0.0), through, vec4<bool>(number < pixels * quads)));
}
