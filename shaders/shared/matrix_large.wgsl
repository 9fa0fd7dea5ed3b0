// Blocks of a 128 × 128 matrix tile, for subgroups of at most 32 lanes and 32 KiB of workgroup memory: half the loads
// per product of the small tile. Needs matrix_tile.wgsl.
const TILE: u32 = 128u;
const TWO_SHARES: bool = true;
// Padding of eight values puts adjacent lines into different memory banks. The last line has none.
const LINE_STRIDE: u32 = DEPTH + 8u;
const BUFFER: u32 = TILE * LINE_STRIDE - 8u;
const RESULT_STRIDE: u32 = TILE;

// First of the 4 × 2 blocks of the tile that a subgroup computes. The eight subgroups of 32 have one group each. With
// smaller subgroups there are more than eight, and several compute and store the same group.
struct Tile {
    row: u32,
    column: u32,
}

fn blocks_of_subgroup(number: u32, subgroups: u32) -> Tile {
    return Tile(4u * (number / 4u % 2u), 2u * (number % 4u));
}

// A subgroup's sums, named by row and column in its group of blocks.
struct Sums {
    sum00: Sum,
    sum01: Sum,
    sum10: Sum,
    sum11: Sum,
    sum20: Sum,
    sum21: Sum,
    sum30: Sum,
    sum31: Sum,
}

fn zero_sums() -> Sums {
    let zero = zero_sum();
    return Sums(zero, zero, zero, zero, zero, zero, zero, zero);
}

fn add_products(sums: ptr<function, Sums>, tile: Tile, buffer: u32) {
    let right0 = right_block(buffer, tile.column);
    let right1 = right_block(buffer, tile.column + 1u);
    let left0 = left_block(buffer, tile.row);
    (*sums).sum00 = with_product((*sums).sum00, left0, right0);
    (*sums).sum01 = with_product((*sums).sum01, left0, right1);
    let left1 = left_block(buffer, tile.row + 1u);
    (*sums).sum10 = with_product((*sums).sum10, left1, right0);
    (*sums).sum11 = with_product((*sums).sum11, left1, right1);
    let left2 = left_block(buffer, tile.row + 2u);
    (*sums).sum20 = with_product((*sums).sum20, left2, right0);
    (*sums).sum21 = with_product((*sums).sum21, left2, right1);
    let left3 = left_block(buffer, tile.row + 3u);
    (*sums).sum30 = with_product((*sums).sum30, left3, right0);
    (*sums).sum31 = with_product((*sums).sum31, left3, right1);
}

// Stores this subgroup's blocks of block row `row` to `results`.
fn share_blocks(sums: ptr<function, Sums>, tile: Tile, row: u32) {
    if tile.row == row {
        share_block((*sums).sum00, tile.column);
        share_block((*sums).sum01, tile.column + 1u);
    }
    if tile.row + 1u == row {
        share_block((*sums).sum10, tile.column);
        share_block((*sums).sum11, tile.column + 1u);
    }
    if tile.row + 2u == row {
        share_block((*sums).sum20, tile.column);
        share_block((*sums).sum21, tile.column + 1u);
    }
    if tile.row + 3u == row {
        share_block((*sums).sum30, tile.column);
        share_block((*sums).sum31, tile.column + 1u);
    }
}
