// dense_weight_gradient_large: dW = xᵀ·dy and db = Σ dy, summed over one part of the batch's rows; each workgroup
// computes a 128 × 64 tile of dW, with each operand double-buffered in workgroup memory. dense_weight_gradient_matrix
// is the same with the tiles of matrix_tile.wgsl.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile of each part.
// params: Dense. x: (B, K). dy: (B, N). parts: (parts, part_stride): dW (K, N), and db (N) from bias_offset on.
// parts f32, the others Stored.
// kernel "dense_weight_gradient_large", 128 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "tile", "large_tile", "column_sum", "no_bias"
// kernel "dense_weight_gradient_matrix", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "matrix_tile", "matrix_small", "matrix_column_sum", "no_bias"
// kernel "dense_weight_gradient_matrix_large", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "matrix_tile", "matrix_large", "matrix_column_sum", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

// The summed dimension, samples, is strided in both operands.
const LEFT_TURNED: bool = false;
const RIGHT_TURNED: bool = false;

// Row and column of the tile's first result; the column is a vec4 index.
var<private> first_row: u32;
var<private> first_column: u32;

// First and end (exclusive) of the part's samples.
var<private> first_sample: u32;
var<private> end_sample: u32;

// Four inputs of a sample: sample, vec4 index in x, and a flag that is false past the last input.
struct LeftSource {
    sample: u32,
    at: u32,
    is_input: bool,
}

// Four outputs of a sample: sample, vec4 index in dy, and a flag that is false past the last output.
struct RightSource {
    sample: u32,
    at: u32,
    is_output: bool,
}

fn left_source(share: Share) -> LeftSource {
    let sample = first_sample + share.depth;
    let inputs = first_row / 4u + share.line;
    return LeftSource(sample, sample * (params.inputs / 4u) + inputs, inputs < params.inputs / 4u);
}

fn right_source(share: Share) -> RightSource {
    let sample = first_sample + share.depth;
    let outputs = first_column + share.line;
    return RightSource(sample, sample * (params.outputs / 4u) + outputs, outputs < params.outputs / 4u);
}

fn left_at(source: LeftSource) -> Fetched {
    let inside = source.is_input & (source.sample < end_sample);
    return Fetched(x[select(0u, source.at, inside)], inside);
}

fn right_at(source: RightSource) -> Fetched {
    let inside = source.is_output & (source.sample < end_sample);
    return Fetched(dy[select(0u, source.at, inside)], inside);
}

fn advance_left(source: ptr<function, LeftSource>) {
    (*source).sample += DEPTH;
    (*source).at += DEPTH * (params.inputs / 4u);
}

fn advance_right(source: ptr<function, RightSource>) {
    (*source).sample += DEPTH;
    (*source).at += DEPTH * (params.outputs / 4u);
}

var<private> part_start: u32;

// Stores four values of a row of dW, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let outputs = params.outputs / 4u;
    if row < params.inputs && column < outputs {
        parts[part_start + row * outputs + column] = sum;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row_tiles = (params.inputs / 4u + TILE_QUADS - 1u) / TILE_QUADS;
    let column_tiles = (params.outputs / 4u + COLUMN_QUADS - 1u) / COLUMN_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.rows_per_part;
    // Uniform across the workgroup, so all invocations reach the barriers.
    if first >= params.rows {
        return;
    }
    let end = min(first + params.rows_per_part, params.rows);
    first_sample = first;
    end_sample = end;
    first_row = number / column_tiles % row_tiles * TILE;
    first_column = number % column_tiles * COLUMN_QUADS;
    let tile = sum_of_products(local, (end - first + DEPTH - 1u) / DEPTH);
    let bias = column_sum(local);
    part_start = part * params.part_stride / 4u;
    store_tile(tile, local, first_row, first_column);
    let column = first_column + local;
    let has_bias = params.bias_offset != NO_BIAS && local < COLUMN_QUADS && column < params.outputs / 4u;
    if first_row == 0u && has_bias {
        parts[part_start + params.bias_offset / 4u + column] = bias;
    }
}
