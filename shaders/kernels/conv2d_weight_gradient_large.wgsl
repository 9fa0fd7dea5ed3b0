// conv2d_weight_gradient_large: dW = Σ x ⊗ dy and db = Σ dy over one part of the batch's output pixels; each workgroup
// computes a tile of dW, 128 (tap, channel) rows × 64 filters, with each operand double-buffered in workgroup memory.
// conv2d_weight_gradient_matrix is the same with the tiles of matrix_tile.wgsl.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup per tile of each part.
// params: Conv2d. x: (B, H, W, C). dy: (B, H', W', F).
// parts: (parts, part_stride): dW (KH, KW, C, F), and db (F) from bias_offset on unless that is NO_BIAS.
// parts f32, the others Stored.
// kernel "conv2d_weight_gradient_large", 128 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "digits", "workgroup_number", "tile", "large_tile", "column_sum", "no_bias"
// kernel "conv2d_weight_gradient_matrix", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "digits", "workgroup_number", "matrix_tile", "matrix_small", "matrix_column_sum", "no_bias"
// kernel "conv2d_weight_gradient_matrix_large", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "digits", "workgroup_number", "matrix_tile", "matrix_large", "matrix_column_sum", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

// The summed dimension, pixels, is strided in both operands.
const LEFT_TURNED: bool = false;
const RIGHT_TURNED: bool = false;

// Row and column of the tile's first result; the column is a vec4 index.
var<private> first_row: u32;
var<private> first_column: u32;

// First and end (exclusive) of the part's output pixels.
var<private> first_pixel: u32;
var<private> end_pixel: u32;

struct LeftSource {
    // Index of an output pixel in the batch.
    pixel: u32,
    // Sample, row and column of the same pixel, and their increments per step.
    at: vec3<u32>,
    at_step: vec3<u32>,
    // Row, column and group of four channels of a tap.
    tap: vec3<u32>,
}

// Index of an output pixel in the batch and vec4 index of four filters.
struct RightSource {
    pixel: u32,
    filters: u32,
}

// Radices of the last two digits of an output pixel.
fn pixel_radices() -> vec2<u32> {
    return vec2<u32>(params.output_height, params.output_width);
}

fn left_source(share: Share) -> LeftSource {
    let channels = params.input_channels / 4u;
    let kernel_rows = params.window_height * params.window_width * channels;
    // Out-of-bounds rows are clamped to the last one and not stored.
    let tap = digits(min(first_row / 4u + share.line, kernel_rows - 1u), vec2<u32>(params.window_width, channels));
    let pixel = first_pixel + share.depth;
    return LeftSource(pixel, digits(pixel, pixel_radices()), digits(DEPTH, pixel_radices()), tap);
}

fn right_source(share: Share) -> RightSource {
    return RightSource(first_pixel + share.depth, first_column + share.line);
}

// Four channels of x under a tap; zero outside the image and past the part.
fn left_at(source: LeftSource) -> Fetched {
    let row = source.at.y * STRIDE + source.tap.x - params.padding_rows;
    let column = source.at.z * STRIDE + source.tap.y - params.padding_columns;
    // Negative coordinates wrap to large values, which are out of bounds.
    let inside = (source.pixel < end_pixel) & (row < params.input_height) & (column < params.input_width);
    let input = (source.at.x * params.input_height + row) * params.input_width + column;
    let at = select(0u, input * (params.input_channels / 4u) + source.tap.z, inside);
    return Fetched(x[at], inside);
}

fn right_at(source: RightSource) -> Fetched {
    let inside = (source.pixel < end_pixel) & (source.filters < params.output_channels / 4u);
    let at = select(0u, source.pixel * (params.output_channels / 4u) + source.filters, inside);
    return Fetched(dy[at], inside);
}

fn advance_left(source: ptr<function, LeftSource>) {
    (*source).pixel += DEPTH;
    (*source).at = sum_of_digits((*source).at, (*source).at_step, pixel_radices());
}

fn advance_right(source: ptr<function, RightSource>) {
    (*source).pixel += DEPTH;
}

var<private> part_start: u32;

// Stores four values of a row of dW, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let outputs = params.output_channels / 4u;
    if row < params.window_height * params.window_width * params.input_channels && column < outputs {
        parts[part_start + row * outputs + column] = sum;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let kernel_rows = params.window_height * params.window_width * (params.input_channels / 4u);
    let pixels = params.rows * params.output_height * params.output_width;
    let row_tiles = (kernel_rows + TILE_QUADS - 1u) / TILE_QUADS;
    let column_tiles = (params.output_channels / 4u + COLUMN_QUADS - 1u) / COLUMN_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.pixels_per_part;
    // Uniform across the workgroup, so all invocations reach the barriers.
    if first >= pixels {
        return;
    }
    let end = min(first + params.pixels_per_part, pixels);
    first_pixel = first;
    end_pixel = end;
    first_row = number / column_tiles % row_tiles * TILE;
    first_column = number % column_tiles * COLUMN_QUADS;
    let tile = sum_of_products(local, (end - first + DEPTH - 1u) / DEPTH);
    let bias = column_sum(local);
    part_start = part * params.part_stride / 4u;
    store_tile(tile, local, first_row, first_column);
    let column = first_column + local;
    let has_bias = params.bias_offset != NO_BIAS && local < COLUMN_QUADS && column < params.output_channels / 4u;
    if first_row == 0u && has_bias {
        parts[part_start + params.bias_offset / 4u + column] = bias;
    }
}
