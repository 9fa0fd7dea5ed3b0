// The parameter block that `params::Optimizer` describes, and the multipliers of a block of 256 elements.
struct Params {
    // A multiple of 256.
    elements: u32,
    // Momentum of `sgd`, rho of `rmsprop` and `adadelta`, beta1 of `adam`.
    decay: f32,
    // Beta2 of `adam`.
    second_decay: f32,
    epsilon: f32,
    // `sgd` only: 1 to look ahead along the velocity.
    nesterov: u32,
    // `sgd` only: 1 to apply the learning rate outside the velocity.
    rate_outside: u32,
    // Factor of the gradients that undoes the loss scale.
    gradient_scale: f32,
    reserved0: u32,
}

struct BlockMultipliers {
    learning_rate: f32,
    weight_decay: f32,
    // Step from which the tensor is frozen.
    frozen_from: u32,
    reserved: u32,
}
