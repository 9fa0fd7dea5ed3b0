// A product tile of 64 rows and 64 columns, computed by a workgroup of 64 invocations in steps of depth 16. Each step
// has a slice of both operands in workgroup memory; each invocation accumulates 8 × 8 results in registers.
// Needs tile.wgsl and invocation.wgsl.
// Method: blocking for shared memory and for registers, as in Volkov and Demmel, "Benchmarking GPUs to Tune Dense
// Linear Algebra", SC 2008.
const TILE: u32 = 64u;
const TILE_QUADS: u32 = 16u;
const DEPTH: u32 = 16u;
// Quads between rows of an operand; one quad of padding puts columns into different memory banks.
const PITCH: u32 = 17u;

// Both operands with a row per depth: quads of rows of the left operand, and quads of columns of the right one.
var<workgroup> left_operand: array<vec4<f32>, 272>;
var<workgroup> right_operand: array<vec4<f32>, 272>;

// tile += one step. Invocation `local` has row quads i and i + 8, with i = local / 8, and column quads j and j + 8,
// with j = local % 8.
fn add_step(tile: ptr<function, Tile>, local: u32) {
    let row = local / 8u;
    let column = local % 8u;
    for (var k = 0u; k < DEPTH; k++) {
        let at = k * PITCH;
        add_outer_product(
            tile,
            left_operand[at + row],
            left_operand[at + 8u + row],
            right_operand[at + column],
            right_operand[at + 8u + column],
        );
    }
}

// Loads of an operand with the depth in columns: 16 row quads × 4 depth quads. Each invocation transposes a block of
// 4 × 4 values.
fn turned_rows(local: u32) -> u32 {
    return local / 4u;
}

fn turned_depth(local: u32) -> u32 {
    return local % 4u;
}

fn keep_left_turned(local: u32, values: mat4x4<f32>) {
    let at = 4u * turned_depth(local) * PITCH + turned_rows(local);
    let turned = transpose(values);
    left_operand[at] = turned[0];
    left_operand[at + PITCH] = turned[1];
    left_operand[at + 2u * PITCH] = turned[2];
    left_operand[at + 3u * PITCH] = turned[3];
}

fn keep_right_turned(local: u32, values: mat4x4<f32>) {
    let at = 4u * turned_depth(local) * PITCH + turned_rows(local);
    let turned = transpose(values);
    right_operand[at] = turned[0];
    right_operand[at + PITCH] = turned[1];
    right_operand[at + 2u * PITCH] = turned[2];
    right_operand[at + 3u * PITCH] = turned[3];
}

// Loads of an operand with the depth in rows: 16 column quads × 4 rows, four times.
fn plain_columns(local: u32) -> u32 {
    return local % TILE_QUADS;
}

fn plain_depth(local: u32, time: u32) -> u32 {
    return local / TILE_QUADS + 4u * time;
}

fn keep_left(local: u32, time: u32, value: vec4<f32>) {
    left_operand[plain_depth(local, time) * PITCH + plain_columns(local)] = value;
}

fn keep_right(local: u32, time: u32, value: vec4<f32>) {
    right_operand[plain_depth(local, time) * PITCH + plain_columns(local)] = value;
}
