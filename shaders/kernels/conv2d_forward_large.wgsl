// conv2d_forward_large: y = epilogue(x ⋆ W + b), cross-correlation; each workgroup computes 128 pixels × 64 channels
// of y, with each operand double-buffered in workgroup memory. conv2d_forward_matrix is the same with the tiles of
// matrix_tile.wgsl.
// Implicit matrix product: pixels × (taps × channels) times (taps × channels) × filters.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup per tile.
// params: Conv2d. x: (B, H, W, C). weights: (KH, KW, C, F). bias: (F). y: (B, H', W', F).
// bias f32, the others Stored.
// kernel "conv2d_forward_large", 128 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_window", "digits", "workgroup_number", "tile", "large_tile"
// kernel "conv2d_forward_matrix", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_window", "digits", "workgroup_number", "matrix_tile", "matrix_small"
// kernel "conv2d_forward_matrix_large", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_window", "digits", "workgroup_number", "matrix_tile", "matrix_large"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// The summed dimension, channels of taps, is contiguous in x and strided in the weights.
const LEFT_TURNED: bool = true;
const RIGHT_TURNED: bool = false;

// Row and column of the tile's first result; the column is a vec4 index.
var<private> first_row: u32;
var<private> first_column: u32;

struct LeftSource {
    // Window of an output pixel.
    origin: Window,
    // Row, column and group of four channels of a tap in the window, and their increments per step.
    tap: vec3<u32>,
    tap_step: vec3<u32>,
}

// Row of the kernel (a channel of a tap) and vec4 index of four filters.
struct RightSource {
    row: u32,
    column: u32,
}

// Radices of the last two digits of a tap.
fn tap_radices() -> vec2<u32> {
    return vec2<u32>(params.window_width, params.input_channels / 4u);
}

fn left_source(share: Share) -> LeftSource {
    let pixels = params.rows * params.output_height * params.output_width;
    // Out-of-bounds pixels are clamped to the last one and not stored.
    let origin = window(min(first_row + share.line, pixels - 1u));
    return LeftSource(origin, digits(share.depth, tap_radices()), digits(DEPTH / 4u, tap_radices()));
}

fn right_source(share: Share) -> RightSource {
    return RightSource(share.depth, first_column + share.line);
}

// Four channels of x under a tap; zero outside the image and past the last tap.
fn left_at(source: LeftSource) -> Fetched {
    let tap = source.tap;
    let inside = (tap.x < params.window_height) & tap_inside(source.origin, tap.x, tap.y);
    let pixel = u32(source.origin.first + i32(tap.x * params.input_width + tap.y));
    let at = select(0u, pixel * (params.input_channels / 4u) + tap.z, inside);
    return Fetched(x[at], inside);
}

fn right_at(source: RightSource) -> Fetched {
    let rows = params.window_height * params.window_width * params.input_channels;
    let inside = (source.row < rows) & (source.column < params.output_channels / 4u);
    let at = select(0u, source.row * (params.output_channels / 4u) + source.column, inside);
    return Fetched(weights[at], inside);
}

fn advance_left(source: ptr<function, LeftSource>) {
    (*source).tap = sum_of_digits((*source).tap, (*source).tap_step, tap_radices());
}

fn advance_right(source: ptr<function, RightSource>) {
    (*source).row += DEPTH;
}

// Stores four values of a row, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let outputs = params.output_channels / 4u;
    if row < params.rows * params.output_height * params.output_width && column < outputs {
        let at = row * outputs + column;
        y[at] = rounded(apply_epilogue(sum + bias[column], 4u * at, params.epilogue));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let pixels = params.rows * params.output_height * params.output_width;
    let row_tiles = (pixels + TILE - 1u) / TILE;
    let column_tiles = (params.output_channels / 4u + COLUMN_QUADS - 1u) / COLUMN_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    first_row = number / column_tiles * TILE;
    first_column = number % column_tiles * COLUMN_QUADS;
    let depth = params.window_height * params.window_width * params.input_channels;
    let tile = sum_of_products(local, (depth + DEPTH - 1u) / DEPTH);
    store_tile(tile, local, first_row, first_column);
}
