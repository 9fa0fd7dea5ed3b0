// Sums of the right operand's columns, for the gradient of a bias. Needs large_tile.wgsl, and that the right operand is
// not turned.

// The four columns number `local` of the tile, for the first COLUMN_QUADS invocations. After all products were added;
// the whole workgroup has to call this.
fn column_sum(local: u32) -> vec4<f32> {
    // Of every eighth depth.
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
