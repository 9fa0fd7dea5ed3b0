// softmax_cross_entropy: mean loss, count of correct answers, and in training the logits' gradient
// scale·(softmax(scale·logits) - target), divided by the number of samples of the whole batch unless summed, and
// multiplied by gradient_scale. The target is smoothing / classes for all classes, plus 1 - smoothing for the label.
// One workgroup; each invocation processes every INVOCATIONS-th row. The answer is the first of the largest logits.
//
// params: Softmax. logits, gradient: (B, stride) Stored; the first `classes` are in use. labels: (B) u32.
// results: (slots) of loss, count and mark. In training, rows from step.count on and padding get gradient zero.
// kernel "softmax_cross_entropy", 256 invocations: "workgroup_256"
// kernel "softmax_cross_entropy_128", 128 invocations: "workgroup_128"
struct Params {
    rows: u32,
    classes: u32,
    // Values of a row of logits, at least `classes`.
    stride: u32,
    // 1 for gradients of the batch's summed loss instead of its mean.
    summed: u32,
    // Share of the target spread evenly over all classes.
    label_smoothing: f32,
    // Factor of the logits.
    logits_scale: f32,
    // Factor of the gradient that keeps small values from underflowing when stored.
    gradient_scale: f32,
    reserved: u32,
}

struct StepResult {
    // Mean over the batch.
    loss: f32,
    // Samples that were classified correctly.
    correct: u32,
    // [`Step::mark`] of the step.
    mark: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<Stored>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> gradient: array<Stored>;
@group(0) @binding(4) var<storage, read_write> results: array<StepResult>;

var<workgroup> losses: array<f32, INVOCATIONS>;
var<workgroup> corrects: array<u32, INVOCATIONS>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(local_invocation_index) local: u32) {
    let share = 1.0 / f32(step.count + step.elsewhere);
    let weight = select(share, 1.0, params.summed == 1u) * params.logits_scale * params.gradient_scale;
    let each = params.label_smoothing / f32(params.classes);
    var loss = 0.0;
    var correct = 0u;
    for (var row = local; row < params.rows; row += INVOCATIONS) {
        let start = row * params.stride;
        if row >= step.count {
            for (var category = 0u; category < params.stride; category++) {
                gradient[start + category] = rounded_number(0.0);
            }
            continue;
        }
        let label = labels[row];
        var largest = params.logits_scale * f32(logits[start]);
        var answer = 0u;
        for (var category = 1u; category < params.classes; category++) {
            let logit = params.logits_scale * f32(logits[start + category]);
            if logit > largest {
                largest = logit;
                answer = category;
            }
        }
        var sum = 0.0;
        var logit_sum = 0.0;
        for (var category = 0u; category < params.classes; category++) {
            let logit = params.logits_scale * f32(logits[start + category]) - largest;
            sum += exp(logit);
            logit_sum += logit;
        }
        let label_logit = params.logits_scale * f32(logits[start + label]) - largest;
        loss += (log(sum) - (1.0 - params.label_smoothing) * label_logit - each * logit_sum) * share;
        correct += select(0u, 1u, answer == label);
        if step.training == 1u {
            for (var category = 0u; category < params.stride; category++) {
                let probability = exp(params.logits_scale * f32(logits[start + category]) - largest) / sum;
                let target_share = each + select(0.0, 1.0 - params.label_smoothing, category == label);
                let slope = select(0.0, (probability - target_share) * weight, category < params.classes);
                gradient[start + category] = rounded_number(slope);
            }
        }
    }
    losses[local] = loss;
    corrects[local] = correct;
    workgroupBarrier();
    for (var half = INVOCATIONS / 2u; half > 0u; half /= 2u) {
        if local < half {
            losses[local] += losses[local + half];
            corrects[local] += corrects[local + half];
        }
        workgroupBarrier();
    }
    if local == 0u {
        results[step.slot] = StepResult(losses[0], corrects[0], step.mark);
    }
}
