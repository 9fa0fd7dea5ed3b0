// What changes from one step to the next; written once for many steps, chosen by a dynamic offset.
struct Step {
    step: u32,
    seed: u32,
    offset: u32,
    count: u32,
    slot: u32,
    training: u32,
    learning_rate: f32,
    reserved: u32,
}

@group(1) @binding(0) var<uniform> step: Step;
