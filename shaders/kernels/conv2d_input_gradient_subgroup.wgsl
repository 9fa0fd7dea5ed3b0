// conv2d_input_gradient_subgroup: dx = (dy ⋆ᵀ W) ⊙ slope(x), where slope is the derivative of the epilogue that
// produced x; a tile of input pixels and input channels, summed over taps and filters, stays in the registers of
// a subgroup's lanes.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup per tile.
// params: Conv2d. dy: (B, H', W', F). weights: (KH, KW, C, F). x, dx: (B, H, W, C). All Stored.
// kernel "conv2d_input_gradient_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_transposed_window", "workgroup_number", "eight_lanes", "subgroup_tile", "store_gradient"
// kernel "conv2d_input_gradient_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_transposed_window", "workgroup_number", "four_lanes", "subgroup_tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// Four filters of dy at an output pixel; zero for NOWHERE.
fn gradient_at(pixel: u32, filter_quad: u32) -> vec4<f32> {
    let inside = pixel != NOWHERE;
    let at = select(0u, pixel * (params.output_channels / 4u) + filter_quad, inside);
    return select(vec4<f32>(0.0), vec4<f32>(dy[at]), inside);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let channels = params.input_channels / 4u;
    let outputs = params.output_channels / 4u;
    let pixels = params.rows * params.input_height * params.input_width;
    let column_tiles = (channels + LANES - 1u) / LANES;
    let number = workgroup_number(workgroup, workgroups);
    let row = number / column_tiles * TILE;
    if row >= pixels {
        return;
    }
    // Out-of-bounds pixels and channels are clamped to the last one and not stored.
    let column = number % column_tiles * LANES + lane;
    let known_column = min(column, channels - 1u);
    let w0 = window(min(row + lane, pixels - 1u));
    let w1 = window(min(row + lane + LANES, pixels - 1u));
    let w2 = window(min(row + lane + 2u * LANES, pixels - 1u));
    let w3 = window(min(row + lane + 3u * LANES, pixels - 1u));
    var b0: Block;
    var b1: Block;
    var b2: Block;
    var b3: Block;
    for (var ky = 0u; ky < params.window_height; ky++) {
        for (var kx = 0u; kx < params.window_width; kx++) {
            let kernel = ((ky * params.window_width + kx) * channels + known_column) * 4u * outputs;
            let p0 = output_under(w0, ky, kx);
            let p1 = output_under(w1, ky, kx);
            let p2 = output_under(w2, ky, kx);
            let p3 = output_under(w3, ky, kx);
            for (var f = 0u; f < outputs; f++) {
                let at = kernel + f;
                let w = transpose(mat4x4<f32>(
                    vec4<f32>(weights[at]),
                    vec4<f32>(weights[at + outputs]),
                    vec4<f32>(weights[at + 2u * outputs]),
                    vec4<f32>(weights[at + 3u * outputs]),
                ));
                let a0 = gradient_at(p0, f);
                let a1 = gradient_at(p1, f);
                let a2 = gradient_at(p2, f);
                let a3 = gradient_at(p3, f);
                add_block(&b0, a0, w);
                add_block(&b1, a1, w);
                add_block(&b2, a2, w);
                add_block(&b3, a3, w);
            }
        }
    }
    var sums = tile_rows(b0, b1, b2, b3);
    for (var i = 0u; i < TILE; i++) {
        let result_row = row + lane_of_row(i, lane);
        if result_row < pixels && column < channels {
            store_gradient(result_row * channels + column, sums[i]);
        }
    }
}
