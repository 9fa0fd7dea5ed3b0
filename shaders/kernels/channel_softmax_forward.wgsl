// channel_softmax_forward: y = epilogue(exp(x) / Σ exp(x)) over the channels of a pixel, or epilogue(x) while the step
// is linear: the linear start of Sukhbaatar et al., "End-To-End Memory Networks", 2015. One invocation per pixel.
//
// P pixels over the whole batch, C stored channels, a multiple of 4; those from `channels` on are zero padding.
// params: ChannelSoftmax. x, y: (P, C) row-major Stored.
// kernel "channel_softmax_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels",
//     "channel_softmax_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let pixel = invocation_number(workgroup, workgroups, local);
    if pixel >= params.pixels {
        return;
    }
    let start = pixel * quads;
    let largest = largest_channel(start);
    var sums = vec4<f32>(0.0);
    for (var quad = 0u; quad < quads; quad++) {
        sums += known(quad, exp(vec4<f32>(x[start + quad]) - largest));
    }
    let sum = sum_of_four(sums);
    for (var quad = 0u; quad < quads; quad++) {
        let value = vec4<f32>(x[start + quad]);
        let share = known(quad, exp(value - largest) / sum);
        let made = select(share, value, is_linear());
        y[start + quad] = rounded(apply_epilogue(made, 4u * (start + quad), params.epilogue));
    }
}
