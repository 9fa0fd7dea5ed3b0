// Blocks of a 64 × 64 matrix tile, for every subgroup size and the 16 KiB of workgroup memory that every WebGPU device
// has. Needs matrix_tile.wgsl.
const TILE: u32 = 64u;
const TWO_SHARES: bool = false;
const LINE_STRIDE: u32 = 16u;
const BUFFER: u32 = DEPTH * DEPTH_STRIDE;
// Padding of four values puts adjacent rows into different memory banks.
const RESULT_STRIDE: u32 = TILE + 4u;

// Blocks of the tile that a subgroup computes: in a column of blocks, every `rows_apart`th row from `row` on. A
// subgroup of 32 computes two blocks and a subgroup of 64 four. With more subgroups than blocks, the rest have rows out
// of bounds and only load and store.
struct Tile {
    column: u32,
    row: u32,
    rows_apart: u32,
}

// Sums of a subgroup's blocks, in row order.
struct Sums {
    sum0: Sum,
    sum1: Sum,
    sum2: Sum,
    sum3: Sum,
}

fn zero_sums() -> Sums {
    return Sums(zero_sum(), zero_sum(), zero_sum(), zero_sum());
}

fn blocks_of_subgroup(number: u32, subgroups: u32) -> Tile {
    return Tile(number % BLOCKS, number / BLOCKS, subgroups / BLOCKS);
}

// All lanes of a subgroup take the same branches, as matrix units require. Naga cannot prove this and rejects matrix
// operations inside a branch, so they are in functions.
fn add_products(sums: ptr<function, Sums>, tile: Tile, buffer: u32) {
    let right = right_block(buffer, tile.column);
    var row = tile.row;
    if row < BLOCKS {
        (*sums).sum0 = with_product((*sums).sum0, left_block(buffer, row), right);
    }
    row += tile.rows_apart;
    if row < BLOCKS {
        (*sums).sum1 = with_product((*sums).sum1, left_block(buffer, row), right);
    }
    row += tile.rows_apart;
    if row < BLOCKS {
        (*sums).sum2 = with_product((*sums).sum2, left_block(buffer, row), right);
    }
    row += tile.rows_apart;
    if row < BLOCKS {
        (*sums).sum3 = with_product((*sums).sum3, left_block(buffer, row), right);
    }
}

// Stores this subgroup's blocks of block row `row` to `results`.
fn share_blocks(sums: ptr<function, Sums>, tile: Tile, row: u32) {
    if tile.row == row {
        share_block((*sums).sum0, tile.column);
    }
    if tile.row + tile.rows_apart == row {
        share_block((*sums).sum1, tile.column);
    }
    if tile.row + 2u * tile.rows_apart == row {
        share_block((*sums).sum2, tile.column);
    }
    if tile.row + 3u * tile.rows_apart == row {
        share_block((*sums).sum3, tile.column);
    }
}
