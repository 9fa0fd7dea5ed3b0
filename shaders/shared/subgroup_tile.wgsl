// A product tile of 32 rows, or one block of 8, and 32 columns, in the registers of a workgroup of eight invocations,
// which are lanes of one subgroup. Each lane has four columns. Needs subgroups of at least eight lanes.
//
// One operand is loaded once for all lanes: each lane loads a different row, and subgroupBroadcast shares the rows.
// This saves time on drivers that emulate a GPU on a CPU, with a separate load instruction for each lane.
const WORKGROUP_SIZE: u32 = 8u;
const TILE: u32 = 32u;
// Operand values that fit in a core's cache, 512 KiB.
const BAND_VALUES: u32 = 131072u;
// Column quads of a tile, and rows of a block.
const LANES: u32 = 8u;

// Four columns of eight rows: one row per lane.
struct Block {
    row0: vec4<f32>,
    row1: vec4<f32>,
    row2: vec4<f32>,
    row3: vec4<f32>,
    row4: vec4<f32>,
    row5: vec4<f32>,
    row6: vec4<f32>,
    row7: vec4<f32>,
}

// Row and column of a tile, in tiles, of a product of `row_tiles` × `column_tiles` tiles whose sums are `depth` long.
//
// Tiles are ordered in bands of rows; each band covers all columns before the next one begins. The height of a band is
// limited by the core's cache, so the other operand is loaded from memory once per band, not once per row of tiles.
fn tile_place(number: u32, row_tiles: u32, column_tiles: u32, depth: u32) -> vec2<u32> {
    let band = clamp(BAND_VALUES / (TILE * depth), 1u, row_tiles);
    let first = number / (band * column_tiles) * band;
    // The last band may have fewer rows.
    let height = min(band, row_tiles - first);
    let place = number - first * column_tiles;
    return vec2<u32>(first + place % height, place / height);
}

// sum + Σ_j a_j · b_j: one row times four rows.
fn add_products(a: vec4<f32>, b: mat4x4<f32>, sum: vec4<f32>) -> vec4<f32> {
    let first = fma(vec4<f32>(a.y), b[1], fma(vec4<f32>(a.x), b[0], sum));
    return fma(vec4<f32>(a.w), b[3], fma(vec4<f32>(a.z), b[2], first));
}

// block += A · B: lane i holds four columns of row i of A, and four columns of each row of B.
// All products of a row are added consecutively, so its sum is in registers only once.
fn add_block(block: ptr<function, Block>, a: vec4<f32>, b: mat4x4<f32>) {
    (*block).row0 = add_products(subgroupBroadcast(a, 0u), b, (*block).row0);
    (*block).row1 = add_products(subgroupBroadcast(a, 1u), b, (*block).row1);
    (*block).row2 = add_products(subgroupBroadcast(a, 2u), b, (*block).row2);
    (*block).row3 = add_products(subgroupBroadcast(a, 3u), b, (*block).row3);
    (*block).row4 = add_products(subgroupBroadcast(a, 4u), b, (*block).row4);
    (*block).row5 = add_products(subgroupBroadcast(a, 5u), b, (*block).row5);
    (*block).row6 = add_products(subgroupBroadcast(a, 6u), b, (*block).row6);
    (*block).row7 = add_products(subgroupBroadcast(a, 7u), b, (*block).row7);
}

// Rows of a block, for a loop that stores them.
fn block_rows(b: Block) -> array<vec4<f32>, 8> {
    return array<vec4<f32>, 8>(b.row0, b.row1, b.row2, b.row3, b.row4, b.row5, b.row6, b.row7);
}

// Rows of a tile, block by block, for a loop that stores them: one compiled copy of the store instead of 32.
fn tile_rows(b0: Block, b1: Block, b2: Block, b3: Block) -> array<vec4<f32>, 32> {
    return array<vec4<f32>, 32>(
        b0.row0, b0.row1, b0.row2, b0.row3, b0.row4, b0.row5, b0.row6, b0.row7,
        b1.row0, b1.row1, b1.row2, b1.row3, b1.row4, b1.row5, b1.row6, b1.row7,
        b2.row0, b2.row1, b2.row2, b2.row3, b2.row4, b2.row5, b2.row6, b2.row7,
        b3.row0, b3.row1, b3.row2, b3.row3, b3.row4, b3.row5, b3.row6, b3.row7,
    );
}
