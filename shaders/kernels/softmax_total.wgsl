// softmax_total: a step's results from those of softmax_many_answers' workgroups. One workgroup.
//
// params: SoftmaxTotal. parts: (parts) of loss and count, f32. results: (slots) of loss, count and mark.
// kernel "softmax_total", 256 invocations: "workgroup_256", "step_result"
// kernel "softmax_total_128", 128 invocations: "workgroup_128", "step_result"
struct Params {
    parts: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> results: array<StepResult>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(local_invocation_index) local: u32) {
    var own = vec2<f32>(0.0);
    for (var part = local; part < params.parts; part += INVOCATIONS) {
        own += parts[part];
    }
    store_total(local, own);
}
