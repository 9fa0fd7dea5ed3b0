// transpose_forward: y[b, q, p] = epilogue(x[b, p, q]): swaps pixels and channels. Each invocation stores four channels
// of a pixel of y.
//
// B samples of P pixels with Q channels; the stored channels of x and y are padded with zeros to multiples of 4.
// params: Transpose. x: (B, P, stored channels). y: (B, Q, stored pixels). All row-major Stored.
// kernel "transpose_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "transpose_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let groups = params.stored_pixels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let made = number / groups;
    let row = made / params.channels;
    if row >= params.rows {
        return;
    }
    let first = 4u * (number % groups);
    var value = vec4<f32>(0.0);
    for (var k = 0u; k < min(4u, params.pixels - first); k++) {
        value[k] = f32(x[(row * params.pixels + first + k) * params.stored_channels + made % params.channels]);
    }
    y[number] = rounded(apply_epilogue(value, 4u * number, params.epilogue));
}
