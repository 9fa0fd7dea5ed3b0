// position_forward: y = epilogue(x + e), with the same learned e for all rows.
//
// B rows of V values (positions times stored channels), a multiple of 4.
// params: Position. x, y: (B, V). embedding: (V). embedding f32, the others Stored.
// kernel "position_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "position_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> embedding: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.values / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * quads {
        return;
    }
    y[number] = rounded(apply_epilogue(vec4<f32>(x[number]) + embedding[number % quads], 4u * number, params.epilogue));
}
