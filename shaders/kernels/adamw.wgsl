// adamw: w -= decay_rate·decay·w; then Adam without a penalty: m = beta1·m + (1 - beta1)·g;
// v = beta2·v + (1 - beta2)·g²; w -= rate·m / (sqrt(v) + epsilon). The step's rate includes the bias correction
// sqrt(1 - beta2^t) / (1 - beta1^t); its decay_rate does not.
// Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019.
// The arenas hold all tensors. Each workgroup updates a block of 256 consecutive elements with the same multipliers.
// A block's weights and state are frozen from step `frozen_from` on.
//
// params: Optimizer; elements is a multiple of 256. blocks: (elements / 256).
// gradients, weights, mean, mean_square: (elements) f32.
// kernel "adamw", 64 invocations: "invocation", "optimizer_params", "adam_direction"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> blocks: array<BlockMultipliers>;
@group(0) @binding(2) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> weights: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> mean: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> mean_square: array<vec4<f32>>;

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
    let block = blocks[number / WORKGROUP_SIZE];
    if block.frozen_from <= step.step {
        return;
    }
    let rate = step.learning_rate * block.learning_rate;
    let weight = weights[number];
    let decayed = weight - step.decay_rate * block.learning_rate * block.weight_decay * weight;
    weights[number] = decayed - rate * adam_direction(number, gradients[number] * params.gradient_scale);
}
