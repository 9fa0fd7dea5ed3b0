// A tile of 128 rows and 64 columns: each of 256 invocations has 8 × 4 results. They need fewer registers than a large
// tile's, so that more workgroups have room on a processor, and a product has twice as many tiles.
// Needs buffered_tile.wgsl.
const COLUMN_QUADS: u32 = 16u;

// Four columns of each row.
struct Tile {
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
fn add_outer_product(tile: ptr<function, Tile>, low: vec4<f32>, high: vec4<f32>, row: vec4<f32>) {
    (*tile).row0 = fma(vec4<f32>(low.x), row, (*tile).row0);
    (*tile).row1 = fma(vec4<f32>(low.y), row, (*tile).row1);
    (*tile).row2 = fma(vec4<f32>(low.z), row, (*tile).row2);
    (*tile).row3 = fma(vec4<f32>(low.w), row, (*tile).row3);
    (*tile).row4 = fma(vec4<f32>(high.x), row, (*tile).row4);
    (*tile).row5 = fma(vec4<f32>(high.y), row, (*tile).row5);
    (*tile).row6 = fma(vec4<f32>(high.z), row, (*tile).row6);
    (*tile).row7 = fma(vec4<f32>(high.w), row, (*tile).row7);
}

fn add_four_depths(tile: ptr<function, Tile>, buffer: u32, depth: u32, row: u32, column: u32) {
    let low = left_quads(buffer, depth, row);
    let high = left_quads(buffer, depth, row + 16u);
    let right = right_quads(buffer, depth, column);
    add_outer_product(tile, low[0], high[0], right[0]);
    add_outer_product(tile, low[1], high[1], right[1]);
    add_outer_product(tile, low[2], high[2], right[2]);
    add_outer_product(tile, low[3], high[3], right[3]);
}

// `first_column` counts fours.
fn store_tile(tile: Tile, local: u32, first_row: u32, first_column: u32) {
    let row = first_row + 4u * tile_row(local);
    let column = first_column + tile_column(local);
    var rows = array<vec4<f32>, 8>(
        tile.row0, tile.row1, tile.row2, tile.row3, tile.row4, tile.row5, tile.row6, tile.row7,
    );
    // Rows 0..3 and 64..67.
    for (var i = 0u; i < 8u; i++) {
        store(row + (i & 3u) + 16u * (i & 4u), column, rows[i]);
    }
}
