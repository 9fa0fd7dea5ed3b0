// Column sums of the right operand, for bias gradients. Needs large_tile.wgsl and a right operand that is not turned.

// Sums of column quad `local` of the tile, in the first COLUMN_QUADS invocations. The whole workgroup has to call this
// after all products are added.
fn column_sum(local: u32) -> vec4<f32> {
    // Partial sum over every eighth depth.
    let place = right_share(local);
    right_operand[0][place.depth][place.line] = sum_of_kept;
    workgroupBarrier();
    var sum = vec4<f32>(0.0);
    if local < COLUMN_QUADS {
        for (var k = 0u; k < DEPTH; k++) {
            sum += right_operand[0][k][local];
        }
    }
    return sum;
}
