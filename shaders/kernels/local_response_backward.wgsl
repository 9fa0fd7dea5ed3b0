// local_response_backward: gradient of y = x / d^beta with d = bias + alpha·Σ x_j²,
// dx = (dy / d^beta - 2·alpha·beta·x·Σ dy_j·x_j / d_j^(beta + 1)) ⊙ slope(x), where slope is the derivative of the
// epilogue that produced x. Both sums are over the channels j within `radius`. The denominators are recomputed.
//
// B rows of P pixels, C stored channels, a multiple of 4.
// params: LocalResponse. dy, x, dx: (B, P, C) Stored.
// kernel "local_response_backward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "local_response", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> x: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> dx: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * params.pixels * quads {
        return;
    }
    let quad = number % quads;
    let start = number - quad;
    var straight = vec4<f32>(0.0);
    var sum = vec4<f32>(0.0);
    for (var other = first_neighbour(quad); other < end_neighbour(quad); other++) {
        let denominator = denominators(start, other);
        let gradient = vec4<f32>(dy[start + other]) / power(denominator);
        sum += sum_within_radius(quad, other, gradient * vec4<f32>(x[start + other]) / denominator);
        straight = select(straight, gradient, vec4<bool>(other == quad));
    }
    store_gradient(number, straight - 2.0 * params.alpha * params.beta * vec4<f32>(x[number]) * sum);
}
