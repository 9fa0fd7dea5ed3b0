// dense_input_gradient_shared: dx = (dy·Wᵀ) ⊙ slope(x), where slope is the derivative of the epilogue that produced x;
// each workgroup computes a 64 × 64 tile of dx, with the operands in workgroup memory. Both operands are transposed
// between load and store.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup of 64 invocations per tile.
// params: Dense. dy: (B, N). weights: (K, N). x: (B, K). dx: (B, K). All row-major Stored.
// kernel "dense_input_gradient_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "dense_params", "tile", "workgroup_number", "workgroup_tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// Four outputs of a row of dy; zero out of bounds.
fn left_at(row: u32, n: u32) -> vec4<f32> {
    let inside = (row < params.rows) & (n < params.outputs / 4u);
    return select(vec4<f32>(0.0), vec4<f32>(dy[select(0u, row * (params.outputs / 4u) + n, inside)]), inside);
}

// Four columns of a row of W; zero out of bounds.
fn right_at(k: u32, n: u32) -> vec4<f32> {
    let inside = (k < params.inputs) & (n < params.outputs / 4u);
    return select(vec4<f32>(0.0), vec4<f32>(weights[select(0u, k * (params.outputs / 4u) + n, inside)]), inside);
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
    let column_tiles = (params.inputs / 4u + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    let read_row = first_row + 4u * turned_rows(local);
    let read_input = 4u * (first_column + turned_rows(local));
    var tile: Tile;
    for (var d = 0u; d < params.outputs; d += DEPTH) {
        let n = d / 4u + turned_depth(local);
        keep_left_turned(
            local,
            mat4x4<f32>(
                left_at(read_row, n),
                left_at(read_row + 1u, n),
                left_at(read_row + 2u, n),
                left_at(read_row + 3u, n),
            ),
        );
        keep_right_turned(
            local,
            mat4x4<f32>(
                right_at(read_input, n),
                right_at(read_input + 1u, n),
                right_at(read_input + 2u, n),
                right_at(read_input + 3u, n),
            ),
        );
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
