// gradient_squares: sums of squares of the gradients, for limit_many_gradients. One workgroup per part.
//
// params: GradientLimit; elements is a multiple of 4. gradients: (elements) f32. squares: (parts) of a sum's bits and
// the step's mark.
// kernel "gradient_squares", 64 invocations: "invocation", "gradient_limit_params", "workgroup_sum", "workgroup_number"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> squares: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let part = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if part >= params.parts {
        return;
    }
    var sum = 0.0;
    for (var at = part * WORKGROUP_SIZE + local; at < params.elements / 4u; at += params.parts * WORKGROUP_SIZE) {
        sum += dot(gradients[at], gradients[at]);
    }
    sum = workgroup_sum(local, sum);
    if local == 0u {
        squares[part] = vec2<u32>(bitcast<u32>(sum), step.mark);
    }
}
