// dense_weight_gradient_subgroup: dW = xᵀ·dy and db = Σ dy, summed over one part of the batch's rows; a tile of
// dW stays in the registers of a subgroup's lanes.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile of each part.
// params: Dense. x: (B, K). dy: (B, N). parts: (parts, part_stride): dW (K, N), and db (N) from bias_offset on.
// parts f32, the others Stored.
// kernel "dense_weight_gradient_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "eight_lanes", "subgroup_tile", "no_bias"
// kernel "dense_weight_gradient_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "four_lanes", "subgroup_tile", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let inputs = params.inputs / 4u;
    let outputs = params.outputs / 4u;
    let row_tiles = (inputs + LANES - 1u) / LANES;
    let column_tiles = (outputs + LANES - 1u) / LANES;
    let number = workgroup_number(workgroup, workgroups);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.rows_per_part;
    if first >= params.rows {
        return;
    }
    // `row` counts groups of four rows of dW. Out-of-bounds rows and columns are clamped and not stored.
    let place = tile_place(number % (row_tiles * column_tiles), row_tiles, column_tiles, params.rows_per_part);
    let row = place.x * LANES;
    let column = place.y * LANES + lane;
    let known_row = min(row + lane, inputs - 1u);
    let known_column = min(column, outputs - 1u);
    let end = min(first + params.rows_per_part, params.rows);
    // Block c holds rows c, c + 4, c + 8, … of the tile.
    var b0: Block;
    var b1: Block;
    var b2: Block;
    var b3: Block;
    var bias = vec4<f32>(0.0);
    let last = end - 1u;
    for (var sample = first; sample < end; sample += 4u) {
        // Samples past the part are its last one, times zero.
        let four = sample + vec4<u32>(0u, 1u, 2u, 3u);
        let known = min(four, vec4<u32>(last));
        let factors = select(vec4<f32>(0.0), vec4<f32>(1.0), four == known);
        let from_x = known * inputs + known_row;
        let from_dy = known * outputs + known_column;
        let a = transpose(mat4x4<f32>(
            vec4<f32>(x[from_x.x]),
            vec4<f32>(x[from_x.y]),
            vec4<f32>(x[from_x.z]),
            vec4<f32>(x[from_x.w]),
        ));
        let b = mat4x4<f32>(
            factors.x * vec4<f32>(dy[from_dy.x]),
            factors.y * vec4<f32>(dy[from_dy.y]),
            factors.z * vec4<f32>(dy[from_dy.z]),
            factors.w * vec4<f32>(dy[from_dy.w]),
        );
        add_block(&b0, a[0], b);
        add_block(&b1, a[1], b);
        add_block(&b2, a[2], b);
        add_block(&b3, a[3], b);
        bias += b[0] + b[1] + b[2] + b[3];
    }
    let part_start = part * params.part_stride / 4u;
    var sums = tile_rows(b0, b1, b2, b3);
    for (var i = 0u; i < TILE; i++) {
        let row_of_dw = 4u * (row + lane_of_row(i % LANES, lane)) + i / LANES;
        if row_of_dw < params.inputs && column < outputs {
            parts[part_start + row_of_dw * outputs + column] = sums[i];
        }
    }
    if row == 0u && params.bias_offset != NO_BIAS && column < outputs {
        parts[part_start + params.bias_offset / 4u + column] = bias;
    }
}
