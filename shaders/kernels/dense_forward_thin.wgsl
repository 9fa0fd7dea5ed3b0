// dense_forward_thin: y = epilogue(x·W + b) for few rows; a tile of 8 rows × 32 columns of y is held in the registers
// of eight lanes of a subgroup.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile.
// params: Dense. x: (B, K). weights: (K, N). bias: (N). y: (B, N). Row-major; bias f32, the others Stored.
// kernel "dense_forward_thin", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number",
//     "eight_lanes", "subgroup_tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let inputs = params.inputs / 4u;
    let outputs = params.outputs / 4u;
    let row_tiles = (params.rows + LANES - 1u) / LANES;
    let number = workgroup_number(workgroup, workgroups);
    // Consecutive tiles share their part of W, which is large and reused by few rows.
    let row = number % row_tiles * LANES;
    let first_column = number / row_tiles * LANES;
    if first_column >= outputs {
        return;
    }
    let column = first_column + lane;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let known_column = min(column, outputs - 1u);
    let x0 = min(row + lane, params.rows - 1u) * inputs;
    var block: Block;
    for (var k = 0u; k < inputs; k++) {
        let at = 4u * k * outputs + known_column;
        let w = mat4x4<f32>(
            vec4<f32>(weights[at]),
            vec4<f32>(weights[at + outputs]),
            vec4<f32>(weights[at + 2u * outputs]),
            vec4<f32>(weights[at + 3u * outputs]),
        );
        add_block(&block, vec4<f32>(x[x0 + k]), w);
    }
    var sums = block_rows(block);
    let b = bias[known_column];
    for (var i = 0u; i < LANES; i++) {
        if row + i < params.rows && column < outputs {
            let at = (row + i) * outputs + column;
            y[at] = rounded(apply_epilogue(sums[i] + b, 4u * at, params.epilogue));
        }
    }
}
