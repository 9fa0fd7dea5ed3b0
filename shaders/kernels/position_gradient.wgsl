// position_gradient: de = Σ dy over one part of the batch's rows.
//
// B rows of V values (positions times stored channels), a multiple of 4. One invocation per four values of a part.
// params: Position. dy: (B, V). parts: (parts, part_stride), each de (V). parts f32, the others Stored.
// kernel "position_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "position_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> parts: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.values / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let part = number / quads;
    let first = part * params.rows_per_part;
    if first >= params.rows {
        return;
    }
    let quad = number % quads;
    var sum = vec4<f32>(0.0);
    for (var row = first; row < min(first + params.rows_per_part, params.rows); row++) {
        sum += vec4<f32>(dy[row * quads + quad]);
    }
    parts[part * params.part_stride / 4u + quad] = sum;
}
