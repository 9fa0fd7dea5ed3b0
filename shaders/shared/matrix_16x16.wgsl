// Blocks of matrix_tile.wgsl, multiplied by the device's matrix units for 16 × 16 values. Plain twin:
// matrix_plain.wgsl.
alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sum = coop_mat16x16<f32, C>;

// Loaded from `results`, initially zero: not every platform can construct a zero matrix.
fn zero_sum() -> Sum {
    return coopLoadT<Sum>(&results[0], RESULT_STRIDE);
}

// The T variants load row-major memory: a turned left operand, and a right operand that is not turned.
// `row` and `column` are in blocks.
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

// Stores a block to the rows of `results`; `column` is in blocks.
fn share_block(sum: Sum, column: u32) {
    coopStoreT(sum, &results[BLOCK * column], RESULT_STRIDE);
}
