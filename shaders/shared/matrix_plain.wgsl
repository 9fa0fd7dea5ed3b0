// Blocks of matrix_tile.wgsl, multiplied with loops: the plain twin of matrix_8x8.wgsl and matrix_16x16.wgsl. The lanes
// of a subgroup, at least four, take the rows of a block in turn.

// Four column quads for each row of a lane.
alias Sum = array<vec4<f32>, 16>;
// Offset of a block in its operand.
alias Left = u32;
alias Right = u32;

fn zero_sum() -> Sum {
    return Sum();
}

fn right_block(buffer: u32, column: u32) -> Right {
    return buffer * BUFFER + operand_place(BLOCK * column, 0u, RIGHT_TURNED);
}

// `row` and `column` are in blocks.
fn left_block(buffer: u32, row: u32) -> Left {
    return buffer * BUFFER + operand_place(BLOCK * row, 0u, LEFT_TURNED);
}

// sum + left · right
fn with_product(sum: Sum, left: Left, right: Right) -> Sum {
    var result = sum;
    let lanes = subgroupAdd(1u);
    var first = 0u;
    for (var i = subgroupExclusiveAdd(1u); i < BLOCK; i += lanes) {
        for (var k = 0u; k < BLOCK; k++) {
            let a = vec4<f32>(f32(left_operand[left + operand_place(i, k, LEFT_TURNED)]));
            for (var quad = 0u; quad < 4u; quad++) {
                let b = vec4<f32>(
                    f32(right_operand[right + operand_place(4u * quad, k, RIGHT_TURNED)]),
                    f32(right_operand[right + operand_place(4u * quad + 1u, k, RIGHT_TURNED)]),
                    f32(right_operand[right + operand_place(4u * quad + 2u, k, RIGHT_TURNED)]),
                    f32(right_operand[right + operand_place(4u * quad + 3u, k, RIGHT_TURNED)]),
                );
                result[first + quad] = fma(a, b, result[first + quad]);
            }
        }
        first += 4u;
    }
    return result;
}

// Stores a block to the rows of `results`; `column` is in blocks.
fn share_block(sum: Sum, column: u32) {
    var block = sum;
    let lanes = subgroupAdd(1u);
    var first = 0u;
    for (var i = subgroupExclusiveAdd(1u); i < BLOCK; i += lanes) {
        for (var quad = 0u; quad < 4u; quad++) {
            keep_result(i, 4u * column + quad, block[first + quad]);
        }
        first += 4u;
    }
}
