// add_gradient: dx[q] = (Σ dy[p]) ⊙ slope(x[q]) over the R pixels p that x[q] was added to, where slope is the
// derivative of the epilogue that produced the summand x. R is 1 for the first summand and for a second one of the
// same shape.
//
// P pixels over the whole batch, C stored channels, a multiple of 4.
// params: Add. dy: (P, C). x, dx: (P / R, C). All row-major Stored.
// kernel "add_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "add_params",
//     "store_gradient"
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
    let quads = params.channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let first = number / quads * params.repeats;
    if first >= params.pixels {
        return;
    }
    var sum = vec4<f32>(0.0);
    for (var pixel = first; pixel < first + params.repeats; pixel++) {
        sum += vec4<f32>(dy[pixel * quads + number % quads]);
    }
    store_gradient(number, sum);
}
