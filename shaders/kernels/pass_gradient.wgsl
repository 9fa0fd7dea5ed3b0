// pass_gradient: dx = dy ⊙ slope(x), where slope is the derivative of the epilogue that produced x: the gradient of a
// layer that adds something to its input.
//
// params: Elementwise; elements is a multiple of 4. dy, x, dx: (elements) Stored.
// kernel "pass_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "elementwise_params",
//     "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> x: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> dx: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.elements / 4u {
        return;
    }
    store_gradient(number, vec4<f32>(dy[number]));
}
