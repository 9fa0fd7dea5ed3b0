// max_pool_forward: y = epilogue(largest value of each window), and the index of its tap in the window.
// Of equal values, the first in row-major order is selected; taps outside the image are skipped.
//
// B samples, H × W × C stored input, H' × W' × C output; C is a multiple of 4.
// params: Pool. x: (B, H, W, C) Stored. y: (B, H', W', C) Stored. taps: (B, H', W', C) u32.
// kernel "max_pool_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "pool_params",
//     "pool_window"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> taps: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let channels = params.channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * params.output_height * params.output_width * channels {
        return;
    }
    let channel = number % channels;
    let column = number / channels % params.output_width;
    let row = number / (channels * params.output_width) % params.output_height;
    let sample = number / (channels * params.output_width * params.output_height);
    let inside = window(vec2<u32>(row, column));
    // Tap indices are relative to the window's corner in padded coordinates, which may be outside the image.
    let corner = vec2<u32>(row, column) * params.stride;
    var best = vec4<f32>(0.0);
    var best_tap = vec4<u32>(0u);
    var first = true;
    for (var i = inside.first.x; i < inside.end.x; i++) {
        for (var j = inside.first.y; j < inside.end.y; j++) {
            let at = ((sample * params.input_height + i) * params.input_width + j) * channels + channel;
            let value = vec4<f32>(x[at]);
            let tap = (i + params.padding - corner.x) * params.side + j + params.padding - corner.y;
            let better = (value > best) | vec4<bool>(first);
            best = select(best, value, better);
            best_tap = select(best_tap, vec4<u32>(tap), better);
            first = false;
        }
    }
    y[number] = rounded(apply_epilogue(best, 4u * number, params.epilogue));
    taps[number] = best_tap;
}
