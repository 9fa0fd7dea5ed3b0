// transpose_gradient: dx[b, p, q] = dy[b, q, p] ⊙ slope(x[b, p, q]), where slope is the derivative of the epilogue that
// produced x. Each invocation stores four channels of a pixel of dx.
//
// B samples of P pixels with Q channels; the stored channels of x and y are padded with zeros to multiples of 4.
// params: Transpose. dy: (B, Q, stored pixels). x, dx: (B, P, stored channels). All row-major Stored.
// kernel "transpose_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "transpose_params",
//     "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored>;
@group(0) @binding(2) var<storage, read> x: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> dx: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let groups = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let pixel = number / groups;
    let row = pixel / params.pixels;
    if row >= params.rows {
        return;
    }
    let first = 4u * (number % groups);
    var gradient = vec4<f32>(0.0);
    for (var k = 0u; k < min(4u, params.channels - first); k++) {
        gradient[k] = f32(dy[(row * params.channels + first + k) * params.stored_pixels + pixel % params.pixels]);
    }
    store_gradient(number, gradient);
}
