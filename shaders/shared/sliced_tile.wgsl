// A tile of 16 rows and 16 columns of a product, computed by the 256 invocations of a workgroup: each has 4 × 4 results
// in registers and sums them over a sixteenth of the depth, then the sixteen slices are added in workgroup memory. A
// product of few results and great depth so has sixteen times as many invocations as results of this size.
// Method: the depth of a product divided within a workgroup, as NVIDIA's CUTLASS does between warps ("Efficient GEMM in
// CUDA", section "Sliced-K").
const WORKGROUP_SIZE: u32 = 256u;
const TILE: u32 = 16u;
const TILE_QUADS: u32 = 4u;
const SLICES: u32 = 16u;
const QUADS_OF_SLICE: u32 = 64u;

// Row by row, four columns at a time: the 16 KiB that every WebGPU device has.
var<workgroup> slices: array<array<vec4<f32>, QUADS_OF_SLICE>, SLICES>;

// An invocation sums every sixteenth four of the depth, beginning with this one.
fn slice_of(local: u32) -> u32 {
    return local / 16u;
}

// It has four rows of the tile from this one on ...
fn block_row(local: u32) -> u32 {
    return local % 16u / 4u * 4u;
}

// ... and this four of its columns.
fn block_column(local: u32) -> u32 {
    return local % 4u;
}

// Keeps the results of an invocation, a column of `rows` for each row.
fn keep_rows(local: u32, rows: mat4x4<f32>) {
    let slice = slice_of(local);
    let at = block_row(local) * TILE_QUADS + block_column(local);
    slices[slice][at] = rows[0];
    slices[slice][at + TILE_QUADS] = rows[1];
    slices[slice][at + 2u * TILE_QUADS] = rows[2];
    slices[slice][at + 3u * TILE_QUADS] = rows[3];
}

// One four of the results.
fn sum_of_slices(quad: u32) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var slice = 0u; slice < SLICES; slice++) {
        sum += slices[slice][quad];
    }
    return sum;
}
