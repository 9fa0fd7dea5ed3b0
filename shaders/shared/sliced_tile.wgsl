// A product tile of 16 rows and 16 columns, computed by a workgroup of 256 invocations. Each accumulates 4 × 4 results
// in registers over a sixteenth of the depth; the sixteen slices are added in workgroup memory. A product with few
// results and great depth thus has sixteen times as many invocations as blocks of 4 × 4 results.
// Method: the depth of a product divided within a workgroup, as NVIDIA's CUTLASS does between warps ("Efficient GEMM in
// CUDA", section "Sliced-K").
const WORKGROUP_SIZE: u32 = 256u;
const TILE: u32 = 16u;
const TILE_QUADS: u32 = 4u;
const SLICES: u32 = 16u;
const QUADS_OF_SLICE: u32 = 64u;

// Row-major, in quads of columns: the 16 KiB of workgroup memory that every WebGPU device has.
var<workgroup> slices: array<array<vec4<f32>, QUADS_OF_SLICE>, SLICES>;

// Slice of an invocation: every sixteenth depth quad, from this one on.
fn slice_of(local: u32) -> u32 {
    return local / 16u;
}

// First of an invocation's four rows of the tile.
fn block_row(local: u32) -> u32 {
    return local % 16u / 4u * 4u;
}

// Column quad of an invocation.
fn block_column(local: u32) -> u32 {
    return local % 4u;
}

// Stores the results of an invocation; column j of `rows` is row j.
fn keep_rows(local: u32, rows: mat4x4<f32>) {
    let slice = slice_of(local);
    let at = block_row(local) * TILE_QUADS + block_column(local);
    slices[slice][at] = rows[0];
    slices[slice][at + TILE_QUADS] = rows[1];
    slices[slice][at + 2u * TILE_QUADS] = rows[2];
    slices[slice][at + 3u * TILE_QUADS] = rows[3];
}

// Sum of one quad of results over all slices.
fn sum_of_slices(quad: u32) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var slice = 0u; slice < SLICES; slice++) {
        sum += slices[slice][quad];
    }
    return sum;
}
