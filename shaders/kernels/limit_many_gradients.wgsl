// limit_many_gradients: limit_gradients for networks of many weights, given the parts' sums of squares from
// gradient_squares. One workgroup per part.
//
// params: GradientLimit; elements is a multiple of 4. gradients, limited: (elements) f32. squares: (parts) of a sum's
// bits and the step's mark. A sum of another step makes all gradients zero, which a comparison notices even if the norm
// is within the limit.
// kernel "limit_many_gradients", 64 invocations: "invocation", "gradient_limit_params", "workgroup_sum",
//     "workgroup_number"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> squares: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> limited: array<vec4<f32>>;

const LARGEST_SUM: f32 = 3.0e38;

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
    for (var other = local; other < params.parts; other += WORKGROUP_SIZE) {
        let square = squares[other];
        sum += select(LARGEST_SUM, bitcast<f32>(square.x), square.y == step.mark);
    }
    let length = sqrt(workgroup_sum(local, sum));
    let factor = select(1.0, params.limit / length, length > params.limit);
    for (var at = part * WORKGROUP_SIZE + local; at < params.elements / 4u; at += params.parts * WORKGROUP_SIZE) {
        limited[at] = factor * gradients[at];
    }
}
