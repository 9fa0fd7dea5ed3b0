// Sums of the right operand's columns, for the gradient of a bias. Needs matrix_tile.wgsl, and that the right operand is
// not turned.

// The four columns number `local` of the tile, for the first COLUMN_QUADS invocations. After all products were added;
// the whole workgroup has to call this.
fn column_sum(local: u32) -> vec4<f32> {
    let place = right_share(local);
    keep_result(place.depth, place.line, sum_of_kept);
    workgroupBarrier();
    var sum = vec4<f32>(0.0);
    if local < COLUMN_QUADS {
        for (var k = 0u; k < WORKGROUP_SIZE / COLUMN_QUADS; k++) {
            sum += kept_result(k, local);
        }
    }
    workgroupBarrier();
    return sum;
}
