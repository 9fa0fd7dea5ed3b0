// local_response_forward: y = epilogue(x / (bias + alpha·Σ x_j²)^beta), with the sum over the channels j within
// `radius` of the channel. Krizhevsky, Sutskever and Hinton, "ImageNet Classification with Deep Convolutional
// Neural Networks", 2012, section 3.3.
//
// B rows of P pixels, C stored channels, a multiple of 4; padding channels are zero and do not change the sums.
// params: LocalResponse. x, y: (B, P, C) Stored.
// kernel "local_response_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "local_response"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;

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
    let quad = number % quads;
    let value = divided(vec4<f32>(x[number]), excesses(number - quad, quad));
    y[number] = rounded(apply_epilogue(value, 4u * number, params.epilogue));
}
