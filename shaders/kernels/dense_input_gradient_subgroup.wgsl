// dense_input_gradient_subgroup: dx = (dy·Wᵀ) ⊙ slope(x), where slope is the derivative of the epilogue that produced
// x; a tile of dx stays in the registers of a subgroup's lanes. W is transposed in registers.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile.
// params: Dense. dy: (B, N). weights: (K, N). x: (B, K). dx: (B, K). All row-major Stored.
// kernel "dense_input_gradient_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "eight_lanes", "subgroup_tile", "store_gradient"
// kernel "dense_input_gradient_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "four_lanes", "subgroup_tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// Vec4 index of the start of a row of dy. Out-of-bounds rows are clamped to the last one and not stored.
fn row_start(row: u32) -> u32 {
    return min(row, params.rows - 1u) * (params.outputs / 4u);
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
    let column_tiles = (inputs + LANES - 1u) / LANES;
    let number = workgroup_number(workgroup, workgroups);
    if number >= row_tiles * column_tiles {
        return;
    }
    let place = tile_place(number, row_tiles, column_tiles, params.outputs);
    let row = place.x * TILE;
    let column = place.y * LANES + lane;
    let w0 = 4u * min(column, inputs - 1u) * outputs;
    let dy0 = row_start(row + lane);
    let dy1 = row_start(row + lane + LANES);
    let dy2 = row_start(row + lane + 2u * LANES);
    let dy3 = row_start(row + lane + 3u * LANES);
    var b0: Block;
    var b1: Block;
    var b2: Block;
    var b3: Block;
    for (var n = 0u; n < outputs; n++) {
        let at = w0 + n;
        let w = transpose(mat4x4<f32>(
            vec4<f32>(weights[at]),
            vec4<f32>(weights[at + outputs]),
            vec4<f32>(weights[at + 2u * outputs]),
            vec4<f32>(weights[at + 3u * outputs]),
        ));
        let a0 = vec4<f32>(dy[dy0 + n]);
        let a1 = vec4<f32>(dy[dy1 + n]);
        let a2 = vec4<f32>(dy[dy2 + n]);
        let a3 = vec4<f32>(dy[dy3 + n]);
        add_block(&b0, a0, w);
        add_block(&b1, a1, w);
        add_block(&b2, a2, w);
        add_block(&b3, a3, w);
    }
    var sums = tile_rows(b0, b1, b2, b3);
    for (var i = 0u; i < TILE; i++) {
        let result_row = row + lane_of_row(i, lane);
        if result_row < params.rows && column < inputs {
            store_gradient(result_row * inputs + column, sums[i]);
        }
    }
}
