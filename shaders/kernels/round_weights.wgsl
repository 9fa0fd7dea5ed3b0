// round_weights: stored = weights rounded to the storage format, as operands of matrix products. Training updates the
// unrounded weights: Micikevicius et al., "Mixed Precision Training", ICLR 2018.
// If a weight is NaN or exceeds the storage format, the step's loss becomes NaN. This detects overflow anywhere in a
// step, because it makes gradients and then weights infinite.
//
// One invocation per four weights. elements is a multiple of 4.
// params: RoundWeights. weights: (elements) f32. stored: (elements) Stored. results: (slots) of loss, count and
// mark.
// kernel "round_weights", 64 invocations: "invocation"
struct Params {
    // A multiple of 4.
    elements: u32,
    // Largest number that can be stored.
    largest: f32,
    reserved0: u32,
    reserved1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> stored: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> results: array<atomic<u32>>;

const SIGN: u32 = 0x80000000u;
const NOT_A_NUMBER: u32 = 0x7fc00000u;

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
    let weight = weights[number];
    stored[number] = rounded(weight);
    // Integer comparison orders absolute values too; compilers may assume that all floats are finite.
    let sizes = bitcast<vec4<u32>>(weight) & vec4<u32>(~SIGN);
    if any(sizes > vec4<u32>(bitcast<u32>(params.largest))) {
        atomicStore(&results[3u * step.slot], NOT_A_NUMBER);
    }
}
