// batch_norm_forward: y = epilogue(activation((x - mean) / √(variance + epsilon)·gamma + beta)), per channel.
// Ioffe and Szegedy, "Batch Normalization", 2015.
//
// B rows of P pixels, C stored channels, a multiple of 4.
// params: BatchNorm. x, y: (B, P, C). saved: (2, C): mean, 1 / √(variance + epsilon). gamma, beta: (C).
// saved, gamma, beta f32, the others Stored.
// kernel "batch_norm_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "batch_norm_params",
//     "gelu", "batch_norm_value"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> saved: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gamma: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> beta: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<Stored4>;

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
    let by = normalizer(number % quads);
    let value = activate(fma(normalized(vec4<f32>(x[number]), by), by.gamma, by.beta));
    y[number] = rounded(apply_epilogue(value, 4u * number, params.epilogue));
}
