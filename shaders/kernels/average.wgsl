// average: exponential moving average of the weights, s = keep·s + (1 - keep)·w, as selected by step.average:
// 0 does nothing, 1 updates the average, 2 also sets the weights to the average, which is Lookahead
// (Zhang et al., "Lookahead Optimizer: k steps forward, 1 step back", 2019).
//
// params: Optimizer; elements is a multiple of 256. weights, shadow: (elements) f32.
// kernel "average", 64 invocations: "invocation", "optimizer_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> weights: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> shadow: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.elements / 4u || step.average == 0u {
        return;
    }
    let followed = step.average_keep * shadow[number] + (1.0 - step.average_keep) * weights[number];
    shadow[number] = followed;
    if step.average == 2u {
        weights[number] = followed;
    }
}
