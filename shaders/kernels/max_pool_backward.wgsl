// max_pool_backward: each gradient goes to the tap that won, times slope(x), where the epilogue of the layer
// below made x. Every input pixel looks at the windows that cover it, so nothing is added atomically and the
// result is the same bits every time.
//
// B samples, H × W × C stored input, H' × W' × C output; C is a multiple of 4.
// params: Pool. dy: (B, H', W', C) f32. taps: (B, H', W', C) u32. x, dx: (B, H, W, C) f32.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> taps: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> dx: array<vec4<f32>>;

// First window, of `windows`, that covers position `at`.
fn first_window(at: u32) -> u32 {
    return select((at - params.side) / params.stride + 1u, 0u, at < params.side);
}

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
    let end_row = min(row / params.stride + 1u, params.output_height);
    let end_column = min(column / params.stride + 1u, params.output_width);
    var sum = vec4<f32>(0.0);
    for (var i = first_window(row); i < end_row; i++) {
        for (var j = first_window(column); j < end_column; j++) {
            let window = ((sample * params.output_height + i) * params.output_width + j) * channels + channel;
            let tap = (row - i * params.stride) * params.side + column - j * params.stride;
            sum += select(vec4<f32>(0.0), dy[window], taps[window] == vec4<u32>(tap));
        }
    }
    store_gradient(number, sum);
}
