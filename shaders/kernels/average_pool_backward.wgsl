// average_pool_backward: each gradient is divided equally among its window's pixels, times slope(x), where slope is
// the derivative of the epilogue that produced x. Each input pixel sums over the windows that cover it.
//
// B samples, H × W × C stored input, H' × W' × C output; C is a multiple of 4.
// params: Pool. dy: (B, H', W', C) Stored. x, dx: (B, H, W, C) Stored.
// kernel "average_pool_backward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "pool_params",
//     "pool_window", "store_gradient"
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
    let channels = params.channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * params.input_height * params.input_width * channels {
        return;
    }
    let channel = number % channels;
    let column = number / channels % params.input_width;
    let row = number / (channels * params.input_width) % params.input_height;
    let sample = number / (channels * params.input_width * params.input_height);
    let covering = windows_over(vec2<u32>(row, column));
    var sum = vec4<f32>(0.0);
    for (var i = covering.first.x; i < covering.end.x; i++) {
        for (var j = covering.first.y; j < covering.end.y; j++) {
            let output = ((sample * params.output_height + i) * params.output_width + j) * channels + channel;
            let inside = window(vec2<u32>(i, j));
            let extent = inside.end - inside.first;
            sum += vec4<f32>(dy[output]) / f32(extent.x * extent.y);
        }
    }
    store_gradient(number, sum);
}
