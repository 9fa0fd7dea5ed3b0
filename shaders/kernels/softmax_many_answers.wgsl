// softmax_many_answers: softmax_cross_entropy of more answers than a workgroup has invocations. One invocation per
// answer; softmax_total adds up the losses and the correct answers of all workgroups.
//
// params: Softmax. logits, gradient: (B, P, stride) Stored; the first `classes` are in use. labels: (B, P) u32.
// parts: (workgroups) of loss and count, f32. In training, samples from step.count on and padding get gradient zero.
// kernel "softmax_many_answers", 64 invocations: "invocation", "softmax_answer", "workgroup_number"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<Stored4>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> gradient: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> parts: array<vec2<f32>>;

var<workgroup> shares: array<vec2<f32>, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let part = workgroup_number(workgroup, workgroups);
    let answers = params.rows * params.positions;
    // Uniform across the workgroup, so all invocations reach the barriers.
    if part * WORKGROUP_SIZE >= answers {
        return;
    }
    let answer = part * WORKGROUP_SIZE + local;
    var own = vec2<f32>(0.0);
    if answer < answers {
        own = loss_of(answer);
    }
    shares[local] = own;
    workgroupBarrier();
    for (var half = WORKGROUP_SIZE / 2u; half > 0u; half /= 2u) {
        if local < half {
            shares[local] += shares[local + half];
        }
        workgroupBarrier();
    }
    if local == 0u {
        parts[part] = shares[0];
    }
}
