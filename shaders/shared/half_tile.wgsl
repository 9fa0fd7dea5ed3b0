// Eight rows and four columns of a product in the registers of an invocation: half a tile of tile.wgsl.
struct HalfTile {
    row0: vec4<f32>,
    row1: vec4<f32>,
    row2: vec4<f32>,
    row3: vec4<f32>,
    row4: vec4<f32>,
    row5: vec4<f32>,
    row6: vec4<f32>,
    row7: vec4<f32>,
}

// tile += column · row: `low` and `high` hold the column's rows 0..3 and 4..7.
fn add_half_product(tile: ptr<function, HalfTile>, low: vec4<f32>, high: vec4<f32>, row: vec4<f32>) {
    (*tile).row0 = fma(vec4<f32>(low.x), row, (*tile).row0);
    (*tile).row1 = fma(vec4<f32>(low.y), row, (*tile).row1);
    (*tile).row2 = fma(vec4<f32>(low.z), row, (*tile).row2);
    (*tile).row3 = fma(vec4<f32>(low.w), row, (*tile).row3);
    (*tile).row4 = fma(vec4<f32>(high.x), row, (*tile).row4);
    (*tile).row5 = fma(vec4<f32>(high.y), row, (*tile).row5);
    (*tile).row6 = fma(vec4<f32>(high.z), row, (*tile).row6);
    (*tile).row7 = fma(vec4<f32>(high.w), row, (*tile).row7);
}

// tile += four outer products: column j of `low` and `high` with column j of `rows`.
fn add_four_half_products(
    tile: ptr<function, HalfTile>,
    low: mat4x4<f32>,
    high: mat4x4<f32>,
    rows: mat4x4<f32>,
) {
    // Unrolled, as in tile.wgsl.
    add_half_product(tile, low[0], high[0], rows[0]);
    add_half_product(tile, low[1], high[1], rows[1]);
    add_half_product(tile, low[2], high[2], rows[2]);
    add_half_product(tile, low[3], high[3], rows[3]);
}
