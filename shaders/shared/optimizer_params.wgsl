// The parameter block that `params::Optimizer` describes, and the multipliers of a block of 256 elements.
struct Params {
    elements: u32,
    decay: f32,
    second_decay: f32,
    epsilon: f32,
    nesterov: u32,
    rate_outside: u32,
    gradient_scale: f32,
    reserved0: u32,
}

struct BlockMultipliers {
    learning_rate: f32,
    weight_decay: f32,
    frozen_from: u32,
    reserved: u32,
}
