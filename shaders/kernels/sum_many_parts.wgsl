// sum_many_parts: sum[i] = Σ parts[p, i], added to what is there where `accumulate` is 1. As sum_parts, but for few
// elements and many parts: a workgroup sums four neighbouring fours of elements, each by 64 invocations that take every
// 64th part.
//
// params: SumParts; elements is a multiple of 4. parts: (parts, elements). sum: (elements). All f32.
// One workgroup of 256 for every 16 elements.
struct Params {
    elements: u32,
    parts: u32,
    accumulate: u32,
    reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> sum: array<vec4<f32>>;

const INVOCATIONS: u32 = 256u;
// Fours of elements that a workgroup sums.
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
    // The same for the whole workgroup, so that barriers are met by all.
    if first >= quads {
        return;
    }
    let quad = first + local % QUADS;
    // Fours beyond the last one repeat it; they are not stored.
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
