// sum_many_parts: sum[i] = Σ parts[p, i], added to the previous sum if `accumulate` is 1. Variant of sum_parts for few
// elements and many parts: each workgroup sums four consecutive groups of four elements, and the invocations of a group
// share its parts.
//
// params: SumParts; elements is a multiple of 4. parts: (parts, elements). sum: (elements). All f32.
// One workgroup per 16 elements.
// kernel "sum_many_parts", 256 invocations: "workgroup_number", "workgroup_256", "sum_parts_params"
// kernel "sum_many_parts_128", 128 invocations: "workgroup_number", "workgroup_128", "sum_parts_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> sum: array<vec4<f32>>;

// Groups of four elements per workgroup.
const QUADS: u32 = 4u;

var<workgroup> shares: array<vec4<f32>, INVOCATIONS>;

@compute @workgroup_size(INVOCATIONS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.elements / 4u;
    let first = workgroup_number(workgroup, workgroups) * QUADS;
    // Uniform across the workgroup, so all invocations reach the barriers.
    if first >= quads {
        return;
    }
    let quad = first + local % QUADS;
    // Clamped to the last group; the results of out-of-bounds groups are not stored.
    let known = min(quad, quads - 1u);
    var total = vec4<f32>(0.0);
    for (var part = local / QUADS; part < params.parts; part += INVOCATIONS / QUADS) {
        total += parts[part * quads + known];
    }
    shares[local] = total;
    workgroupBarrier();
    for (var half = INVOCATIONS / 2u; half >= QUADS; half /= 2u) {
        if local < half {
            shares[local] += shares[local + half];
        }
        workgroupBarrier();
    }
    if local < QUADS && quad < quads {
        total = shares[local];
        if params.accumulate == 1u {
            total = sum[quad] + total;
        }
        sum[quad] = total;
    }
}
