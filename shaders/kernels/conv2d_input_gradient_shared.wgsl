// conv2d_input_gradient_shared: dx = (dy ⋆ᵀ W) ⊙ slope(x), where slope is the derivative of the epilogue that produced
// x; each workgroup computes 64 input pixels × 64 input channels, summed over taps and filters, with the operands in
// workgroup memory.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup of 64 invocations per tile.
// params: Conv2d. dy: (B, H', W', F). weights: (KH, KW, C, F). x, dx: (B, H, W, C). All Stored.
// kernel "conv2d_input_gradient_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "conv2d_params", "conv2d_transposed_window", "tile", "workgroup_number", "workgroup_tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// Four filters of dy under a tap; zero past the last tap and if no window has this tap on the pixel.
fn left_at(origin: Window, tap: u32, filter_quad: u32) -> vec4<f32> {
    let ky = tap / params.window_width;
    let pixel = output_under(origin, ky, tap % params.window_width);
    let inside = (ky < params.window_height) & (pixel != NOWHERE);
    let at = select(0u, pixel * (params.output_channels / 4u) + filter_quad, inside);
    return select(vec4<f32>(0.0), vec4<f32>(dy[at]), inside);
}

// Four filters of an input channel of a tap; zero out of bounds.
fn right_at(tap: u32, channel: u32, filter_quad: u32) -> vec4<f32> {
    let inside = (tap < params.window_height * params.window_width) & (channel < params.input_channels);
    let at = (tap * params.input_channels + channel) * (params.output_channels / 4u) + filter_quad;
    return select(vec4<f32>(0.0), vec4<f32>(weights[select(0u, at, inside)]), inside);
}

// Stores four values of a row, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let inputs = params.input_channels / 4u;
    if row < params.rows * params.input_height * params.input_width && column < inputs {
        store_gradient(row * inputs + column, sum);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let pixels = params.rows * params.input_height * params.input_width;
    let outputs = params.output_channels / 4u;
    let row_tiles = (pixels + TILE - 1u) / TILE;
    let column_tiles = (params.input_channels / 4u + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    // Out-of-bounds pixels are clamped to the last one and not stored.
    let read_row = first_row + 4u * turned_rows(local);
    let w0 = window(min(read_row, pixels - 1u));
    let w1 = window(min(read_row + 1u, pixels - 1u));
    let w2 = window(min(read_row + 2u, pixels - 1u));
    let w3 = window(min(read_row + 3u, pixels - 1u));
    let read_channel = 4u * (first_column + turned_rows(local));
    var tile: Tile;
    for (var d = 0u; d < params.window_height * params.window_width * params.output_channels; d += DEPTH) {
        let quad = d / 4u + turned_depth(local);
        let tap = quad / outputs;
        let filter_quad = quad % outputs;
        keep_left_turned(
            local,
            mat4x4<f32>(
                left_at(w0, tap, filter_quad),
                left_at(w1, tap, filter_quad),
                left_at(w2, tap, filter_quad),
                left_at(w3, tap, filter_quad),
            ),
        );
        keep_right_turned(
            local,
            mat4x4<f32>(
                right_at(tap, read_channel, filter_quad),
                right_at(tap, read_channel + 1u, filter_quad),
                right_at(tap, read_channel + 2u, filter_quad),
                right_at(tap, read_channel + 3u, filter_quad),
            ),
        );
        workgroupBarrier();
        add_step(&tile, local);
        workgroupBarrier();
    }
    let row = first_row + 4u * (local / 8u);
    let column = first_column + local % 8u;
    // Rows 0..3 and 32..35 from `row` on.
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        let at = row + (i & 3u) + 8u * (i & 4u);
        store(at, column, quads[2u * i]);
        store(at, column + 8u, quads[2u * i + 1u]);
    }
}
