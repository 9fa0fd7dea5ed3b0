// Values that change in every step; written once for many steps and selected by a dynamic offset.
struct Step {
    // Number of the step, the `step` lane of the generator.
    step: u32,
    seed: u32,
    // Index of the batch's first sample in the sample order.
    offset: u32,
    // Number of samples in the batch; the remaining rows are empty.
    count: u32,
    // Index of this step's results.
    slot: u32,
    // 1 in training, 0 in tests: dropout and gradients happen in training only.
    training: u32,
    learning_rate: f32,
    // Learning rate without the optimizer's corrections, which scales decoupled weight decay.
    decay_rate: f32,
    // Number of the epoch, from 0; augmentation may alternate between epochs.
    epoch: u32,
    // Action of `average` after this step: 0 none, 1 updates the average, 2 also sets the weights to the average.
    average: u32,
    average_keep: f32,
    // Unique number that the step writes with its results, to detect stale results.
    mark: u32,
    // 1 while attention has no softmax: the linear start of memory networks.
    linear: u32,
    // First row of this device if several share a batch. Random numbers are indexed over the whole batch.
    first_row: u32,
    // Number of the batch's samples on other devices. Losses and gradients are shares of the whole batch.
    elsewhere: u32,
    // 1 if a segment begins at this step, and `mirror_order` changes the sample order from `offset` on.
    mirror_rest: u32,
}

@group(1) @binding(0) var<uniform> step: Step;
