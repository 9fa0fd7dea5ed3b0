// round_weights: what products read of the weights: stored = weights, rounded to what is stored. The weights themselves
// stay as they are, and are what is trained: Micikevicius et al., "Mixed Precision Training", ICLR 2018.
// A weight that is not a number, or too large to be stored, makes the step's loss not a number either: so overflow
// anywhere in a step, which makes gradients and then weights infinite, is seen at once.
//
// One invocation for each four weights. elements is a multiple of 4.
// params: RoundWeights. weights: (elements) f32. stored: (elements) Stored. results: (slots) of loss, count and
// mark.
struct Params {
    elements: u32,
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
    // Compared as whole numbers, which order sizes as well: compilers may take it that all floats are finite.
    let sizes = bitcast<vec4<u32>>(weight) & vec4<u32>(~SIGN);
    if any(sizes > vec4<u32>(bitcast<u32>(params.largest))) {
        atomicStore(&results[3u * step.slot], NOT_A_NUMBER);
    }
}
