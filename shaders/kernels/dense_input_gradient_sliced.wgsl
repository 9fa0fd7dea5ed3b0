// dense_input_gradient_sliced: dx = (dy·Wᵀ) ⊙ slope(x), where slope is the derivative of the epilogue that produced x;
// each workgroup computes a 16 × 16 tile of dx, with the sum over the outputs divided among its invocations.
//
// B rows, K stored inputs, N stored outputs; K and N are multiples of 4. One workgroup of 256 invocations per tile.
// params: Dense. dy: (B, N). weights: (K, N). x: (B, K). dx: (B, K). All row-major Stored.
// kernel "dense_input_gradient_sliced", 256 invocations: "pcg4d", "accurate_tanh", "epilogue", "dense_params",
//     "workgroup_number", "sliced_tile", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let inputs = params.inputs / 4u;
    let outputs = params.outputs / 4u;
    let row_tiles = (params.rows + TILE - 1u) / TILE;
    let column_tiles = (inputs + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barrier.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let row = first_row + block_row(local);
    let last_row = params.rows - 1u;
    let dy0 = min(row, last_row) * outputs;
    let dy1 = min(row + 1u, last_row) * outputs;
    let dy2 = min(row + 2u, last_row) * outputs;
    let dy3 = min(row + 3u, last_row) * outputs;
    // Vec4 indices of the starts of four rows of W, which are columns of dx.
    let w0 = 4u * min(first_column + block_column(local), inputs - 1u) * outputs;
    let w1 = w0 + outputs;
    let w2 = w1 + outputs;
    let w3 = w2 + outputs;
    var sums: mat4x4<f32>;
    for (var n = slice_of(local); n < outputs; n += SLICES) {
        let w = mat4x4<f32>(
            vec4<f32>(weights[w0 + n]),
            vec4<f32>(weights[w1 + n]),
            vec4<f32>(weights[w2 + n]),
            vec4<f32>(weights[w3 + n]),
        );
        sums += transpose(w) * mat4x4<f32>(
            vec4<f32>(dy[dy0 + n]),
            vec4<f32>(dy[dy1 + n]),
            vec4<f32>(dy[dy2 + n]),
            vec4<f32>(dy[dy3 + n]),
        );
    }
    keep_rows(local, sums);
    workgroupBarrier();
    let stored_row = first_row + local / TILE_QUADS;
    let stored_column = first_column + local % TILE_QUADS;
    if local < QUADS_OF_SLICE && stored_row < params.rows && stored_column < inputs {
        store_gradient(stored_row * inputs + stored_column, sum_of_slices(local));
    }
}
