// Blocks of matrix_tile.wgsl, multiplied by the device's matrix units for 8 × 8 values, four parts per block. Plain
// twin: matrix_plain.wgsl.
alias LeftPart = coop_mat8x8<f16, A>;
alias RightPart = coop_mat8x8<f16, B>;
alias SumPart = coop_mat8x8<f32, C>;

// `partRC` is the part in row R and column C of a block.
struct Left {
    part00: LeftPart,
    part01: LeftPart,
    part10: LeftPart,
    part11: LeftPart,
}

struct Right {
    part00: RightPart,
    part01: RightPart,
    part10: RightPart,
    part11: RightPart,
}

struct Sum {
    part00: SumPart,
    part01: SumPart,
    part10: SumPart,
    part11: SumPart,
}

// Loaded from `results`, initially zero: not every platform can construct a zero matrix.
fn zero_sum() -> Sum {
    let zero = coopLoadT<SumPart>(&results[0], RESULT_STRIDE);
    return Sum(zero, zero, zero, zero);
}

// The T variants load row-major memory: a turned left operand, and a right operand that is not turned.
fn left_part(buffer: u32, row: u32, depth: u32) -> LeftPart {
    let at = buffer * BUFFER + operand_place(row, depth, LEFT_TURNED);
    if LEFT_TURNED {
        return coopLoadT<LeftPart>(&left_operand[at], LINE_STRIDE);
    }
    return coopLoad<LeftPart>(&left_operand[at], DEPTH_STRIDE);
}

fn right_part(buffer: u32, depth: u32, column: u32) -> RightPart {
    let at = buffer * BUFFER + operand_place(column, depth, RIGHT_TURNED);
    if RIGHT_TURNED {
        return coopLoad<RightPart>(&right_operand[at], LINE_STRIDE);
    }
    return coopLoadT<RightPart>(&right_operand[at], DEPTH_STRIDE);
}

fn right_block(buffer: u32, column: u32) -> Right {
    let first = BLOCK * column;
    return Right(
        right_part(buffer, 0u, first),
        right_part(buffer, 0u, first + 8u),
        right_part(buffer, 8u, first),
        right_part(buffer, 8u, first + 8u),
    );
}

// `row` and `column` are in blocks.
fn left_block(buffer: u32, row: u32) -> Left {
    let first = BLOCK * row;
    return Left(
        left_part(buffer, first, 0u),
        left_part(buffer, first, 8u),
        left_part(buffer, first + 8u, 0u),
        left_part(buffer, first + 8u, 8u),
    );
}

// sum + left · right
fn with_product(sum: Sum, left: Left, right: Right) -> Sum {
    return Sum(
        coopMultiplyAdd(left.part01, right.part10, coopMultiplyAdd(left.part00, right.part00, sum.part00)),
        coopMultiplyAdd(left.part01, right.part11, coopMultiplyAdd(left.part00, right.part01, sum.part01)),
        coopMultiplyAdd(left.part11, right.part10, coopMultiplyAdd(left.part10, right.part00, sum.part10)),
        coopMultiplyAdd(left.part11, right.part11, coopMultiplyAdd(left.part10, right.part01, sum.part11)),
    );
}

// Stores a block to the rows of `results`; `column` is in blocks.
fn share_block(sum: Sum, column: u32) {
    let first = BLOCK * column;
    coopStoreT(sum.part00, &results[first], RESULT_STRIDE);
    coopStoreT(sum.part01, &results[first + 8u], RESULT_STRIDE);
    coopStoreT(sum.part10, &results[8u * RESULT_STRIDE + first], RESULT_STRIDE);
    coopStoreT(sum.part11, &results[8u * RESULT_STRIDE + first + 8u], RESULT_STRIDE);
}
