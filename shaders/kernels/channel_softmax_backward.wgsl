// channel_softmax_backward: dx = y ⊙ (dy - Σ dy·y) ⊙ slope(x) with y = exp(x) / Σ exp(x) over the channels of a pixel,
// or dy ⊙ slope(x) while the step is linear, where slope is the derivative of the epilogue that produced x. One
// invocation per pixel. Recomputes y, because the epilogue may have dropped values of the stored result.
//
// P pixels over the whole batch, C stored channels, a multiple of 4; the first `channels` are in use.
// params: ChannelSoftmax. dy, x, dx: (P, C) row-major Stored.
// kernel "channel_softmax_backward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels",
//     "channel_softmax_params", "store_gradient"
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
    let pixel = invocation_number(workgroup, workgroups, local);
    if pixel >= params.pixels {
        return;
    }
    let start = pixel * quads;
    let largest = largest_channel(start);
    var sums = vec4<f32>(0.0);
    var products = vec4<f32>(0.0);
    for (var quad = 0u; quad < quads; quad++) {
        let power = known(quad, exp(vec4<f32>(x[start + quad]) - largest));
        sums += power;
        products = fma(vec4<f32>(dy[start + quad]), power, products);
    }
    let sum = sum_of_four(sums);
    let mean = sum_of_four(products) / sum;
    for (var quad = 0u; quad < quads; quad++) {
        let gradient = vec4<f32>(dy[start + quad]);
        let power = known(quad, exp(vec4<f32>(x[start + quad]) - largest));
        store_gradient(start + quad, select(power / sum * (gradient - mean), gradient, is_linear()));
    }
}
