// dense_input_gradient_large: dx = (dy·Wᵀ) ⊙ slope(x), where the epilogue of the layer below made x; a 128 × 128 tile
// of dx for each workgroup, its operands in two buffers of workgroup memory each. dense_input_gradient_tall: the same
// with 128 × 64 tiles.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup of 256 for each tile.
// params: Dense. dy: (B, N). weights: (K, N). x: (B, K). dx: (B, K). All row-major Stored.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// Rows of both have the outputs side by side, along which the sum goes.
const LEFT_TURNED: bool = true;
const RIGHT_TURNED: bool = true;

// A row of dy and a row of W, and a four of outputs of both.
struct Source {
    row: u32,
    input: u32,
    outputs: u32,
}

fn left_at(source: Source) -> Fetched {
    let inside = (source.row < params.rows) & (source.outputs < params.outputs / 4u);
    let at = select(0u, source.row * (params.outputs / 4u) + source.outputs, inside);
    return Fetched(dy[at], inside);
}

fn right_at(source: Source) -> Fetched {
    let inside = (source.input < params.inputs) & (source.outputs < params.outputs / 4u);
    let at = select(0u, source.input * (params.outputs / 4u) + source.outputs, inside);
    return Fetched(weights[at], inside);
}

fn advance(source: ptr<function, Source>) {
    (*source).outputs += DEPTH / 4u;
}

// Stores four values of one row, if they exist. `column` counts fours.
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
    // The same for the whole workgroup, so that barriers are met by all.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * COLUMN_QUADS;
    let left = left_share(local);
    let right = right_share(local);
    // Both operands are turned, so that left.depth and right.depth are the same.
    let source = Source(first_row + left.line, 4u * first_column + right.line, left.depth);
    let tile = sum_of_products(source, local, (params.outputs + DEPTH - 1u) / DEPTH);
    store_tile(tile, local, first_row, first_column);
}
