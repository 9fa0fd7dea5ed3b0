// dense_forward_subgroup: y = epilogue(x·W + b); a tile of y stays in the registers of a subgroup's lanes.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile.
// params: Dense. x: (B, K). weights: (K, N). bias: (N). y: (B, N). Row-major; bias f32, the others Stored.
// kernel "dense_forward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "eight_lanes", "subgroup_tile"
// kernel "dense_forward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "four_lanes", "subgroup_tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// Vec4 index of the start of a row of x. Out-of-bounds rows are clamped to the last one and not stored.
fn row_start(row: u32) -> u32 {
    return min(row, params.rows - 1u) * (params.inputs / 4u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let inputs = params.inputs / 4u;
    let outputs = params.outputs / 4u;
    let row_tiles = (params.rows + TILE - 1u) / TILE;
    let column_tiles = (outputs + LANES - 1u) / LANES;
    let number = workgroup_number(workgroup, workgroups);
    if number >= row_tiles * column_tiles {
        return;
    }
    let place = tile_place(number, row_tiles, column_tiles, params.inputs);
    let row = place.x * TILE;
    let column = place.y * LANES + lane;
    let known_column = min(column, outputs - 1u);
    let x0 = row_start(row + lane);
    let x1 = row_start(row + lane + LANES);
    let x2 = row_start(row + lane + 2u * LANES);
    let x3 = row_start(row + lane + 3u * LANES);
    var b0: Block;
    var b1: Block;
    var b2: Block;
    var b3: Block;
    for (var k = 0u; k < inputs; k++) {
        let at = 4u * k * outputs + known_column;
        let w = mat4x4<f32>(
            vec4<f32>(weights[at]),
            vec4<f32>(weights[at + outputs]),
            vec4<f32>(weights[at + 2u * outputs]),
            vec4<f32>(weights[at + 3u * outputs]),
        );
        let a0 = vec4<f32>(x[x0 + k]);
        let a1 = vec4<f32>(x[x1 + k]);
        let a2 = vec4<f32>(x[x2 + k]);
        let a3 = vec4<f32>(x[x3 + k]);
        add_block(&b0, a0, w);
        add_block(&b1, a1, w);
        add_block(&b2, a2, w);
        add_block(&b3, a3, w);
    }
    var sums = tile_rows(b0, b1, b2, b3);
    let b = bias[known_column];
    for (var i = 0u; i < TILE; i++) {
        let result_row = row + lane_of_row(i, lane);
        if result_row < params.rows && column < outputs {
            let at = result_row * outputs + column;
            y[at] = rounded(apply_epilogue(sums[i] + b, 4u * at, params.epilogue));
        }
    }
}
