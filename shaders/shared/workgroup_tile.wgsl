// A tile of 64 rows and 64 columns of a product, computed by the 64 invocations of a workgroup in steps of a depth of
// 16: both operands' share of a step lies in workgroup memory, and each invocation has 8 × 8 results in registers.
// Needs tile.wgsl and invocation.wgsl.
// Method: blocking for shared memory and for registers, as in Volkov and Demmel, "Benchmarking GPUs to Tune Dense
// Linear Algebra", SC 2008.
const TILE: u32 = 64u;
const TILE_QUADS: u32 = 16u;
const DEPTH: u32 = 16u;
// Fours from one row of an operand to the next; one more than there are, so that columns lie in different banks.
const PITCH: u32 = 17u;

// Both operands with the depth as rows: the left one's rows, and the right one's columns, are side by side in fours.
var<workgroup> left_operand: array<vec4<f32>, 272>;
var<workgroup> right_operand: array<vec4<f32>, 272>;

// tile += one step: invocation `local` has rows 4i and 32 + 4i of the fours i = local / 8, columns likewise of local %
// 8.
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

// Invocations share the reading of an operand that has its depth in columns as 16 fours of rows × 4 fours of depth,
// and turn what they read ...
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

// ... and that of one that has its depth in rows as 16 fours of columns × 4 rows, four times.
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
