// Eight rows and eight columns of a product in the registers of an invocation.
// Row r has columns 0..3 in `left` and columns 4..7 in `right`.
struct Tile {
    left0: vec4<f32>,
    right0: vec4<f32>,
    left1: vec4<f32>,
    right1: vec4<f32>,
    left2: vec4<f32>,
    right2: vec4<f32>,
    left3: vec4<f32>,
    right3: vec4<f32>,
    left4: vec4<f32>,
    right4: vec4<f32>,
    left5: vec4<f32>,
    right5: vec4<f32>,
    left6: vec4<f32>,
    right6: vec4<f32>,
    left7: vec4<f32>,
    right7: vec4<f32>,
}

// tile += column · row: `low` and `high` hold the column's rows 0..3 and 4..7, `left` and `right` the row's
// columns 0..3 and 4..7.
fn add_outer_product(
    tile: ptr<function, Tile>,
    low: vec4<f32>,
    high: vec4<f32>,
    left: vec4<f32>,
    right: vec4<f32>,
) {
    (*tile).left0 = fma(vec4<f32>(low.x), left, (*tile).left0);
    (*tile).right0 = fma(vec4<f32>(low.x), right, (*tile).right0);
    (*tile).left1 = fma(vec4<f32>(low.y), left, (*tile).left1);
    (*tile).right1 = fma(vec4<f32>(low.y), right, (*tile).right1);
    (*tile).left2 = fma(vec4<f32>(low.z), left, (*tile).left2);
    (*tile).right2 = fma(vec4<f32>(low.z), right, (*tile).right2);
    (*tile).left3 = fma(vec4<f32>(low.w), left, (*tile).left3);
    (*tile).right3 = fma(vec4<f32>(low.w), right, (*tile).right3);
    (*tile).left4 = fma(vec4<f32>(high.x), left, (*tile).left4);
    (*tile).right4 = fma(vec4<f32>(high.x), right, (*tile).right4);
    (*tile).left5 = fma(vec4<f32>(high.y), left, (*tile).left5);
    (*tile).right5 = fma(vec4<f32>(high.y), right, (*tile).right5);
    (*tile).left6 = fma(vec4<f32>(high.z), left, (*tile).left6);
    (*tile).right6 = fma(vec4<f32>(high.z), right, (*tile).right6);
    (*tile).left7 = fma(vec4<f32>(high.w), left, (*tile).left7);
    (*tile).right7 = fma(vec4<f32>(high.w), right, (*tile).right7);
}

// tile += four outer products: column j of `low` and `high` with column j of `left` and `right`.
fn add_four_outer_products(
    tile: ptr<function, Tile>,
    low: mat4x4<f32>,
    high: mat4x4<f32>,
    left: mat4x4<f32>,
    right: mat4x4<f32>,
) {
    // Unrolled, because drivers that keep an indexed matrix in memory lose its registers.
    add_outer_product(tile, low[0], high[0], left[0], right[0]);
    add_outer_product(tile, low[1], high[1], left[1], right[1]);
    add_outer_product(tile, low[2], high[2], left[2], right[2]);
    add_outer_product(tile, low[3], high[3], left[3], right[3]);
}

// Rows of a tile, alternating left and right, for a loop that stores them: one compiled copy of the store instead of 8.
fn tile_quads(tile: Tile) -> array<vec4<f32>, 16> {
    return array<vec4<f32>, 16>(
        tile.left0, tile.right0, tile.left1, tile.right1, tile.left2, tile.right2, tile.left3, tile.right3,
        tile.left4, tile.right4, tile.left5, tile.right5, tile.left6, tile.right6, tile.left7, tile.right7,
    );
}
