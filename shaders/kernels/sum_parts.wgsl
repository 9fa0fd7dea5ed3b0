// sum_parts: sum[i] = Σ parts[p, i], in the order of the parts, added to the previous sum if `accumulate` is 1.
//
// params: SumParts; elements is a multiple of 4. parts: (parts, elements). sum: (elements). All f32.
// kernel "sum_parts", 64 invocations: "invocation", "sum_parts_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> sum: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.elements / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    if number >= quads {
        return;
    }
    var total = vec4<f32>(0.0);
    for (var part = 0u; part < params.parts; part++) {
        total += parts[part * quads + number];
    }
    if params.accumulate == 1u {
        total = sum[number] + total;
    }
    sum[number] = total;
}
