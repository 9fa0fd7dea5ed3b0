// Blocks of matrix_tile.wgsl, multiplied by loops: the obvious twin of matrix_8x8.wgsl and matrix_16x16.wgsl. Lanes of a
// subgroup take turns with a block's rows.
alias Sum = array<f32, 256>;
// Where the block begins in its operand.
alias Right = u32;

// Which lane this is, and of how many.
var<private> lane: u32;
var<private> lanes: u32;

fn clear(sum: ptr<private, Sum>) {
    lane = subgroupExclusiveAdd(1u);
    lanes = subgroupAdd(1u);
    for (var i = 0u; i < 256u; i++) {
        (*sum)[i] = 0.0;
    }
}

fn right_block(buffer: u32, column: u32) -> Right {
    return buffer * BUFFER + operand_place(BLOCK * column, 0u, RIGHT_TURNED);
}

// sum += A · B, of which `row` counts blocks of the left operand.
fn add_block(sum: ptr<private, Sum>, buffer: u32, row: u32, right: Right) {
    let left = buffer * BUFFER + operand_place(BLOCK * row, 0u, LEFT_TURNED);
    for (var i = lane; i < BLOCK; i += lanes) {
        for (var k = 0u; k < BLOCK; k++) {
            let a = f32(left_operand[left + operand_place(i, k, LEFT_TURNED)]);
            for (var j = 0u; j < BLOCK; j++) {
                let b = f32(right_operand[right + operand_place(j, k, RIGHT_TURNED)]);
                (*sum)[BLOCK * i + j] = fma(a, b, (*sum)[BLOCK * i + j]);
            }
        }
    }
}

// Puts a block into the rows of results; `column` counts blocks.
fn share_block(sum: ptr<private, Sum>, column: u32) {
    for (var i = lane; i < BLOCK; i += lanes) {
        for (var j = 0u; j < BLOCK; j++) {
            results[i * RESULT_STRIDE + BLOCK * column + j] = (*sum)[BLOCK * i + j];
        }
    }
}
