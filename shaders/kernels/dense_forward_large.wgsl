// dense_forward_large: y = epilogue(x·W + b); each workgroup computes a 128 × 64 tile of y, with each operand
// double-buffered in workgroup memory. dense_forward_matrix is the same with the tiles of matrix_tile.wgsl.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile.
// params: Dense. x: (B, K). weights: (K, N). bias: (N). y: (B, N). Row-major; bias f32, the others Stored.
// kernel "dense_forward_large", 128 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "tile", "large_tile"
// kernel "dense_forward_matrix", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "matrix_tile", "matrix_small"
// kernel "dense_forward_matrix_large", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "matrix_tile", "matrix_large"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// The summed dimension, inputs, is contiguous in x and strided in W.
const LEFT_TURNED: bool = true;
const RIGHT_TURNED: bool = false;

// Row and column of the tile's first result; the column is a vec4 index.
var<private> first_row: u32;
var<private> first_column: u32;

// Four inputs of a row of x: vec4 index within the row, vec4 index in x, and a flag that is false past the last row.
struct LeftSource {
    inputs: u32,
    at: u32,
    is_row: bool,
}

// Four columns of a row of W: row, vec4 index in W, and a flag that is false past the last column.
struct RightSource {
    input: u32,
    at: u32,
    is_column: bool,
}

fn left_source(share: Share) -> LeftSource {
    let row = first_row + share.line;
    return LeftSource(share.depth, row * (params.inputs / 4u) + share.depth, row < params.rows);
}

fn right_source(share: Share) -> RightSource {
    let column = first_column + share.line;
    let outputs = params.outputs / 4u;
    return RightSource(share.depth, share.depth * outputs + column, column < outputs);
}

fn left_at(source: LeftSource) -> Fetched {
    let inside = source.is_row & (source.inputs < params.inputs / 4u);
    return Fetched(x[select(0u, source.at, inside)], inside);
}

fn right_at(source: RightSource) -> Fetched {
    let inside = source.is_column & (source.input < params.inputs);
    return Fetched(weights[select(0u, source.at, inside)], inside);
}

fn advance_left(source: ptr<function, LeftSource>) {
    (*source).inputs += DEPTH / 4u;
    (*source).at += DEPTH / 4u;
}

fn advance_right(source: ptr<function, RightSource>) {
    (*source).input += DEPTH;
    (*source).at += DEPTH * (params.outputs / 4u);
}

// Stores four values of a row, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let outputs = params.outputs / 4u;
    if row < params.rows && column < outputs {
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
    let row_tiles = (params.rows + TILE - 1u) / TILE;
    let column_tiles = (params.outputs / 4u + COLUMN_QUADS - 1u) / COLUMN_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    first_row = number / column_tiles * TILE;
    first_column = number % column_tiles * COLUMN_QUADS;
    let tile = sum_of_products(local, (params.inputs + DEPTH - 1u) / DEPTH);
    store_tile(tile, local, first_row, first_column);
}
