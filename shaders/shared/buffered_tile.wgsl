// A tile of 128 rows of a product, computed by the 256 invocations of a workgroup in steps of a depth of 8: both
// operands' share of a step lies in workgroup memory, and each invocation has eight rows of results in registers.
//
// Each operand has two buffers. What the next step needs is on its way from memory into registers while the products of
// this step are added, and goes into the other buffer after them. So a step waits for no memory, and for one barrier.
// The buffers take the 16 KiB that every WebGPU device has.
//
// Needs large_tile.wgsl or tall_tile.wgsl, which have the columns, and of the kernel:
// - LEFT_TURNED, RIGHT_TURNED: whether the depth lies in columns of an operand, as in x of x·W, or in rows, as in W;
// - Source: what this invocation reads in a step, with `left_at` and `right_at` to fetch it, and `advance` for the step
//   that follows;
// - store: stores four columns of a row of the result, if they exist.
//
// Method: blocking for shared memory and for registers, as in Volkov and Demmel, "Benchmarking GPUs to Tune Dense
// Linear Algebra", SC 2008; two buffers as in NVIDIA's CUTLASS, "Efficient GEMM in CUDA", section "Pipelining".
const WORKGROUP_SIZE: u32 = 256u;
const TILE: u32 = 128u;
const TILE_QUADS: u32 = 32u;
const DEPTH: u32 = 8u;
// More lines than there are.
const BEYOND: u32 = 0x40000000u;

// Lines are rows of the left operand and columns of the right one. A buffer has a row for each depth, with 32 fours of
// lines side by side. A turned operand is read in fours of depths, and kept so: depths 4d..4d + 3 of line 4f + i are
// four f of row 4d + i. Whoever multiplies them takes four such rows and turns them back in registers, where that costs
// nothing.
//
// Memory banks: eight neighbouring invocations read one four, or eight that lie side by side. They also write eight
// that lie side by side; of a turned operand twice four, because they read the whole depth of a line together.
var<workgroup> left_operand: array<array<array<vec4<f32>, TILE_QUADS>, DEPTH>, 2>;
var<workgroup> right_operand: array<array<array<vec4<f32>, TILE_QUADS>, DEPTH>, 2>;

// Four depths, from `depth` on, of a four of lines: a column for each depth.
fn left_quads(buffer: u32, depth: u32, quad: u32) -> mat4x4<f32> {
    let quads = mat4x4<f32>(
        left_operand[buffer][depth][quad],
        left_operand[buffer][depth + 1u][quad],
        left_operand[buffer][depth + 2u][quad],
        left_operand[buffer][depth + 3u][quad],
    );
    if LEFT_TURNED {
        return transpose(quads);
    }
    return quads;
}

fn right_quads(buffer: u32, depth: u32, quad: u32) -> mat4x4<f32> {
    let quads = mat4x4<f32>(
        right_operand[buffer][depth][quad],
        right_operand[buffer][depth + 1u][quad],
        right_operand[buffer][depth + 2u][quad],
        right_operand[buffer][depth + 3u][quad],
    );
    if RIGHT_TURNED {
        return transpose(quads);
    }
    return quads;
}

// The four of an operand that an invocation reads in each step.
struct Share {
    // Turned: a line and a four of depths. Otherwise: a four of lines and a depth.
    line: u32,
    depth: u32,
    // Where it lies in a buffer.
    row: u32,
    quad: u32,
}

fn share(local: u32, turned: bool) -> Share {
    if turned {
        // Two neighbours read the eight depths of a line, which lie side by side.
        let depth = local % 2u;
        let quad = local / 2u % TILE_QUADS;
        let line = local / (2u * TILE_QUADS);
        return Share(4u * quad + line, depth, 4u * depth + line, quad);
    }
    let depth = local / TILE_QUADS;
    let quad = local % TILE_QUADS;
    return Share(quad, depth, depth, quad);
}

fn left_share(local: u32) -> Share {
    return share(local, LEFT_TURNED);
}

// As if the tile were as wide as it is high: beyond its columns there are no lines, and zeros are kept. With a branch
// in `keep` instead, compilers put the reading behind that branch, where it is waited for.
fn right_share(local: u32) -> Share {
    var result = share(local, RIGHT_TURNED);
    result.line = select(BEYOND, result.line, result.quad < COLUMN_QUADS);
    return result;
}

// An invocation has the rows of this four of the tile and those of the four sixteen places further on ...
fn tile_row(local: u32) -> u32 {
    return local / 128u * 8u + local / 8u % 8u;
}

// ... and the columns of this one. Subgroups of 32 so have 4 × 8 fours and those of 64 have 8 × 8, so that their
// invocations read the same fours as often as possible.
fn tile_column(local: u32) -> u32 {
    return local / 64u % 2u * 8u + local % 8u;
}

// What is read from memory, or nothing, which counts as zero, where `inside` is false. Nobody looks at the value before
// it is kept, because looking at it is waiting for it.
struct Fetched {
    value: Stored4,
    inside: bool,
}

fn value_of(fetched: Fetched) -> vec4<f32> {
    return select(vec4<f32>(0.0), vec4<f32>(fetched.value), fetched.inside);
}

// What this invocation has kept of the right operand, added up. Only gradients of biases are made from it; elsewhere
// compilers leave it out.
var<private> sum_of_kept: vec4<f32>;

fn keep(buffer: u32, local: u32, left: Fetched, right: Fetched) {
    let left_place = left_share(local);
    left_operand[buffer][left_place.row][left_place.quad] = value_of(left);
    let right_place = right_share(local);
    let value = value_of(right);
    right_operand[buffer][right_place.row][right_place.quad] = value;
    sum_of_kept += value;
}

// The tile as a sum over so many steps, the same number for the whole workgroup, so that barriers are met by all.
fn sum_of_products(first: Source, local: u32, steps: u32) -> Tile {
    let row = tile_row(local);
    let column = tile_column(local);
    var source = first;
    var tile: Tile;
    var buffer = 0u;
    keep(buffer, local, left_at(source), right_at(source));
    workgroupBarrier();
    for (var done = 0u; done < steps; done++) {
        // The last time, this is beyond the end.
        advance(&source);
        let left = left_at(source);
        let right = right_at(source);
        // Written out, so that places in a buffer are constants.
        add_four_depths(&tile, buffer, 0u, row, column);
        add_four_depths(&tile, buffer, 4u, row, column);
        buffer = 1u - buffer;
        keep(buffer, local, left, right);
        workgroupBarrier();
    }
    return tile;
}
