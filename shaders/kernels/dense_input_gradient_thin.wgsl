// dense_input_gradient_thin: dx = (dy·Wᵀ) ⊙ slope(x) for few rows, where slope is the derivative of the epilogue that
// produced x; a tile of 8 rows × 32 columns of dx is held in the registers of eight lanes of a subgroup. W is
// transposed in registers.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup per tile.
// params: Dense. dy: (B, N). weights: (K, N). x: (B, K). dx: (B, K). All row-major Stored.
// kernel "dense_input_gradient_thin", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "eight_lanes", "subgroup_tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

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
    if first_column >= inputs {
        return;
    }
    let column = first_column + lane;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let w0 = 4u * min(column, inputs - 1u) * outputs;
    let dy0 = min(row + lane, params.rows - 1u) * outputs;
    var block: Block;
    for (var n = 0u; n < outputs; n++) {
        let at = w0 + n;
        let w = transpose(mat4x4<f32>(
            vec4<f32>(weights[at]),
            vec4<f32>(weights[at + outputs]),
            vec4<f32>(weights[at + 2u * outputs]),
            vec4<f32>(weights[at + 3u * outputs]),
        ));
        add_block(&block, vec4<f32>(dy[dy0 + n]), w);
    }
    var sums = block_rows(block);
    for (var i = 0u; i < LANES; i++) {
        if row + i < params.rows && column < inputs {
            store_gradient((row + i) * inputs + column, sums[i]);
        }
    }
}
