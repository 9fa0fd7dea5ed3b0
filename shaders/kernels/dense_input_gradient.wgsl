// dense_input_gradient: dx = (dy·Wᵀ) ⊙ slope(x), where slope is the derivative of the epilogue that produced x.
// W is loaded without transposition. Both operands are loaded one number at a time: vec4 loads would need four times
// the code in the loop, which does not fit into caches on emulated GPUs, and registers for four columns of both.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4.
// params: Dense. dy: (B, N). weights: (K, N). x: (B, K). dx: (B, K). All row-major Stored.
// kernel "dense_input_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored>;
@group(0) @binding(2) var<storage, read> weights: array<Stored>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

// Stores eight values of a row of dx, except those out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, left: vec4<f32>, right: vec4<f32>) {
    let inputs = params.inputs / 4u;
    if row >= params.rows {
        return;
    }
    let at = row * inputs + column;
    store_gradient(at, left);
    if column + 1u < inputs {
        store_gradient(at + 1u, right);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let inputs = params.inputs / 4u;
    let outputs = params.outputs;
    let column_tiles = (inputs + 1u) / 2u;
    let number = invocation_number(workgroup, workgroups, local);
    let row = number / column_tiles * 8u;
    if row >= params.rows {
        return;
    }
    let column = number % column_tiles * 2u;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let last_row = params.rows - 1u;
    let last_input = params.inputs - 1u;
    let dy0 = min(row, last_row) * outputs;
    let dy1 = min(row + 1u, last_row) * outputs;
    let dy2 = min(row + 2u, last_row) * outputs;
    let dy3 = min(row + 3u, last_row) * outputs;
    let dy4 = min(row + 4u, last_row) * outputs;
    let dy5 = min(row + 5u, last_row) * outputs;
    let dy6 = min(row + 6u, last_row) * outputs;
    let dy7 = min(row + 7u, last_row) * outputs;
    let w0 = min(4u * column, last_input) * outputs;
    let w1 = min(4u * column + 1u, last_input) * outputs;
    let w2 = min(4u * column + 2u, last_input) * outputs;
    let w3 = min(4u * column + 3u, last_input) * outputs;
    let w4 = min(4u * column + 4u, last_input) * outputs;
    let w5 = min(4u * column + 5u, last_input) * outputs;
    let w6 = min(4u * column + 6u, last_input) * outputs;
    let w7 = min(4u * column + 7u, last_input) * outputs;
    var tile: Tile;
    for (var n = 0u; n < outputs; n++) {
        let a0 = f32(dy[dy0 + n]);
        let a1 = f32(dy[dy1 + n]);
        let a2 = f32(dy[dy2 + n]);
        let a3 = f32(dy[dy3 + n]);
        let a4 = f32(dy[dy4 + n]);
        let a5 = f32(dy[dy5 + n]);
        let a6 = f32(dy[dy6 + n]);
        let a7 = f32(dy[dy7 + n]);
        let b0 = f32(weights[w0 + n]);
        let b1 = f32(weights[w1 + n]);
        let b2 = f32(weights[w2 + n]);
        let b3 = f32(weights[w3 + n]);
        let b4 = f32(weights[w4 + n]);
        let b5 = f32(weights[w5 + n]);
        let b6 = f32(weights[w6 + n]);
        let b7 = f32(weights[w7 + n]);
        add_outer_product(
            &tile,
            vec4<f32>(a0, a1, a2, a3),
            vec4<f32>(a4, a5, a6, a7),
            vec4<f32>(b0, b1, b2, b3),
            vec4<f32>(b4, b5, b6, b7),
        );
    }
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        store(row + i, column, quads[2u * i], quads[2u * i + 1u]);
    }
}
