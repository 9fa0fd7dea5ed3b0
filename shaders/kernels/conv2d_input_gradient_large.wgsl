// conv2d_input_gradient_large: dx = (dy ⋆ᵀ W) ⊙ slope(x), where slope is the derivative of the epilogue that produced
// x; each workgroup computes 128 input pixels × 64 input channels, summed over taps and filters, with each operand
// double-buffered in workgroup memory. conv2d_input_gradient_matrix is the same with the tiles of matrix_tile.wgsl.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup per tile.
// params: Conv2d. dy: (B, H', W', F). weights: (KH, KW, C, F). x, dx: (B, H, W, C). All Stored.
// kernel "conv2d_input_gradient_large", 128 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_transposed_window", "digits", "workgroup_number", "tile", "large_tile", "store_gradient"
// kernel "conv2d_input_gradient_matrix", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_transposed_window", "digits", "workgroup_number", "matrix_tile", "matrix_small", "store_gradient"
// kernel "conv2d_input_gradient_matrix_large", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_transposed_window", "digits", "workgroup_number", "matrix_tile", "matrix_large", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// The summed dimension, filters of taps, is contiguous in both operands.
const LEFT_TURNED: bool = true;
const RIGHT_TURNED: bool = true;

// Row and column of the tile's first result; the column is a vec4 index.
var<private> first_row: u32;
var<private> first_column: u32;

struct LeftSource {
    // Position of an input pixel among the windows.
    origin: Window,
    // Row, column and group of four filters of a tap, and their increments per step.
    tap: vec3<u32>,
    tap_step: vec3<u32>,
}

struct RightSource {
    // Input channel.
    channel: u32,
    // Same as in LeftSource.
    tap: vec3<u32>,
    tap_step: vec3<u32>,
}

// Radices of the last two digits of a tap.
fn tap_radices() -> vec2<u32> {
    return vec2<u32>(params.window_width, params.output_channels / 4u);
}

fn left_source(share: Share) -> LeftSource {
    let pixels = params.rows * params.input_height * params.input_width;
    // Out-of-bounds pixels are clamped to the last one and not stored.
    let origin = window(min(first_row + share.line, pixels - 1u));
    return LeftSource(origin, digits(share.depth, tap_radices()), digits(DEPTH / 4u, tap_radices()));
}

fn right_source(share: Share) -> RightSource {
    let channel = 4u * first_column + share.line;
    return RightSource(channel, digits(share.depth, tap_radices()), digits(DEPTH / 4u, tap_radices()));
}

// Four filters of dy under a tap; zero past the last tap and if no window has this tap on the pixel.
fn left_at(source: LeftSource) -> Fetched {
    let tap = source.tap;
    let pixel = output_under(source.origin, tap.x, tap.y);
    let inside = (tap.x < params.window_height) & (pixel != NOWHERE);
    let at = select(0u, pixel * (params.output_channels / 4u) + tap.z, inside);
    return Fetched(dy[at], inside);
}

fn right_at(source: RightSource) -> Fetched {
    let tap = source.tap;
    let inside = (tap.x < params.window_height) & (source.channel < params.input_channels);
    let row = (tap.x * params.window_width + tap.y) * params.input_channels + source.channel;
    let at = select(0u, row * (params.output_channels / 4u) + tap.z, inside);
    return Fetched(weights[at], inside);
}

fn advance_left(source: ptr<function, LeftSource>) {
    (*source).tap = sum_of_digits((*source).tap, (*source).tap_step, tap_radices());
}

fn advance_right(source: ptr<function, RightSource>) {
    (*source).tap = sum_of_digits((*source).tap, (*source).tap_step, tap_radices());
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
    let row_tiles = (pixels + TILE - 1u) / TILE;
    let column_tiles = (params.input_channels / 4u + COLUMN_QUADS - 1u) / COLUMN_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    first_row = number / column_tiles * TILE;
    first_column = number % column_tiles * COLUMN_QUADS;
    let depth = params.window_height * params.window_width * params.output_channels;
    let tile = sum_of_products(local, (depth + DEPTH - 1u) / DEPTH);
    store_tile(tile, local, first_row, first_column);
}
