// gelu_forward: y = epilogue(x·Φ(x)), where Φ is the normal distribution.
//
// params: Elementwise; elements is a multiple of 4. x, y: (elements) Stored.
// kernel "gelu_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "elementwise_params",
//     "gelu"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;

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
    y[number] = rounded(apply_epilogue(gelu(vec4<f32>(x[number])), 4u * number, params.epilogue));
}
