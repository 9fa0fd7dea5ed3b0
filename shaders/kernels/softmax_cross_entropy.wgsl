// softmax_cross_entropy: mean loss, count of correct answers, and in training the logits' gradient
// scale·(softmax(scale·logits) - target), divided by the number of answers of the whole batch unless summed, and
// multiplied by gradient_scale. The target is smoothing / classes for all classes, plus 1 - smoothing for the label.
// One workgroup; each invocation processes every INVOCATIONS-th answer. The answer is the first of the largest logits.
//
// params: Softmax. logits, gradient: (B, P, stride) Stored; the first `classes` are in use. labels: (B, P) u32.
// results: (slots) of loss, count and mark. In training, samples from step.count on and padding get gradient zero.
// kernel "softmax_cross_entropy", 256 invocations: "softmax_answer", "workgroup_256", "step_result"
// kernel "softmax_cross_entropy_128", 128 invocations: "softmax_answer", "workgroup_128", "step_result"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<Stored4>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> gradient: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> results: array<StepResult>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(local_invocation_index) local: u32) {
    var own = vec2<f32>(0.0);
    for (var answer = local; answer < params.rows * params.positions; answer += INVOCATIONS) {
        own += loss_of(answer);
    }
    store_total(local, own);
}
