// A product tile of TILE rows and columns, computed by a workgroup of 256 invocations in steps of depth 16. Each step
// has a slice of both operands in workgroup memory as f16; subgroups multiply it in blocks of 16 × 16 with f32 sums.
// matrix_8x8.wgsl and matrix_16x16.wgsl multiply a block with the device's matrix units, and matrix_plain.wgsl, their
// plain twin, with loops. matrix_small.wgsl and matrix_large.wgsl assign blocks to subgroups. Results pass through
// workgroup memory, 16 rows at a time, because only the driver knows the lane of each result.
//
// Each operand has two buffers. A kernel defines the same items as for large_tile.wgsl.
//
// Method: Markidis et al., "NVIDIA Tensor Core Programmability, Performance & Precision", IPDPSW 2018.
const WORKGROUP_SIZE: u32 = 256u;
const TILE_QUADS: u32 = TILE / 4u;
const COLUMN_QUADS: u32 = TILE / 4u;
const DEPTH: u32 = 16u;
// Rows, columns and depth of a block, and blocks per row of the tile.
const BLOCK: u32 = 16u;
const BLOCKS: u32 = TILE / BLOCK;

// A line is a row of the left operand or a column of the right one. A turned operand has contiguous depths, as in
// storage, and LINE_STRIDE between lines; others have contiguous lines and DEPTH_STRIDE between depths. Padding of
// eight values puts adjacent depths into different memory banks.
const DEPTH_STRIDE: u32 = TILE + 8u;
var<workgroup> left_operand: array<Stored, 2u * BUFFER>;
var<workgroup> right_operand: array<Stored, 2u * BUFFER>;

// Sixteen rows of results, initially zero.
var<workgroup> results: array<f32, BLOCK * RESULT_STRIDE>;

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

// Offset of a line and depth of an operand in a buffer.
fn operand_place(line: u32, depth: u32, turned: bool) -> u32 {
    return select(depth * DEPTH_STRIDE + line, line * LINE_STRIDE + depth, turned);
}

// Four values of an operand that an invocation loads in each step, and their offset in a buffer. Turned: a line and a
// depth quad. Otherwise: a line quad and a depth. In a large tile each invocation loads two shares, WORKGROUP_SIZE
// apart.
struct Share {
    line: u32,
    depth: u32,
    at: u32,
}

fn share(number: u32, turned: bool) -> Share {
    if turned {
        // Four adjacent invocations load the sixteen contiguous depths of a line.
        let line = number / 4u;
        let depth = number % 4u;
        return Share(line, depth, operand_place(line, 4u * depth, true));
    }
    let line = number % TILE_QUADS;
    let depth = number / TILE_QUADS;
    return Share(line, depth, operand_place(4u * line, depth, false));
}

fn left_share(number: u32) -> Share {
    return share(number, LEFT_TURNED);
}

fn right_share(number: u32) -> Share {
    return share(number, RIGHT_TURNED);
}

// A loaded value, or zero if `inside` is false.
struct Fetched {
    value: Stored4,
    inside: bool,
}

// Sum of all values of the right operand that this invocation stored to buffers, for bias gradients.
var<private> sum_of_kept: vec4<f32>;

fn keep_left(place: u32, fetched: Fetched) {
    let value = select(Stored4(), fetched.value, fetched.inside);
    left_operand[place] = value.x;
    left_operand[place + 1u] = value.y;
    left_operand[place + 2u] = value.z;
    left_operand[place + 3u] = value.w;
}

fn keep_right(place: u32, fetched: Fetched) {
    let value = select(Stored4(), fetched.value, fetched.inside);
    right_operand[place] = value.x;
    right_operand[place + 1u] = value.y;
    right_operand[place + 2u] = value.z;
    right_operand[place + 3u] = value.w;
    sum_of_kept += vec4<f32>(value);
}

// All values that an invocation loads in a step.
struct FetchedStep {
    left: Fetched,
    right: Fetched,
    next_left: Fetched,
    next_right: Fetched,
}

fn keep(buffer: u32, local: u32, step: FetchedStep) {
    let at = buffer * BUFFER;
    keep_left(at + left_share(local).at, step.left);
    keep_right(at + right_share(local).at, step.right);
    if TWO_SHARES {
        keep_left(at + left_share(local + WORKGROUP_SIZE).at, step.next_left);
        keep_right(at + right_share(local + WORKGROUP_SIZE).at, step.next_right);
    }
}

// Number of subgroups counted so far. Not every WGSL compiler has a built-in subgroup index, so each takes the next
// one. Only the first of four elements is used. Matrix units load from multiples of 16 bytes, and NVIDIA's driver
// places this array before the operands: with a single element, all results were wrong.
var<workgroup> counted_subgroups: array<atomic<u32>, 4>;

// Assigns an index to this subgroup.
fn number_of_subgroup(local: u32) -> u32 {
    var number = 0u;
    if local == subgroupBroadcastFirst(local) {
        number = atomicAdd(&counted_subgroups[0], 1u);
    }
    number = subgroupBroadcastFirst(number);
    workgroupBarrier();
    return number;
}

// A subgroup's part of a tile.
struct Product {
    tile: Tile,
    sums: Sums,
}

// The tile as a sum over `steps`, which is uniform across the workgroup, so all invocations reach the barriers.
fn sum_of_products(local: u32, steps: u32) -> Product {
    let tile = blocks_of_subgroup(number_of_subgroup(local), atomicLoad(&counted_subgroups[0]));
    var sums = zero_sums();
    var left_from = left_source(left_share(local));
    var right_from = right_source(right_share(local));
    var next_left_from = left_source(left_share(local + WORKGROUP_SIZE));
    var next_right_from = right_source(right_share(local + WORKGROUP_SIZE));
    var buffer = 0u;
    var fetched: FetchedStep;
    fetched.left = left_at(left_from);
    fetched.right = right_at(right_from);
    if TWO_SHARES {
        fetched.next_left = left_at(next_left_from);
        fetched.next_right = right_at(next_right_from);
    }
    keep(buffer, local, fetched);
    workgroupBarrier();
    for (var done = 0u; done < steps; done++) {
        // Past the end in the last iteration.
        advance_left(&left_from);
        advance_right(&right_from);
        fetched.left = left_at(left_from);
        fetched.right = right_at(right_from);
        if TWO_SHARES {
            advance_left(&next_left_from);
            advance_right(&next_right_from);
            fetched.next_left = left_at(next_left_from);
            fetched.next_right = right_at(next_right_from);
        }
        add_products(&sums, tile, buffer);
        buffer = 1u - buffer;
        keep(buffer, local, fetched);
        workgroupBarrier();
    }
    return Product(tile, sums);
}

// `first_column` is in quads.
fn store_tile(product: Product, local: u32, first_row: u32, first_column: u32) {
    var sums = product.sums;
    let column = local % COLUMN_QUADS;
    for (var block = 0u; block < BLOCKS; block++) {
        share_blocks(&sums, product.tile, block);
        workgroupBarrier();
        for (var row = local / COLUMN_QUADS; row < BLOCK; row += WORKGROUP_SIZE / COLUMN_QUADS) {
            store(first_row + BLOCK * block + row, first_column + column, kept_result(row, column));
        }
        workgroupBarrier();
    }
}
