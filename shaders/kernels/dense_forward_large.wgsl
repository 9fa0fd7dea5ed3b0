// dense_forward_large: y = epilogue(x·W + b), a 128 × 128 tile of y for each workgroup, its operands in two buffers of
// workgroup memory each. dense_forward_tall: the same with 128 × 64 tiles.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup of 256 for each tile.
// params: Dense. x: (B, K). weights: (K, N). bias: (N). y: (B, N). Row-major; bias f32, the others Stored.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// x is turned: its rows have the inputs side by side, along which the sum goes.
const LEFT_TURNED: bool = true;
const RIGHT_TURNED: bool = false;

// A row and a four of inputs of x; a row and a four of columns of W.
struct Source {
    row: u32,
    inputs: u32,
    input: u32,
    column: u32,
}

fn left_at(source: Source) -> Fetched {
    let inside = (source.row < params.rows) & (source.inputs < params.inputs / 4u);
    let at = select(0u, source.row * (params.inputs / 4u) + source.inputs, inside);
    return Fetched(x[at], inside);
}

fn right_at(source: Source) -> Fetched {
    let inside = (source.input < params.inputs) & (source.column < params.outputs / 4u);
    let at = select(0u, source.input * (params.outputs / 4u) + source.column, inside);
    return Fetched(weights[at], inside);
}

fn advance(source: ptr<function, Source>) {
    (*source).inputs += DEPTH / 4u;
    (*source).input += DEPTH;
}

// Stores four values of one row, if they exist. `column` counts fours.
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
    // The same for the whole workgroup, so that barriers are met by all.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * COLUMN_QUADS;
    let left = left_share(local);
    let right = right_share(local);
    let source = Source(first_row + left.line, left.depth, right.depth, first_column + right.line);
    let tile = sum_of_products(source, local, (params.inputs + DEPTH - 1u) / DEPTH);
    store_tile(tile, local, first_row, first_column);
}
