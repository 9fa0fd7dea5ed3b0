// dense_forward_sliced: y = epilogue(x·W + b); each workgroup computes a 16 × 16 tile of y, with the sum over the
// inputs divided among its invocations.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup of 256 invocations per tile.
// params: Dense. x: (B, K). weights: (K, N). bias: (N). y: (B, N). Row-major; bias f32, the others Stored.
// kernel "dense_forward_sliced", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "sliced_tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let inputs = params.inputs / 4u;
    let outputs = params.outputs / 4u;
    let row_tiles = (params.rows + TILE - 1u) / TILE;
    let column_tiles = (outputs + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barrier.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let row = first_row + block_row(local);
    let column = min(first_column + block_column(local), outputs - 1u);
    let last_row = params.rows - 1u;
    let x0 = min(row, last_row) * inputs;
    let x1 = min(row + 1u, last_row) * inputs;
    let x2 = min(row + 2u, last_row) * inputs;
    let x3 = min(row + 3u, last_row) * inputs;
    var sums: mat4x4<f32>;
    for (var k = slice_of(local); k < inputs; k += SLICES) {
        let at = 4u * k * outputs + column;
        let w = mat4x4<f32>(
            vec4<f32>(weights[at]),
            vec4<f32>(weights[at + outputs]),
            vec4<f32>(weights[at + 2u * outputs]),
            vec4<f32>(weights[at + 3u * outputs]),
        );
        sums += w * mat4x4<f32>(vec4<f32>(x[x0 + k]), vec4<f32>(x[x1 + k]), vec4<f32>(x[x2 + k]), vec4<f32>(x[x3 + k]));
    }
    keep_rows(local, sums);
    workgroupBarrier();
    let stored_row = first_row + local / TILE_QUADS;
    let stored_column = first_column + local % TILE_QUADS;
    if local < QUADS_OF_SLICE && stored_row < params.rows && stored_column < outputs {
        let at = stored_row * outputs + stored_column;
        y[at] = rounded(apply_epilogue(sum_of_slices(local) + bias[stored_column], 4u * at, params.epilogue));
    }
}
