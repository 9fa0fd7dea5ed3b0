// rmsprop: g += decay·w; a = rho·a + (1 - rho)·g²; w -= rate·g / (sqrt(a) + epsilon).
// Epsilon is outside the root, as in Keras 2.
// The arenas hold all tensors. Each workgroup updates a block of 256 consecutive elements with the same multipliers.
// A block's weights and state are frozen from step `frozen_from` on.
//
// params: Optimizer; elements is a multiple of 256. blocks: (elements / 256).
// gradients, weights, mean_square: (elements) f32.
// kernel "rmsprop", 64 invocations: "invocation", "optimizer_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> blocks: array<BlockMultipliers>;
@group(0) @binding(2) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> weights: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> mean_square: array<vec4<f32>>;

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
    let gradient = gradients[number] * params.gradient_scale + block.weight_decay * weight;
    let square = params.decay * mean_square[number] + (1.0 - params.decay) * gradient * gradient;
    mean_square[number] = square;
    weights[number] = weight - rate * gradient / (sqrt(square) + params.epsilon);
}
