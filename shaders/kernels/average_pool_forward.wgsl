// average_pool_forward: y = epilogue(mean of the window's pixels inside the image).
//
// B samples, H × W × C stored input, H' × W' × C output; C is a multiple of 4.
// params: Pool. x: (B, H, W, C) Stored. y: (B, H', W', C) Stored.
// kernel "average_pool_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "pool_params",
//     "pool_window"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;

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
    var sum = vec4<f32>(0.0);
    for (var i = inside.first.x; i < inside.end.x; i++) {
        for (var j = inside.first.y; j < inside.end.y; j++) {
            sum += vec4<f32>(x[((sample * params.input_height + i) * params.input_width + j) * channels + channel]);
        }
    }
    let extent = inside.end - inside.first;
    y[number] = rounded(apply_epilogue(sum / f32(extent.x * extent.y), 4u * number, params.epilogue));
}
