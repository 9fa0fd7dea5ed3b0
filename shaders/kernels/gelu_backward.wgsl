// gelu_backward: dx = dy ⊙ (Φ(x) + x·φ(x)) ⊙ slope(x), where Φ and φ are the normal distribution and its density, and
// slope is the derivative of the epilogue that produced x.
//
// params: Elementwise; elements is a multiple of 4. dy, x, dx: (elements) Stored.
// kernel "gelu_backward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "elementwise_params",
//     "gelu", "store_gradient"
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
    store_gradient(number, vec4<f32>(dy[number]) * gelu_slope(vec4<f32>(x[number])));
}
