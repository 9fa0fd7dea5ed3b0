// A product tile in the registers of a workgroup of four or eight invocations, which are lanes of one subgroup. It has
// as many columns as rows: each lane has four columns of four blocks, or of a single one. A line with `$` is repeated
// for each lane, with its number in place of `$`. Needs four_lanes.wgsl or eight_lanes.wgsl.
//
// One operand is loaded once for all lanes: each lane loads a different row, and the lanes share them. This saves time
// on drivers that emulate a GPU on a CPU, with a separate load instruction for each lane.
const WORKGROUP_SIZE: u32 = LANES;
const TILE: u32 = 4u * LANES;
// Operand values that fit in a core's cache, 512 KiB.
const BAND_VALUES: u32 = 131072u;

// Four columns of a row per lane.
struct Block {
    row$: vec4<f32>,
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

// block += A · B: lane i loads four columns of row i of A, and four columns of each row of B. All products of a row are
// added consecutively, so its sum is in registers only once. Row n of the block is row lane_of_row(n, lane) of A · B.
fn add_block(block: ptr<function, Block>, a: vec4<f32>, b: mat4x4<f32>) {
    (*block).row$ = add_products(exchange$(a), b, (*block).row$);
}

// Rows of a block, for a loop that stores them.
fn block_rows(b: Block) -> array<vec4<f32>, LANES> {
    return array<vec4<f32>, LANES>(
        b.row$,
    );
}

// Rows of a tile, block by block, for a loop that stores them: one compiled copy of the store instead of one per row.
fn tile_rows(b0: Block, b1: Block, b2: Block, b3: Block) -> array<vec4<f32>, TILE> {
    return array<vec4<f32>, TILE>(
        b0.row$,
        b1.row$,
        b2.row$,
        b3.row$,
    );
}
