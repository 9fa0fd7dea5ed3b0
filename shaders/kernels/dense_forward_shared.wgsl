// dense_forward_shared: y = epilogue(x·W + b); each workgroup computes a 64 × 64 tile of y, with the operands in
// workgroup memory.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup of 64 invocations per tile.
// params: Dense. x: (B, K). weights: (K, N). bias: (N). y: (B, N). Row-major; bias f32, the others Stored.
// kernel "dense_forward_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "tile", "workgroup_number", "workgroup_tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// Four inputs of a row of x; zero out of bounds.
fn left_at(row: u32, k: u32) -> vec4<f32> {
    let inside = (row < params.rows) & (k < params.inputs / 4u);
    return select(vec4<f32>(0.0), vec4<f32>(x[select(0u, row * (params.inputs / 4u) + k, inside)]), inside);
}

// Four columns of a row of W; zero out of bounds.
fn right_at(k: u32, column: u32) -> vec4<f32> {
    let inside = (k < params.inputs) & (column < params.outputs / 4u);
    return select(vec4<f32>(0.0), vec4<f32>(weights[select(0u, k * (params.outputs / 4u) + column, inside)]), inside);
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
    let column_tiles = (params.outputs / 4u + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    let read_row = first_row + 4u * turned_rows(local);
    let read_column = first_column + plain_columns(local);
    var tile: Tile;
    for (var d = 0u; d < params.inputs; d += DEPTH) {
        let k = d / 4u + turned_depth(local);
        keep_left_turned(
            local,
            mat4x4<f32>(
                left_at(read_row, k),
                left_at(read_row + 1u, k),
                left_at(read_row + 2u, k),
                left_at(read_row + 3u, k),
            ),
        );
        keep_right(local, 0u, right_at(d + plain_depth(local, 0u), read_column));
        keep_right(local, 1u, right_at(d + plain_depth(local, 1u), read_column));
        keep_right(local, 2u, right_at(d + plain_depth(local, 2u), read_column));
        keep_right(local, 3u, right_at(d + plain_depth(local, 3u), read_column));
        workgroupBarrier();
        add_step(&tile, local);
        workgroupBarrier();
    }
    let row = first_row + 4u * (local / 8u);
    let column = first_column + local % 8u;
    // Rows 0..3 and 32..35 from `row` on.
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        let at = row + (i & 3u) + 8u * (i & 4u);
        store(at, column, quads[2u * i]);
        store(at, column + 8u, quads[2u * i + 1u]);
    }
}
