// concatenate_gradient: dx = the channels of dy that came from the input x, ⊙ slope(x), where slope is the derivative
// of the epilogue that produced x, the first input or the second. Each invocation stores four channels.
//
// P pixels over the whole batch; stored channels are padded with zeros to multiples of 4.
// params: Concatenate. dy: (P, stored channels). x, dx: (P, stored first) or (P, stored second). All row-major Stored.
// kernel "concatenate_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "concatenate_params", "store_gradient"
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
    let of_second = params.of_second == 1u;
    let groups = select(params.stored_first, params.stored_second, of_second) / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let pixel = number / groups;
    if pixel >= params.pixels {
        return;
    }
    let first = 4u * (number % groups);
    let start = pixel * params.stored_channels + select(0u, params.first, of_second) + first;
    var gradient = vec4<f32>(0.0);
    for (var k = 0u; k < min(4u, select(params.first, params.second, of_second) - first); k++) {
        gradient[k] = f32(dy[start + k]);
    }
    store_gradient(number, gradient);
}
