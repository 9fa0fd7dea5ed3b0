// Blocks of matrix_tile.wgsl, multiplied by the device's matrix units for 16 × 16 numbers. The twin is matrix_plain.wgsl.
alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sum = coop_mat16x16<f32, C>;

// From results, which are zero in the beginning: not every platform makes a matrix of zeros.
fn zero_sum() -> Sum {
    return coopLoadT<Sum>(&results[0], RESULT_STRIDE);
}

// With T, rows of the matrix are rows in memory: in a turned left operand, and in a right one that is not turned.
// `row` and `column` count blocks.
fn left_block(buffer: u32, row: u32) -> Left {
    let at = buffer * BUFFER + operand_place(BLOCK * row, 0u, LEFT_TURNED);
    if LEFT_TURNED {
        return coopLoadT<Left>(&left_operand[at], LINE_STRIDE);
    }
    return coopLoad<Left>(&left_operand[at], DEPTH_STRIDE);
}

fn right_block(buffer: u32, column: u32) -> Right {
    let at = buffer * BUFFER + operand_place(BLOCK * column, 0u, RIGHT_TURNED);
    if RIGHT_TURNED {
        return coopLoad<Right>(&right_operand[at], LINE_STRIDE);
    }
    return coopLoadT<Right>(&right_operand[at], DEPTH_STRIDE);
}

// sum + left · right
fn with_product(sum: Sum, left: Left, right: Right) -> Sum {
    return coopMultiplyAdd(left, right, sum);
}

// Puts a block into the rows of results; `column` counts blocks.
fn share_block(sum: Sum, column: u32) {
    coopStoreT(sum, &results[BLOCK * column], RESULT_STRIDE);
}
