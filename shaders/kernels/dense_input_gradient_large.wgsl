// dense_input_gradient_large: dx = (dy·Wᵀ) ⊙ slope(x), where slope is the derivative of the epilogue that produced x;
// each workgroup computes a 128 × 64 tile of dx, with each operand double-buffered in workgroup memory.
// dense_input_gradient_matrix is the same with the tiles of matrix_tile.wgsl.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile.
// params: Dense. dy: (B, N). weights: (K, N). x: (B, K). dx: (B, K). All row-major Stored.
// kernel "dense_input_gradient_large", 128 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "tile", "large_tile", "store_gradient"
// kernel "dense_input_gradient_matrix", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "matrix_tile", "matrix_small", "store_gradient"
// kernel "dense_input_gradient_matrix_large", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "matrix_tile", "matrix_large", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// The summed dimension, outputs, is contiguous in both operands.
const LEFT_TURNED: bool = true;
const RIGHT_TURNED: bool = true;

// Row and column of the tile's first result; the column is a vec4 index.
var<private> first_row: u32;
var<private> first_column: u32;

// Four outputs of a row of dy: vec4 index within the row, vec4 index in dy, and a flag that is false past the last row.
struct LeftSource {
    outputs: u32,
    at: u32,
    is_row: bool,
}

// Four outputs of a row of W, with the same fields.
struct RightSource {
    outputs: u32,
    at: u32,
    is_row: bool,
}

fn left_source(share: Share) -> LeftSource {
    let row = first_row + share.line;
    return LeftSource(share.depth, row * (params.outputs / 4u) + share.depth, row < params.rows);
}

fn right_source(share: Share) -> RightSource {
    let row = 4u * first_column + share.line;
    return RightSource(share.depth, row * (params.outputs / 4u) + share.depth, row < params.inputs);
}

fn left_at(source: LeftSource) -> Fetched {
    let inside = source.is_row & (source.outputs < params.outputs / 4u);
    return Fetched(dy[select(0u, source.at, inside)], inside);
}

fn right_at(source: RightSource) -> Fetched {
    let inside = source.is_row & (source.outputs < params.outputs / 4u);
    return Fetched(weights[select(0u, source.at, inside)], inside);
}

fn advance_left(source: ptr<function, LeftSource>) {
    (*source).outputs += DEPTH / 4u;
    (*source).at += DEPTH / 4u;
}

fn advance_right(source: ptr<function, RightSource>) {
    (*source).outputs += DEPTH / 4u;
    (*source).at += DEPTH / 4u;
}

// Stores four values of a row, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let inputs = params.inputs / 4u;
    if row < params.rows && column < inputs {
        store_gradient(row * inputs + column, sum);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row_tiles = (params.rows + TILE - 1u) / TILE;
    let column_tiles = (params.inputs / 4u + COLUMN_QUADS - 1u) / COLUMN_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    first_row = number / column_tiles * TILE;
    first_column = number % column_tiles * COLUMN_QUADS;
    let tile = sum_of_products(local, (params.outputs + DEPTH - 1u) / DEPTH);
    store_tile(tile, local, first_row, first_column);
}
