// Results of a step, as the total over a workgroup of INVOCATIONS. Needs step.wgsl and the kernel's `results`.
struct StepResult {
    // Mean over the batch.
    loss: f32,
    // Answers that were correct.
    correct: u32,
    // [`Step::mark`] of the step.
    mark: u32,
}

var<workgroup> totals: array<vec2<f32>, INVOCATIONS>;

// Stores the total of all invocations' losses and correct answers.
fn store_total(local: u32, own: vec2<f32>) {
    totals[local] = own;
    workgroupBarrier();
    for (var half = INVOCATIONS / 2u; half > 0u; half /= 2u) {
        if local < half {
            totals[local] += totals[local + half];
        }
        workgroupBarrier();
    }
    if local == 0u {
        results[step.slot] = StepResult(totals[0].x, u32(totals[0].y), step.mark);
    }
}
