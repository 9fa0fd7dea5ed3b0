// A product tile of 128 rows and 64 columns, computed by a workgroup of 128 invocations in steps of depth 8. Each step
// has a slice of both operands in workgroup memory; each invocation accumulates 8 × 8 results in registers.
//
// Each operand has two buffers. The values of the next step are loaded into registers while the products of this step
// are added, and stored to the other buffer afterwards. A step thus has one barrier and does not wait for memory.
// The buffers use 12 of the 16 KiB of workgroup memory that every WebGPU device has.
//
// Needs tile.wgsl, and from the kernel:
// - LEFT_TURNED, RIGHT_TURNED: true if the depth is along columns of an operand, as in x of x·W; false if along rows,
//   as in W;
// - LeftSource, RightSource: the part of an operand that an invocation loads in a step, with `left_source` and
//   `right_source` for the first step, `left_at` and `right_at` to load it, and `advance_left` and `advance_right` for
//   the next step;
// - store: stores four columns of a row of the result, if they are in bounds.
//
// Method: blocking for shared memory and for registers, as in Volkov and Demmel, "Benchmarking GPUs to Tune Dense
// Linear Algebra", SC 2008; two buffers as in NVIDIA's CUTLASS, "Efficient GEMM in CUDA", section "Pipelining".
const WORKGROUP_SIZE: u32 = 128u;
const TILE: u32 = 128u;
const TILE_QUADS: u32 = 32u;
const COLUMN_QUADS: u32 = 16u;
const DEPTH: u32 = 8u;

// A line is a row of the left operand or a column of the right one. A buffer has a row of line quads for each depth.
// An invocation loads four depths of a line of a turned operand and stores them to four rows. The last four rows of a
// turned operand have adjacent groups of four quads swapped, which avoids bank conflicts between concurrent stores.
var<workgroup> left_operand: array<array<array<vec4<f32>, TILE_QUADS>, DEPTH>, 2>;
var<workgroup> right_operand: array<array<array<vec4<f32>, COLUMN_QUADS>, DEPTH>, 2>;

// Index of a line quad in the row of a depth.
fn quad_place(depth: u32, quad: u32, turned: bool) -> u32 {
    return select(quad, quad ^ (depth & 4u), turned);
}

// Four values of an operand that an invocation loads in each step.
struct Share {
    // Turned: a line and a depth quad. Otherwise: a line quad and a depth.
    line: u32,
    depth: u32,
}

// Share `number` of an operand that has `quads` line quads.
fn share(number: u32, quads: u32, turned: bool) -> Share {
    if turned {
        // Two adjacent invocations load the eight contiguous depths of a line.
        return Share(number / 2u, number % 2u);
    }
    return Share(number % quads, number / quads);
}

// Share of the left operand; each invocation loads two, WORKGROUP_SIZE apart.
fn left_share(number: u32) -> Share {
    return share(number, TILE_QUADS, LEFT_TURNED);
}

// Share of the right operand; each invocation loads one.
fn right_share(number: u32) -> Share {
    return share(number, COLUMN_QUADS, RIGHT_TURNED);
}

// A loaded value, or zero if `inside` is false. The value is not used before its store to a buffer, because a use waits
// for the load.
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

// Sum of all values of the right operand that this invocation stored to buffers, for bias gradients. Compilers remove
// it where it is unused.
var<private> sum_of_kept: vec4<f32>;

fn keep(buffer: u32, local: u32, left: Fetched, next_left: Fetched, right: Fetched) {
    keep_left(buffer, left_share(local), value_of(left));
    keep_left(buffer, left_share(local + WORKGROUP_SIZE), value_of(next_left));
    let value = value_of(right);
    keep_right(buffer, right_share(local), value);
    sum_of_kept += value;
}

// First row quad of an invocation; the second is 16 quads later.
fn tile_row(local: u32) -> u32 {
    return local / 8u;
}

// First column quad of an invocation; the second is 8 quads later. A subgroup of 32 covers 4 × 8 quads and a subgroup
// of 64 covers 8 × 8, so its invocations load the same quads as often as possible.
fn tile_column(local: u32) -> u32 {
    return local % 8u;
}

// Indices of an invocation's two line quads: in the rows of the first four depths, and in the last four rows.
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

// The tile as a sum over `steps`, which is uniform across the workgroup, so all invocations reach the barriers.
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
        // Past the end in the last iteration.
        advance_left(&left_from);
        advance_left(&next_left_from);
        advance_right(&right_from);
        let left = left_at(left_from);
        let next_left = left_at(next_left_from);
        let right = right_at(right_from);
        // Unrolled, so that depths are constants.
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

// `first_column` is in quads.
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
