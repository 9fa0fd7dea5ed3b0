// The parameter block that `params::Optimizer` describes, and the multipliers of a block of 256 elements.
struct Params {
    elements: u32,
    decay: f32,
    epsilon: f32,
    reserved: u32,
}

struct BlockMultipliers {
    learning_rate: f32,
    weight_decay: f32,
    frozen_from: u32,
    reserved: u32,
}
