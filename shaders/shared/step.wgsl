// Values that change in every step; written once for many steps and selected by a dynamic offset.
struct Step {
    step: u32,
    seed: u32,
    offset: u32,
    count: u32,
    slot: u32,
    training: u32,
    learning_rate: f32,
    decay_rate: f32,
    epoch: u32,
    average: u32,
    average_keep: f32,
    mark: u32,
    linear: u32,
    first_row: u32,
    elsewhere: u32,
    mirror_rest: u32,
}

@group(1) @binding(0) var<uniform> step: Step;
