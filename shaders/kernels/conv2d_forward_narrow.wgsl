// conv2d_forward_narrow: y = epilogue(x ⋆ W + b), cross-correlation; each invocation computes 8 pixels × 8 channels
// of y. Input channels are loaded one at a time: for inputs of few channels, such as the image, and for devices
// on which this is faster.
//
// B samples, H × W × C stored input, H' × W' × F stored output; F is a multiple of 4.
// params: Conv2d. x: (B, H·W·C + input_spare). weights: (KH, KW, C, F). bias: (F). y: (B, H', W', F).
// bias f32, the others Stored.
// kernel "conv2d_forward_narrow", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_window", "tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

fn input_at(origin: Window, inside: bool, tap: i32, channel: u32) -> f32 {
    let at = select(0u, u32(origin.first + tap) * params.input_channels + channel + origin.spare, inside);
    return select(0.0, f32(x[at]), inside);
}

// Stores eight channels of a pixel, except those out of bounds. `column` is a vec4 index.
fn store(pixel: u32, column: u32, left: vec4<f32>, right: vec4<f32>) {
    let outputs = params.output_channels / 4u;
    if pixel >= params.rows * params.output_height * params.output_width {
        return;
    }
    let at = pixel * outputs + column;
    y[at] = rounded(apply_epilogue(left + bias[column], 4u * at, params.epilogue));
    if column + 1u < outputs {
        y[at + 1u] = rounded(apply_epilogue(right + bias[column + 1u], 4u * at + 4u, params.epilogue));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let channels = params.input_channels;
    let outputs = params.output_channels / 4u;
    let pixels = params.rows * params.output_height * params.output_width;
    let column_tiles = (outputs + 1u) / 2u;
    let number = invocation_number(workgroup, workgroups, local);
    let row = number / column_tiles * 8u;
    if row >= pixels {
        return;
    }
    let column = number % column_tiles * 2u;
    // Out-of-bounds pixels and channels are clamped to the last one and not stored.
    let next_column = min(column + 1u, outputs - 1u);
    let w0 = window(min(row, pixels - 1u));
    let w1 = window(min(row + 1u, pixels - 1u));
    let w2 = window(min(row + 2u, pixels - 1u));
    let w3 = window(min(row + 3u, pixels - 1u));
    let w4 = window(min(row + 4u, pixels - 1u));
    let w5 = window(min(row + 5u, pixels - 1u));
    let w6 = window(min(row + 6u, pixels - 1u));
    let w7 = window(min(row + 7u, pixels - 1u));
    var tile: Tile;
    for (var ky = 0u; ky < params.window_height; ky++) {
        for (var kx = 0u; kx < params.window_width; kx++) {
            let tap = i32(ky * params.input_width + kx);
            let in0 = tap_inside(w0, ky, kx);
            let in1 = tap_inside(w1, ky, kx);
            let in2 = tap_inside(w2, ky, kx);
            let in3 = tap_inside(w3, ky, kx);
            let in4 = tap_inside(w4, ky, kx);
            let in5 = tap_inside(w5, ky, kx);
            let in6 = tap_inside(w6, ky, kx);
            let in7 = tap_inside(w7, ky, kx);
            for (var c = 0u; c < channels; c++) {
                let k_row = ((ky * params.window_width + kx) * channels + c) * outputs;
                add_outer_product(
                    &tile,
                    vec4<f32>(
                        input_at(w0, in0, tap, c),
                        input_at(w1, in1, tap, c),
                        input_at(w2, in2, tap, c),
                        input_at(w3, in3, tap, c),
                    ),
                    vec4<f32>(
                        input_at(w4, in4, tap, c),
                        input_at(w5, in5, tap, c),
                        input_at(w6, in6, tap, c),
                        input_at(w7, in7, tap, c),
                    ),
                    vec4<f32>(weights[k_row + column]),
                    vec4<f32>(weights[k_row + next_column]),
                );
            }
        }
    }
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        store(row + i, column, quads[2u * i], quads[2u * i + 1u]);
    }
}
