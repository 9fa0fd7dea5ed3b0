// limit_gradients: limited = g·min(1, limit / ‖g‖), where ‖g‖ is the norm over all gradients: Pascanu, Mikolov and
// Bengio, "On the difficulty of training recurrent neural networks", 2013, algorithm 1. A single workgroup sums all
// squares and then stores the result, which suits networks of few weights.
//
// params: GradientLimit; elements is a multiple of 4. gradients, limited: (elements) f32.
// kernel "limit_gradients", 256 invocations: "gradient_limit_params", "workgroup_256"
// kernel "limit_gradients_128", 128 invocations: "gradient_limit_params", "workgroup_128"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> limited: array<vec4<f32>>;

var<workgroup> squares: array<f32, INVOCATIONS>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(local_invocation_index) local: u32) {
    var sum = 0.0;
    for (var quad = local; quad < params.elements / 4u; quad += INVOCATIONS) {
        sum += dot(gradients[quad], gradients[quad]);
    }
    squares[local] = sum;
    workgroupBarrier();
    for (var half = INVOCATIONS / 2u; half > 0u; half /= 2u) {
        if local < half {
            squares[local] += squares[local + half];
        }
        workgroupBarrier();
    }
    let length = sqrt(squares[0]);
    let factor = select(1.0, params.limit / length, length > params.limit);
    for (var quad = local; quad < params.elements / 4u; quad += INVOCATIONS) {
        limited[quad] = factor * gradients[quad];
    }
}
