// sgd: g += decay·w; v = momentum·v + rate·g; w -= v. The rate is inside the velocity, as in Caffe.
// With rate_outside == 1, as in PyTorch: v = momentum·v + g; w -= rate·v.
// With nesterov == 1, w is decremented by rate·g + momentum·v (Keras), or by rate·(g + momentum·v) (PyTorch):
// Sutskever et al., "On the importance of initialization and momentum in deep learning", 2013.
// The arenas hold all tensors. Each workgroup updates a block of 256 consecutive elements with the same multipliers.
// A block's weights and state are frozen from step `frozen_from` on.
//
// params: Optimizer; elements is a multiple of 256. blocks: (elements / 256).
// gradients, weights, velocity: (elements) f32.
// kernel "sgd", 64 invocations: "invocation", "optimizer_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> blocks: array<BlockMultipliers>;
@group(0) @binding(2) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> weights: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> velocity: array<vec4<f32>>;

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
    let inside = select(rate, 1.0, params.rate_outside == 1u);
    let outside = select(1.0, rate, params.rate_outside == 1u);
    let push = inside * gradient;
    let moved = params.decay * velocity[number] + push;
    velocity[number] = moved;
    if params.nesterov == 1u {
        weights[number] = weight - outside * (push + params.decay * moved);
    } else {
        weights[number] = weight - outside * moved;
    }
}
