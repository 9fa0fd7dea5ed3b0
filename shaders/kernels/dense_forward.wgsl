// dense_forward: y = epilogue(x·W + b); each invocation computes an 8 × 8 tile of y in registers.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4.
// params: Dense. x: (B, K). weights: (K, N). bias: (N). y: (B, N). Row-major; bias f32, the others Stored.
// kernel "dense_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// Stores eight values of a row of y, except those out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, left: vec4<f32>, right: vec4<f32>) {
    let outputs = params.outputs / 4u;
    if row >= params.rows {
        return;
    }
    let at = row * outputs + column;
    y[at] = rounded(apply_epilogue(left + bias[column], 4u * at, params.epilogue));
    if column + 1u < outputs {
        y[at + 1u] = rounded(apply_epilogue(right + bias[column + 1u], 4u * at + 4u, params.epilogue));
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
    let column_tiles = (outputs + 1u) / 2u;
    let number = invocation_number(workgroup, workgroups, local);
    let row = number / column_tiles * 8u;
    if row >= params.rows {
        return;
    }
    let column = number % column_tiles * 2u;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let next_column = min(column + 1u, outputs - 1u);
    let last_row = params.rows - 1u;
    let x0 = min(row, last_row) * inputs;
    let x1 = min(row + 1u, last_row) * inputs;
    let x2 = min(row + 2u, last_row) * inputs;
    let x3 = min(row + 3u, last_row) * inputs;
    let x4 = min(row + 4u, last_row) * inputs;
    let x5 = min(row + 5u, last_row) * inputs;
    let x6 = min(row + 6u, last_row) * inputs;
    let x7 = min(row + 7u, last_row) * inputs;
    var tile: Tile;
    for (var k = 0u; k < inputs; k++) {
        let a0 = vec4<f32>(x[x0 + k]);
        let a1 = vec4<f32>(x[x1 + k]);
        let a2 = vec4<f32>(x[x2 + k]);
        let a3 = vec4<f32>(x[x3 + k]);
        let a4 = vec4<f32>(x[x4 + k]);
        let a5 = vec4<f32>(x[x5 + k]);
        let a6 = vec4<f32>(x[x6 + k]);
        let a7 = vec4<f32>(x[x7 + k]);
        let k_row = 4u * k * outputs;
        add_four_outer_products(
            &tile,
            transpose(mat4x4<f32>(a0, a1, a2, a3)),
            transpose(mat4x4<f32>(a4, a5, a6, a7)),
            mat4x4<f32>(
                vec4<f32>(weights[k_row + column]),
                vec4<f32>(weights[k_row + outputs + column]),
                vec4<f32>(weights[k_row + 2u * outputs + column]),
                vec4<f32>(weights[k_row + 3u * outputs + column]),
            ),
            mat4x4<f32>(
                vec4<f32>(weights[k_row + next_column]),
                vec4<f32>(weights[k_row + outputs + next_column]),
                vec4<f32>(weights[k_row + 2u * outputs + next_column]),
                vec4<f32>(weights[k_row + 3u * outputs + next_column]),
            ),
        );
    }
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        store(row + i, column, quads[2u * i], quads[2u * i + 1u]);
    }
}
