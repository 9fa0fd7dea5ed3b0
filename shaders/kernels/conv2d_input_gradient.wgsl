// conv2d_input_gradient: dx = (dy ⋆ᵀ W) ⊙ slope(x), where slope is the derivative of the epilogue that produced x.
// Each invocation computes 8 input pixels × 8 input channels, summed over taps and filters.
// Both operands are loaded one number at a time, as in dense_input_gradient.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// params: Conv2d. dy: (B, H', W', F). weights: (KH, KW, C, F). x, dx: (B, H, W, C). All Stored.
// kernel "conv2d_input_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_transposed_window", "tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored>;
@group(0) @binding(2) var<storage, read> weights: array<Stored>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

fn gradient_at(pixel: u32, channel: u32) -> f32 {
    let inside = pixel != NOWHERE;
    return select(0.0, f32(dy[select(0u, pixel * params.output_channels + channel, inside)]), inside);
}

// Stores eight channels of a pixel, except those out of bounds. `column` is a vec4 index.
fn store(pixel: u32, column: u32, left: vec4<f32>, right: vec4<f32>) {
    let channels = params.input_channels / 4u;
    if pixel >= params.rows * params.input_height * params.input_width {
        return;
    }
    let at = pixel * channels + column;
    store_gradient(at, left);
    if column + 1u < channels {
        store_gradient(at + 1u, right);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let channels = params.input_channels / 4u;
    let outputs = params.output_channels;
    let pixels = params.rows * params.input_height * params.input_width;
    let column_tiles = (channels + 1u) / 2u;
    let number = invocation_number(workgroup, workgroups, local);
    let row = number / column_tiles * 8u;
    if row >= pixels {
        return;
    }
    let column = number % column_tiles * 2u;
    // Out-of-bounds pixels and channels are clamped to the last one and not stored.
    let last_channel = params.input_channels - 1u;
    let w0 = window(min(row, pixels - 1u));
    let w1 = window(min(row + 1u, pixels - 1u));
    let w2 = window(min(row + 2u, pixels - 1u));
    let w3 = window(min(row + 3u, pixels - 1u));
    let w4 = window(min(row + 4u, pixels - 1u));
    let w5 = window(min(row + 5u, pixels - 1u));
    let w6 = window(min(row + 6u, pixels - 1u));
    let w7 = window(min(row + 7u, pixels - 1u));
    let c0 = min(4u * column, last_channel) * outputs;
    let c1 = min(4u * column + 1u, last_channel) * outputs;
    let c2 = min(4u * column + 2u, last_channel) * outputs;
    let c3 = min(4u * column + 3u, last_channel) * outputs;
    let c4 = min(4u * column + 4u, last_channel) * outputs;
    let c5 = min(4u * column + 5u, last_channel) * outputs;
    let c6 = min(4u * column + 6u, last_channel) * outputs;
    let c7 = min(4u * column + 7u, last_channel) * outputs;
    var tile: Tile;
    for (var ky = 0u; ky < params.window_height; ky++) {
        for (var kx = 0u; kx < params.window_width; kx++) {
            let kernel = (ky * params.window_width + kx) * params.input_channels * outputs;
            let p0 = output_under(w0, ky, kx);
            let p1 = output_under(w1, ky, kx);
            let p2 = output_under(w2, ky, kx);
            let p3 = output_under(w3, ky, kx);
            let p4 = output_under(w4, ky, kx);
            let p5 = output_under(w5, ky, kx);
            let p6 = output_under(w6, ky, kx);
            let p7 = output_under(w7, ky, kx);
            for (var f = 0u; f < outputs; f++) {
                let a0 = gradient_at(p0, f);
                let a1 = gradient_at(p1, f);
                let a2 = gradient_at(p2, f);
                let a3 = gradient_at(p3, f);
                let a4 = gradient_at(p4, f);
                let a5 = gradient_at(p5, f);
                let a6 = gradient_at(p6, f);
                let a7 = gradient_at(p7, f);
                let b0 = f32(weights[kernel + c0 + f]);
                let b1 = f32(weights[kernel + c1 + f]);
                let b2 = f32(weights[kernel + c2 + f]);
                let b3 = f32(weights[kernel + c3 + f]);
                let b4 = f32(weights[kernel + c4 + f]);
                let b5 = f32(weights[kernel + c5 + f]);
                let b6 = f32(weights[kernel + c6 + f]);
                let b7 = f32(weights[kernel + c7 + f]);
                add_outer_product(
                    &tile,
                    vec4<f32>(a0, a1, a2, a3),
                    vec4<f32>(a4, a5, a6, a7),
                    vec4<f32>(b0, b1, b2, b3),
                    vec4<f32>(b4, b5, b6, b7),
                );
            }
        }
    }
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        store(row + i, column, quads[2u * i], quads[2u * i + 1u]);
    }
}
