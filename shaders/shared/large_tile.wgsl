// A tile of 128 rows and 64 columns of a product, computed by the 128 invocations of a workgroup in steps of a depth of
// 8: both operands' share of a step is in workgroup memory, and each invocation has 8 × 8 results in registers.
//
// Each operand has two buffers. What the next step needs is on its way from memory into registers while the products of
// this step are added, and goes into the other buffer after them. So a step waits for no memory, and for one barrier.
// The buffers take 12 of the 16 KiB that every WebGPU device has.
//
// Needs tile.wgsl, and of the kernel:
// - LEFT_TURNED, RIGHT_TURNED: whether the depth is along columns of an operand, as in x of x·W, or along rows, as in W;
// - LeftSource, RightSource: the part of an operand that an invocation reads in a step, with `left_source` and
//   `right_source` for the first step, `left_at` and `right_at` to fetch it, and `advance_left` and `advance_right` for
//   the next step;
// - store: stores four columns of a row of the result, if they exist.
//
// Method: blocking for shared memory and for registers, as in Volkov and Demmel, "Benchmarking GPUs to Tune Dense
// Linear Algebra", SC 2008; two buffers as in NVIDIA's CUTLASS, "Efficient GEMM in CUDA", section "Pipelining".
const WORKGROUP_SIZE: u32 = 128u;
const TILE: u32 = 128u;
const TILE_QUADS: u32 = 32u;
const COLUMN_QUADS: u32 = 16u;
const DEPTH: u32 = 8u;

// Lines are rows of the left operand and columns of the right one. A buffer has a row for each depth, with fours of
// lines side by side. What is read of a turned operand, four depths of a line, goes to four rows; the last four of them
// have each two groups of four fours exchanged, because invocations that write at the same time would otherwise meet in
// the same memory banks.
var<workgroup> left_operand: array<array<array<vec4<f32>, TILE_QUADS>, DEPTH>, 2>;
var<workgroup> right_operand: array<array<array<vec4<f32>, COLUMN_QUADS>, DEPTH>, 2>;

// Place of a four of lines of an operand in the row of a depth.
fn quad_place(depth: u32, quad: u32, turned: bool) -> u32 {
    return select(quad, quad ^ (depth & 4u), turned);
}

// Four numbers of an operand that an invocation reads in each step.
struct Share {
    // Turned: a line and a four of depths. Otherwise: a four of lines and a depth.
    line: u32,
    depth: u32,
}

// Share `number` of an operand that has `quads` fours of lines.
fn share(number: u32, quads: u32, turned: bool) -> Share {
    if turned {
        // Two neighbors read the eight depths of a line, which are side by side.
        return Share(number / 2u, number % 2u);
    }
    return Share(number % quads, number / quads);
}

// An invocation reads two shares of the left operand, its own and the one WORKGROUP_SIZE further on ...
fn left_share(number: u32) -> Share {
    return share(number, TILE_QUADS, LEFT_TURNED);
}

// ... and one of the right operand.
fn right_share(number: u32) -> Share {
    return share(number, COLUMN_QUADS, RIGHT_TURNED);
}

// A value read from memory, or zero where `inside` is false. Nothing uses the value before it is kept, because using it is
// waiting for it.
struct Fetched {
    value: Stored4,
    inside: bool,
}

fn value_of(fetched: Fetched) -> vec4<f32> {
    return select(vec4<f32>(0.0), vec4<f32>(fetched.value), fetched.inside);
}

fn keep_left(buffer: u32, place: Share, value: vec4<f32>) {
    if LEFT_TURNED {
        let depth = 4u * place.depth;
        let quad = quad_place(depth, place.line / 4u, true);
        left_operand[buffer][depth][quad][place.line % 4u] = value.x;
        left_operand[buffer][depth + 1u][quad][place.line % 4u] = value.y;
        left_operand[buffer][depth + 2u][quad][place.line % 4u] = value.z;
        left_operand[buffer][depth + 3u][quad][place.line % 4u] = value.w;
    } else {
        left_operand[buffer][place.depth][place.line] = value;
    }
}

fn keep_right(buffer: u32, place: Share, value: vec4<f32>) {
    if RIGHT_TURNED {
        let depth = 4u * place.depth;
        let quad = quad_place(depth, place.line / 4u, true);
        right_operand[buffer][depth][quad][place.line % 4u] = value.x;
        right_operand[buffer][depth + 1u][quad][place.line % 4u] = value.y;
        right_operand[buffer][depth + 2u][quad][place.line % 4u] = value.z;
        right_operand[buffer][depth + 3u][quad][place.line % 4u] = value.w;
    } else {
        right_operand[buffer][place.depth][place.line] = value;
    }
}

// The sum of all that this invocation has kept of the right operand. Only gradients of biases use it; elsewhere compilers
// leave it out.
var<private> sum_of_kept: vec4<f32>;

fn keep(buffer: u32, local: u32, left: Fetched, next_left: Fetched, right: Fetched) {
    keep_left(buffer, left_share(local), value_of(left));
    keep_left(buffer, left_share(local + WORKGROUP_SIZE), value_of(next_left));
    let value = value_of(right);
    keep_right(buffer, right_share(local), value);
    sum_of_kept += value;
}

// An invocation computes the rows of this four, and of the four sixteen places further on ...
fn tile_row(local: u32) -> u32 {
    return local / 8u;
}

// ... and the columns of this one and of the four eight places further on. Subgroups of 32 so have 4 × 8 fours and those
// of 64 have 8 × 8, so that their invocations read the same fours as often as possible.
fn tile_column(local: u32) -> u32 {
    return local % 8u;
}

// Places of an invocation's two fours of lines: in the rows of the first four depths, and in the last four rows.
struct Places {
    low: u32,
    high: u32,
    last_low: u32,
    last_high: u32,
}

fn places(low: u32, high: u32, turned: bool) -> Places {
    return Places(low, high, quad_place(4u, low, turned), quad_place(4u, high, turned));
}

fn add_first_depth(tile: ptr<function, Tile>, buffer: u32, depth: u32, row: Places, column: Places) {
    add_outer_product(
        tile,
        left_operand[buffer][depth][row.low],
        left_operand[buffer][depth][row.high],
        right_operand[buffer][depth][column.low],
        right_operand[buffer][depth][column.high],
    );
}

fn add_last_depth(tile: ptr<function, Tile>, buffer: u32, depth: u32, row: Places, column: Places) {
    add_outer_product(
        tile,
        left_operand[buffer][depth][row.last_low],
        left_operand[buffer][depth][row.last_high],
        right_operand[buffer][depth][column.last_low],
        right_operand[buffer][depth][column.last_high],
    );
}

// The tile as a sum over `steps`, the same number for the whole workgroup, so that barriers are met by all.
fn sum_of_products(local: u32, steps: u32) -> Tile {
    let row = places(tile_row(local), tile_row(local) + 16u, LEFT_TURNED);
    let column = places(tile_column(local), tile_column(local) + 8u, RIGHT_TURNED);
    var left_from = left_source(left_share(local));
    var next_left_from = left_source(left_share(local + WORKGROUP_SIZE));
    var right_from = right_source(right_share(local));
    var tile: Tile;
    var buffer = 0u;
    keep(buffer, local, left_at(left_from), left_at(next_left_from), right_at(right_from));
    workgroupBarrier();
    for (var done = 0u; done < steps; done++) {
        // The last time, this is beyond the end.
        advance_left(&left_from);
        advance_left(&next_left_from);
        advance_right(&right_from);
        let left = left_at(left_from);
        let next_left = left_at(next_left_from);
        let right = right_at(right_from);
        // Written out, so that depths are constants.
        add_first_depth(&tile, buffer, 0u, row, column);
        add_first_depth(&tile, buffer, 1u, row, column);
        add_first_depth(&tile, buffer, 2u, row, column);
        add_first_depth(&tile, buffer, 3u, row, column);
        add_last_depth(&tile, buffer, 4u, row, column);
        add_last_depth(&tile, buffer, 5u, row, column);
        add_last_depth(&tile, buffer, 6u, row, column);
        add_last_depth(&tile, buffer, 7u, row, column);
        buffer = 1u - buffer;
        keep(buffer, local, left, next_left, right);
        workgroupBarrier();
    }
    return tile;
}

// `first_column` counts fours.
fn store_tile(tile: Tile, local: u32, first_row: u32, first_column: u32) {
    let row = first_row + 4u * tile_row(local);
    let column = first_column + tile_column(local);
    // Rows 0..3 and 64..67.
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        let at = row + (i & 3u) + 16u * (i & 4u);
        store(at, column, quads[2u * i]);
        store(at, column + 8u, quads[2u * i + 1u]);
    }
}
