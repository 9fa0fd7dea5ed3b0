// dense_weight_gradient: dW = xᵀ·dy and db = Σ dy, summed over one part of the batch's rows.
// Each invocation computes a tile of dW, 8 inputs × 8 outputs. x is loaded without transposition.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4.
// params: Dense. x: (B, K). dy: (B, N). parts: (parts, part_stride): dW (K, N), and db (N) from bias_offset on.
// parts f32, the others Stored.
// kernel "dense_weight_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "tile", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

var<private> part_start: u32;

// Stores eight values of a row of dW, except those out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, left: vec4<f32>, right: vec4<f32>) {
    let outputs = params.outputs / 4u;
    if row >= params.inputs {
        return;
    }
    let at = part_start + row * outputs + column;
    parts[at] = left;
    if column + 1u < outputs {
        parts[at + 1u] = right;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let inputs = params.inputs / 4u;
    let outputs = params.outputs / 4u;
    let row_tiles = (inputs + 1u) / 2u;
    let column_tiles = (outputs + 1u) / 2u;
    let number = invocation_number(workgroup, workgroups, local);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.rows_per_part;
    if first >= params.rows {
        return;
    }
    let row = number / column_tiles % row_tiles * 2u;
    let column = number % column_tiles * 2u;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let next_row = min(row + 1u, inputs - 1u);
    let next_column = min(column + 1u, outputs - 1u);
    let end = min(first + params.rows_per_part, params.rows);
    part_start = part * params.part_stride / 4u;
    var tile: Tile;
    var bias_left = vec4<f32>(0.0);
    var bias_right = vec4<f32>(0.0);
    for (var sample = first; sample < end; sample++) {
        let left = vec4<f32>(dy[sample * outputs + column]);
        let right = vec4<f32>(dy[sample * outputs + next_column]);
        let low = vec4<f32>(x[sample * inputs + row]);
        let high = vec4<f32>(x[sample * inputs + next_row]);
        add_outer_product(&tile, low, high, left, right);
        bias_left += left;
        bias_right += right;
    }
    store(4u * row, column, tile.left0, tile.right0);
    store(4u * row + 1u, column, tile.left1, tile.right1);
    store(4u * row + 2u, column, tile.left2, tile.right2);
    store(4u * row + 3u, column, tile.left3, tile.right3);
    store(4u * row + 4u, column, tile.left4, tile.right4);
    store(4u * row + 5u, column, tile.left5, tile.right5);
    store(4u * row + 6u, column, tile.left6, tile.right6);
    store(4u * row + 7u, column, tile.left7, tile.right7);
    if row == 0u && params.bias_offset != NO_BIAS {
        let at = part_start + params.bias_offset / 4u + column;
        parts[at] = bias_left;
        if column + 1u < outputs {
            parts[at + 1u] = bias_right;
        }
    }
}
