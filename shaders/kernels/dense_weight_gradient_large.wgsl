// dense_weight_gradient_large: dW = xᵀ·dy and db = Σ dy, summed over one part of the batch's rows; a 128 × 128 tile of
// dW for each workgroup, its operands in two buffers of workgroup memory each. dense_weight_gradient_tall: the same
// with 128 × 64 tiles.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup of 256 for each tile of each
// part.
// params: Dense. x: (B, K). dy: (B, N). parts: (parts, part_stride): dW (K, N), and db (N) from bias_offset on.
// parts f32, the others Stored.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

// Rows of both are samples, along which the sum goes.
const LEFT_TURNED: bool = false;
const RIGHT_TURNED: bool = false;

// A sample, and the one at which the part ends; a four of its inputs and a four of its outputs.
struct Source {
    sample: u32,
    end: u32,
    inputs: u32,
    outputs: u32,
}

fn left_at(source: Source) -> Fetched {
    let inside = (source.sample < source.end) & (source.inputs < params.inputs / 4u);
    let at = select(0u, source.sample * (params.inputs / 4u) + source.inputs, inside);
    return Fetched(x[at], inside);
}

fn right_at(source: Source) -> Fetched {
    let inside = (source.sample < source.end) & (source.outputs < params.outputs / 4u);
    let at = select(0u, source.sample * (params.outputs / 4u) + source.outputs, inside);
    return Fetched(dy[at], inside);
}

fn advance(source: ptr<function, Source>) {
    (*source).sample += DEPTH;
}

var<private> part_start: u32;

// Stores four values of one row of dW, if they exist. `column` counts fours.
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
    // The same for the whole workgroup, so that barriers are met by all.
    if first >= params.rows {
        return;
    }
    let end = min(first + params.rows_per_part, params.rows);
    let first_row = number / column_tiles % row_tiles * TILE;
    let first_column = number % column_tiles * COLUMN_QUADS;
    let left = left_share(local);
    let right = right_share(local);
    // Neither operand is turned, so that left.depth and right.depth are the same.
    let source = Source(first + left.depth, end, first_row / 4u + left.line, first_column + right.line);
    let tile = sum_of_products(source, local, (end - first + DEPTH - 1u) / DEPTH);
    let bias = column_sum(local);
    part_start = part * params.part_stride / 4u;
    store_tile(tile, local, first_row, first_column);
    let column = first_column + local;
    let has_bias = params.bias_offset != NO_BIAS && local < COLUMN_QUADS && column < params.outputs / 4u;
    if first_row == 0u && has_bias {
        parts[part_start + params.bias_offset / 4u + column] = bias;
    }
}
