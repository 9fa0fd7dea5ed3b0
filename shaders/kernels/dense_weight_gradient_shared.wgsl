// dense_weight_gradient_shared: dW = xᵀ·dy and db = Σ dy, summed over one part of the batch's rows; each workgroup
// computes a 64 × 64 tile of dW, with the operands in workgroup memory.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4.
// One workgroup of 64 invocations per tile of each part.
// params: Dense. x: (B, K). dy: (B, N). parts: (parts, part_stride): dW (K, N), and db (N) from bias_offset on.
// parts f32, the others Stored.
// kernel "dense_weight_gradient_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "dense_params", "tile", "workgroup_number", "workgroup_tile", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

// Four inputs of a sample; zero out of bounds.
fn left_at(sample: u32, end: u32, k: u32) -> vec4<f32> {
    let inside = (sample < end) & (k < params.inputs / 4u);
    return select(vec4<f32>(0.0), vec4<f32>(x[select(0u, sample * (params.inputs / 4u) + k, inside)]), inside);
}

// Four outputs of a sample; zero out of bounds.
fn right_at(sample: u32, end: u32, n: u32) -> vec4<f32> {
    let inside = (sample < end) & (n < params.outputs / 4u);
    return select(vec4<f32>(0.0), vec4<f32>(dy[select(0u, sample * (params.outputs / 4u) + n, inside)]), inside);
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
    let column_tiles = (params.outputs / 4u + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.rows_per_part;
    // Uniform across the workgroup, so all invocations reach the barriers.
    if first >= params.rows {
        return;
    }
    let end = min(first + params.rows_per_part, params.rows);
    let first_row = number / column_tiles % row_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    let read_row = first_row / 4u + plain_columns(local);
    let read_column = first_column + plain_columns(local);
    var tile: Tile;
    var bias = vec4<f32>(0.0);
    for (var d = first; d < end; d += DEPTH) {
        keep_left(local, 0u, left_at(d + plain_depth(local, 0u), end, read_row));
        keep_left(local, 1u, left_at(d + plain_depth(local, 1u), end, read_row));
        keep_left(local, 2u, left_at(d + plain_depth(local, 2u), end, read_row));
        keep_left(local, 3u, left_at(d + plain_depth(local, 3u), end, read_row));
        keep_right(local, 0u, right_at(d + plain_depth(local, 0u), end, read_column));
        keep_right(local, 1u, right_at(d + plain_depth(local, 1u), end, read_column));
        keep_right(local, 2u, right_at(d + plain_depth(local, 2u), end, read_column));
        keep_right(local, 3u, right_at(d + plain_depth(local, 3u), end, read_column));
        workgroupBarrier();
        add_step(&tile, local);
        if first_row == 0u && local < TILE_QUADS {
            for (var k = 0u; k < DEPTH; k++) {
                bias += right_operand[k * PITCH + local];
            }
        }
        workgroupBarrier();
    }
    part_start = part * params.part_stride / 4u;
    let row = first_row + 4u * (local / 8u);
    let column = first_column + local % 8u;
    // Rows 0..3 and 32..35 from `row` on.
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        let at = row + (i & 3u) + 8u * (i & 4u);
        store(at, column, quads[2u * i]);
        store(at, column + 8u, quads[2u * i + 1u]);
    }
    let bias_column = first_column + local;
    let has_bias = params.bias_offset != NO_BIAS && local < TILE_QUADS && bias_column < params.outputs / 4u;
    if first_row == 0u && has_bias {
        parts[part_start + params.bias_offset / 4u + bias_column] = bias;
    }
}
