// A tile of 64 rows and 64 columns of a product, computed by the 256 invocations of a workgroup in steps of a depth of
// 16: both operands' share of a step lies in workgroup memory as f16, and subgroups multiply it in blocks of 16 × 16,
// whose sums are f32. What multiplies a block is in matrix_8x8.wgsl and matrix_16x16.wgsl, the device's matrix units, and
// in matrix_plain.wgsl, their obvious twin. Results pass through workgroup memory, 16 rows at a time, because nobody
// outside of a subgroup knows which lane has which of them.
//
// Each operand has two buffers, and a kernel is asked for the same as in buffered_tile.wgsl: LEFT_TURNED, RIGHT_TURNED,
// Source with `left_at`, `right_at` and `advance`, and `store`.
//
// Method: Markidis et al., "NVIDIA Tensor Core Programmability, Performance & Precision", IPDPSW 2018.
const WORKGROUP_SIZE: u32 = 256u;
const TILE: u32 = 64u;
const TILE_QUADS: u32 = 16u;
const COLUMN_QUADS: u32 = 16u;
const DEPTH: u32 = 16u;
// Rows, columns and depth of a block, and blocks side by side in a tile.
const BLOCK: u32 = 16u;
const BLOCKS: u32 = 4u;

// Lines are rows of the left operand and columns of the right one. A turned operand has its depths side by side, as in
// memory, and LINE_STRIDE from line to line; others have their lines side by side, and DEPTH_STRIDE from depth to depth.
// Eight more than there are lines put neighbouring depths into different memory banks.
const LINE_STRIDE: u32 = 16u;
const DEPTH_STRIDE: u32 = 72u;
const BUFFER: u32 = 1152u;
var<workgroup> left_operand: array<Stored, 2304>;
var<workgroup> right_operand: array<Stored, 2304>;

// Sixteen rows of results, with four numbers more than a row has for the same reason. Zero in the beginning.
const RESULT_STRIDE: u32 = 68u;
var<workgroup> results: array<f32, 1088>;

fn keep_result(row: u32, quad: u32, value: vec4<f32>) {
    let at = row * RESULT_STRIDE + 4u * quad;
    results[at] = value.x;
    results[at + 1u] = value.y;
    results[at + 2u] = value.z;
    results[at + 3u] = value.w;
}

fn kept_result(row: u32, quad: u32) -> vec4<f32> {
    let at = row * RESULT_STRIDE + 4u * quad;
    return vec4<f32>(results[at], results[at + 1u], results[at + 2u], results[at + 3u]);
}

// Where a line and depth of an operand lie in a buffer.
fn operand_place(line: u32, depth: u32, turned: bool) -> u32 {
    return select(depth * DEPTH_STRIDE + line, line * LINE_STRIDE + depth, turned);
}

// The four of an operand that an invocation reads in each step: of a turned one a line and a four of depths, otherwise a
// four of lines and a depth; and where it is kept.
struct Share {
    line: u32,
    depth: u32,
    at: u32,
}

fn share(local: u32, turned: bool) -> Share {
    if turned {
        // Four neighbours read the sixteen depths of a line, which lie side by side.
        let line = local / 4u;
        let depth = local % 4u;
        return Share(line, depth, operand_place(line, 4u * depth, true));
    }
    let line = local % TILE_QUADS;
    let depth = local / TILE_QUADS;
    return Share(line, depth, operand_place(4u * line, depth, false));
}

fn left_share(local: u32) -> Share {
    return share(local, LEFT_TURNED);
}

fn right_share(local: u32) -> Share {
    return share(local, RIGHT_TURNED);
}

// What is read from memory, or nothing, which counts as zero, where `inside` is false.
struct Fetched {
    value: Stored4,
    inside: bool,
}

// What this invocation has kept of the right operand, added up, for gradients of biases.
var<private> sum_of_kept: vec4<f32>;

fn keep(buffer: u32, local: u32, left: Fetched, right: Fetched) {
    let left_value = select(Stored4(), left.value, left.inside);
    let left_place = buffer * BUFFER + left_share(local).at;
    left_operand[left_place] = left_value.x;
    left_operand[left_place + 1u] = left_value.y;
    left_operand[left_place + 2u] = left_value.z;
    left_operand[left_place + 3u] = left_value.w;
    let right_value = select(Stored4(), right.value, right.inside);
    let right_place = buffer * BUFFER + right_share(local).at;
    right_operand[right_place] = right_value.x;
    right_operand[right_place + 1u] = right_value.y;
    right_operand[right_place + 2u] = right_value.z;
    right_operand[right_place + 3u] = right_value.w;
    sum_of_kept += vec4<f32>(right_value);
}

// The blocks of the tile that a subgroup computes: a column of them, of which it has this row and each that is so many
// rows further down. Subgroups of 32 have two blocks each, those of 64 four; where there are more subgroups than blocks,
// the others have rows beyond the tile, and only read and write memory.
struct Tile {
    column: u32,
    row: u32,
    rows_apart: u32,
}

// A subgroup's blocks, in the order of their rows.
var<private> sum0: Sum;
var<private> sum1: Sum;
var<private> sum2: Sum;
var<private> sum3: Sum;

// Subgroups do not know their number here, and WGSL does not say which invocations they have: so each takes the next.
var<workgroup> counted_subgroups: atomic<u32>;

fn blocks_of_subgroup(local: u32) -> Tile {
    var number = 0u;
    if local == subgroupBroadcastFirst(local) {
        number = atomicAdd(&counted_subgroups, 1u);
    }
    number = subgroupBroadcastFirst(number);
    workgroupBarrier();
    return Tile(number % BLOCKS, number / BLOCKS, atomicLoad(&counted_subgroups) / BLOCKS);
}

// Branches are the same for a whole subgroup, which is what its matrices ask for. What works on them is in functions of
// its own: naga looks for it inside of branches, and cannot know that.
fn add_products(tile: Tile, buffer: u32) {
    let right = right_block(buffer, tile.column);
    var row = tile.row;
    if row < BLOCKS {
        add_block(&sum0, buffer, row, right);
    }
    row += tile.rows_apart;
    if row < BLOCKS {
        add_block(&sum1, buffer, row, right);
    }
    row += tile.rows_apart;
    if row < BLOCKS {
        add_block(&sum2, buffer, row, right);
    }
    row += tile.rows_apart;
    if row < BLOCKS {
        add_block(&sum3, buffer, row, right);
    }
}

// The tile as a sum over so many steps, the same number for the whole workgroup, so that barriers are met by all.
fn sum_of_products(first: Source, local: u32, steps: u32) -> Tile {
    let tile = blocks_of_subgroup(local);
    clear(&sum0);
    clear(&sum1);
    clear(&sum2);
    clear(&sum3);
    var source = first;
    var buffer = 0u;
    keep(buffer, local, left_at(source), right_at(source));
    workgroupBarrier();
    for (var done = 0u; done < steps; done++) {
        // The last time, this is beyond the end.
        advance(&source);
        let left = left_at(source);
        let right = right_at(source);
        add_products(tile, buffer);
        buffer = 1u - buffer;
        keep(buffer, local, left, right);
        workgroupBarrier();
    }
    return tile;
}

// Puts those blocks of a row of blocks that this subgroup has where all see them.
fn share_blocks(tile: Tile, row: u32) {
    if tile.row == row {
        share_block(&sum0, tile.column);
    }
    if tile.row + tile.rows_apart == row {
        share_block(&sum1, tile.column);
    }
    if tile.row + 2u * tile.rows_apart == row {
        share_block(&sum2, tile.column);
    }
    if tile.row + 3u * tile.rows_apart == row {
        share_block(&sum3, tile.column);
    }
}

// `first_column` counts fours.
fn store_tile(tile: Tile, local: u32, first_row: u32, first_column: u32) {
    let row = local / COLUMN_QUADS;
    let column = local % COLUMN_QUADS;
    for (var block = 0u; block < BLOCKS; block++) {
        share_blocks(tile, block);
        workgroupBarrier();
        store(first_row + BLOCK * block + row, first_column + column, kept_result(row, column));
        workgroupBarrier();
    }
}
