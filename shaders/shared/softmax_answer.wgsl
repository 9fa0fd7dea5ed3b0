// The parameter block that `params::Softmax` describes, and the loss of one answer. Needs from the kernel:
// - logits, gradient: (B, P, stride), in quads, and labels: (B, P), its bindings.
struct Params {
    // Samples of the batch, B.
    rows: u32,
    classes: u32,
    // Values of a row of logits, at least `classes`, a multiple of 4.
    stride: u32,
    // 1 for gradients of the batch's summed loss instead of its mean.
    summed: u32,
    // Share of the target spread evenly over all classes.
    label_smoothing: f32,
    // Factor of the logits.
    logits_scale: f32,
    // Factor of the gradient that keeps small values from underflowing when stored.
    gradient_scale: f32,
    // Answers of a sample, P, such as one for each character of a window.
    positions: u32,
}

// Lower than any logit; exp(LOWEST - logit) is zero.
const LOWEST: f32 = -3.0e38;

fn classes_of(quad: u32) -> vec4<u32> {
    return 4u * quad + vec4<u32>(0u, 1u, 2u, 3u);
}

// Four logits of an answer, with the lowest number as padding.
fn four_logits(answer: u32, quad: u32) -> vec4<f32> {
    let values = vec4<f32>(logits[answer * (params.stride / 4u) + quad]);
    return select(vec4<f32>(LOWEST), values, classes_of(quad) < vec4<u32>(params.classes));
}

fn sum_of_four(values: vec4<f32>) -> f32 {
    return (values.x + values.y) + (values.z + values.w);
}

// Share of an answer in the batch's loss, and 1 if it is correct. In training, its gradient is stored. Answers of
// samples from step.count on have neither a loss nor a gradient.
fn loss_of(answer: u32) -> vec2<f32> {
    let quads = params.stride / 4u;
    if answer >= step.count * params.positions {
        for (var quad = 0u; quad < quads; quad++) {
            gradient[answer * quads + quad] = rounded(vec4<f32>(0.0));
        }
        return vec2<f32>(0.0);
    }
    let share = 1.0 / f32((step.count + step.elsewhere) * params.positions);
    let weight = select(share, 1.0, params.summed == 1u) * params.logits_scale * params.gradient_scale;
    let each = params.label_smoothing / f32(params.classes);
    let label = vec4<u32>(labels[answer]);
    var four_largest = vec4<f32>(LOWEST);
    for (var quad = 0u; quad < quads; quad++) {
        four_largest = max(four_largest, four_logits(answer, quad));
    }
    let largest = max(max(four_largest.x, four_largest.y), max(four_largest.z, four_largest.w));
    var sums = vec4<f32>(0.0);
    var logit_sums = vec4<f32>(0.0);
    var label_logits = vec4<f32>(0.0);
    // The answer is the first of the largest logits.
    var is_answer = vec4<bool>(false);
    var comes_first = vec4<bool>(true);
    for (var quad = 0u; quad < quads; quad++) {
        let values = four_logits(answer, quad);
        let classes = classes_of(quad);
        let scaled = params.logits_scale * (values - largest);
        sums += exp(scaled);
        logit_sums += select(vec4<f32>(0.0), scaled, classes < vec4<u32>(params.classes));
        label_logits += select(vec4<f32>(0.0), scaled, classes == label);
        is_answer |= (values == vec4<f32>(largest)) & (classes == label);
        comes_first &= (values < vec4<f32>(largest)) | (classes >= label);
    }
    let sum = sum_of_four(sums);
    let label_logit = (1.0 - params.label_smoothing) * sum_of_four(label_logits);
    let loss = (log(sum) - label_logit - each * sum_of_four(logit_sums)) * share;
    if step.training == 1u {
        for (var quad = 0u; quad < quads; quad++) {
            let classes = classes_of(quad);
            let probabilities = exp(params.logits_scale * (four_logits(answer, quad) - largest)) / sum;
            let targets = each + select(vec4<f32>(0.0), vec4<f32>(1.0 - params.label_smoothing), classes == label);
            let slopes = (probabilities - targets) * weight;
            let known = select(vec4<f32>(0.0), slopes, classes < vec4<u32>(params.classes));
            gradient[answer * quads + quad] = rounded(known);
        }
    }
    return vec2<f32>(loss, select(0.0, 1.0, any(is_answer) & all(comes_first)));
}
